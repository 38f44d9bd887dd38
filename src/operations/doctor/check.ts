import { codeOf } from '../../runtime/error-code.ts';

/** The checks, in the order in which they are reported; `--only` names them. */
export const CHECKS = [
  'public-url',
  'twilio',
  'reach',
  'platform',
  'clock',
  'disk',
  'descriptors',
  'mx',
  'certificate',
  'ports',
  'breaker',
  'data-folder',
  'relay',
  'alerts',
  'backup',
] as const;
export type CheckName = (typeof CHECKS)[number];

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

/** An HTTP answer's head; a failure is a word for it, with the system's or OpenSSL's code if there is one. */
export type Answer =
  | { readonly status: number; readonly headers: Headers; readonly at: number }
  | { readonly failure: string; readonly code?: string };

/**
 * One plain GET: nothing is followed, and of the body nothing is read.
 * @returns with `at`, the moment in the middle of the exchange by this machine's clock
 */
export async function get(url: string, timeoutMs: number, clock: () => number): Promise<Answer> {
  const started = clock();
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { connection: 'close' },
      signal,
    });
    const at = (started + clock()) / 2;
    await response.body?.cancel();
    return { status: response.status, headers: response.headers, at };
  } catch (error) {
    if (signal.aborted) return { failure: 'no answer in time' };
    const code = causeCode(error);
    return code === ''
      ? { failure: 'no answer (network)' }
      : { failure: `no answer (${code})`, code };
  }
}

/** `fetch` says "fetch failed"; why is in the code of the cause. */
const causeCode = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'cause' in error ? codeOf(error.cause) : '';
