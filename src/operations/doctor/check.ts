import { causeCodeOf } from '../../runtime/error-code.ts';

/** The checks, in the order of the report; the values of `--only`. */
export const CHECKS = [
  'public-url',
  'twilio',
  'telnyx',
  'whatsapp',
  'reach',
  'platform',
  'clock',
  'disk',
  'descriptors',
  'mx',
  'certificate',
  'ports',
  'breaker',
  'chat-origins',
  'data-folder',
  'database',
  'relay',
  'alerts',
  'backup',
] as const;
export type CheckName = (typeof CHECKS)[number];

/** `skipped`: the check could not run or does not apply; `found` has the reason. */
export type CheckStatus = 'ok' | 'warning' | 'failed' | 'skipped';

/** One setting that `--fix` changed. */
export interface Change {
  /** Twilio's name of the setting. */
  readonly setting: string;
  readonly before: string;
  readonly after: string;
}

/**
 * The result of one check, as text for an operator, without secrets and without phone numbers of
 * persons.
 */
export interface CheckResult {
  /** The name of the check: `twilio.webhook`. */
  readonly check: string;
  /** The subject of the check: a shop and its number, or a configuration key. */
  readonly subject: string;
  /** The shops that it is about; absent for the gateway itself. */
  readonly shops?: readonly string[];
  readonly status: CheckStatus;
  readonly expected: string;
  readonly found: string;
  /** What to do; always present for `failed`. */
  readonly todo?: string;
  /** What is to be entered elsewhere: a DNS record as in a zone file, or a URL. */
  readonly copy?: string;
  readonly changed?: readonly Change[];
}

/** Constructors for the results of one check of one subject. */
export function resultsFor(check: string, subject: string, expected: string) {
  const of = (status: CheckStatus, found: string) => ({ check, subject, status, expected, found });
  return {
    ok: (found: string): CheckResult => of('ok', found),
    skipped: (found: string): CheckResult => of('skipped', found),
    warning: (found: string, todo: string): CheckResult => ({ ...of('warning', found), todo }),
    failed: (found: string, todo: string): CheckResult => ({ ...of('failed', found), todo }),
  };
}

/** The results of checks of one or more shops. */
export const ofShops = (
  shops: readonly string[],
  results: readonly CheckResult[],
): readonly CheckResult[] => results.map((result) => ({ ...result, shops }));

/**
 * The head of an HTTP response, or why there is none, with the error code of the system or of
 * OpenSSL.
 */
export type Answer =
  | { readonly status: number; readonly headers: Headers; readonly at: number }
  | { readonly failure: string; readonly code?: string };

/**
 * Sends one GET request, without following redirects or reading the body.
 * @returns with `at`, the middle of the exchange by this machine's clock
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
    if (signal.aborted) return { failure: 'timeout' };
    const code = causeCodeOf(error);
    return code === ''
      ? { failure: 'no response (network)' }
      : { failure: `no response (${code})`, code };
  }
}
