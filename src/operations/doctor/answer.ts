import { codeOf } from '../../runtime/error-code.ts';

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
