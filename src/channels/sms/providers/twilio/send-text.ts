import type TwilioSDK from 'twilio';
import type { TwilioAccount } from '../../shop.ts';
import { apiCalls, connectTwilio, credentialsOf, TwilioFailed } from './transport.ts';

/** A text, or a template of the account with its variables. */
export type OutgoingText = {
  /** As Twilio writes them, with a `whatsapp:` or `rcs:` prefix. */
  readonly from: string;
  readonly to: string;
} & (
  | { readonly body: string }
  | { readonly contentSid: string; readonly contentVariables: string; readonly shown: string }
);

/**
 * The text was not sent. `permanent`: it never will be. `transient`: a retry may succeed. `unsure`:
 * Twilio may have accepted it without a response.
 */
export class TextNotSent extends Error {
  override name = 'TextNotSent';
  readonly kind: 'permanent' | 'transient' | 'unsure';
  /** Twilio's error code, or its HTTP status, or the system's error code. */
  readonly code: string;
  constructor(kind: TextNotSent['kind'], message: string, code: string) {
    super(message);
    this.kind = kind;
    this.code = code;
  }
}

export interface TextSender {
  /** Resolves with the SID of the message that Twilio has accepted. @throws {TextNotSent} */
  sendText(text: OutgoingText): Promise<string>;
  /**
   * The SIDs of messages at Twilio with this text between these two addresses that were created
   * since then and have not failed. @throws {TextNotSent}
   */
  findSent(text: OutgoingText, since: Date): Promise<readonly string[]>;
}

/** Clocks differ, so our messages are looked up from this much earlier. */
const CLOCKS_DIFFER_MS = 60_000;
const MAX_LISTED = 200;
const TIMEOUT_MS = 30_000;

/** Sends texts through one account; the client is created on first use. */
export function createTextSender(account: TwilioAccount, timeoutMs = TIMEOUT_MS): TextSender {
  let connected: Promise<TwilioSDK.Twilio> | undefined;
  const client = () => (connected ??= connect(account, timeoutMs));
  return {
    sendText: (text) =>
      asTextNotSent(async () => {
        const { sid } = await (await client()).messages.create(requested(text));
        return sid;
      }),
    findSent: (text, since) =>
      asTextNotSent(async () => {
        const { from, to } = text;
        // `dateSentAfter` is not used, because queued messages have no such date yet.
        const listed = await (await client()).messages.list({ from, to, limit: MAX_LISTED });
        const earliest = since.getTime() - CLOCKS_DIFFER_MS;
        return listed
          .filter(
            ({ dateCreated, body, status }) =>
              dateCreated.getTime() >= earliest && isBodyOf(text, body) && !isLost(status),
          )
          .map(({ sid }) => sid);
      }),
  };
}

function connect(account: TwilioAccount, timeoutMs: number): Promise<TwilioSDK.Twilio> {
  const [credential] = credentialsOf(account);
  if (credential === undefined) throw new Error('a Twilio account without credentials');
  const { accountSid, apiBaseUrl: baseUrl } = account;
  return connectTwilio(accountSid, credential, apiCalls({ baseUrl, timeoutMs }));
}

function requested(text: OutgoingText) {
  const { from, to } = text;
  if ('body' in text) return { from, to, body: text.body };
  const { contentSid, contentVariables } = text;
  return { from, to, contentSid, contentVariables };
}

/** The template's own text surrounds the variables. */
const isBodyOf = (text: OutgoingText, body: string): boolean =>
  'body' in text ? body === text.body : body.includes(text.shown);

const isLost = (status: string) => ['failed', 'undelivered', 'canceled'].includes(status);

/** Errors of requests that did not leave this machine. */
const NOT_SENT = new Set(
  `ECONNREFUSED ENOTFOUND EAI_AGAIN EHOSTUNREACH ENETUNREACH CERT_HAS_EXPIRED
  DEPTH_ZERO_SELF_SIGNED_CERT SELF_SIGNED_CERT_IN_CHAIN UNABLE_TO_VERIFY_LEAF_SIGNATURE
  ERR_TLS_CERT_ALTNAME_INVALID`.split(/\s+/),
);

/**
 * Converts the failure of a call to the outcome for its text.
 *
 * | Twilio | the text |
 * | --- | --- |
 * | 400 and most 4xx: no such number, not ours, opted out (21610) | is refused permanently |
 * | 401, 403 | is retried, because an operator can correct the credentials |
 * | 408, 425, 429, 5xx | is retried |
 * | no connection | is retried |
 * | no response | may have been sent: is looked up, then retried |
 */
async function asTextNotSent<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof TwilioFailed)) throw error;
    const { kind, status, code = String(status) } = error;
    if (status === undefined) {
      const outcome = NOT_SENT.has(code) ? 'transient' : 'unsure';
      throw new TextNotSent(outcome, 'Twilio did not answer', code);
    }
    const outcome = kind === 'never' ? 'permanent' : 'transient';
    throw new TextNotSent(outcome, `Twilio answered ${status}`, code);
  }
}
