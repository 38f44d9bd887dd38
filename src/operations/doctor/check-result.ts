/** `skipped`: could not be looked at, or there was nothing to look at; `found` says why. */
export type CheckStatus = 'ok' | 'warning' | 'failed' | 'skipped';

/** One setting that `--fix` changed. */
export interface Change {
  /** Twilio's name of the setting. */
  readonly setting: string;
  readonly before: string;
  readonly after: string;
}

/** What one check came to, in words for an operator. No secret and no person's number in it. */
export interface CheckResult {
  /** Which check: `twilio.webhook`. */
  readonly check: string;
  /** What was looked at: a shop and its number, a key of the configuration. */
  readonly subject: string;
  readonly status: CheckStatus;
  readonly expected: string;
  readonly found: string;
  /** What to do about it; always there when the check failed. */
  readonly todo?: string;
  readonly changed?: readonly Change[];
}

/** The outcomes of one check of one subject. */
export function verdicts(check: string, subject: string, expected: string) {
  const of = (status: CheckStatus, found: string) => ({ check, subject, status, expected, found });
  return {
    ok: (found: string): CheckResult => of('ok', found),
    skipped: (found: string): CheckResult => of('skipped', found),
    warning: (found: string, todo: string): CheckResult => ({ ...of('warning', found), todo }),
    failed: (found: string, todo: string): CheckResult => ({ ...of('failed', found), todo }),
  };
}
