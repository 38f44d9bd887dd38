import { ProviderFailed } from './requests.ts';

/**
 * The text was not sent. `permanent`: it never will be. `transient`: a retry may succeed. `unsure`:
 * the provider may have accepted it without a response.
 */
export class TextNotSent extends Error {
  override name = 'TextNotSent';
  readonly kind: 'permanent' | 'transient' | 'unsure';
  /** The provider's error code, or its HTTP status, or the system's error code. */
  readonly code: string;
  /** What the code means, for people. */
  readonly words: string | undefined;
  constructor(kind: TextNotSent['kind'], message: string, code: string, words?: string) {
    super(message);
    this.kind = kind;
    this.code = code;
    this.words = words;
  }
}

/** Errors of requests that did not leave this machine. */
const NOT_SENT = new Set(
  `ECONNREFUSED ENOTFOUND EAI_AGAIN EHOSTUNREACH ENETUNREACH CERT_HAS_EXPIRED
  DEPTH_ZERO_SELF_SIGNED_CERT SELF_SIGNED_CERT_IN_CHAIN UNABLE_TO_VERIFY_LEAF_SIGNATURE
  ERR_TLS_CERT_ALTNAME_INVALID`.split(/\s+/),
);

/**
 * Converts the failure of a call to the outcome for its text.
 *
 * | the provider | the text |
 * | --- | --- |
 * | 400 and most 4xx: no such number, not ours, opted out | is refused permanently |
 * | 401, 403 | is retried, because an operator can correct the credentials |
 * | 408, 425, 429, 5xx | is retried |
 * | no connection | is retried |
 * | no response | may have been sent: is looked up, then retried |
 *
 * @param provider its name, for operators
 * @param wordsOf what a code of the provider means
 * @throws {TextNotSent}
 */
export async function asTextNotSent<T>(
  provider: string,
  call: () => Promise<T>,
  wordsOf: (code: string) => string | undefined = () => undefined,
): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof ProviderFailed)) throw error;
    const { kind, status, code = String(status) } = error;
    if (status === undefined) {
      const outcome = NOT_SENT.has(code) ? 'transient' : 'unsure';
      throw new TextNotSent(outcome, `${provider} did not answer`, code);
    }
    const outcome = kind === 'never' ? 'permanent' : 'transient';
    throw new TextNotSent(outcome, `${provider} answered ${status}`, code, wordsOf(code));
  }
}
