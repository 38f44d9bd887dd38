import type TwilioSDK from 'twilio';
import type { TwilioAccount } from '../../shop.ts';
import { apiCalls, connectTwilio, credentialsOf, TwilioFailed } from './transport.ts';

/** A text, or a template of the account with what it is filled in with. */
export type OutgoingText = {
  /** As Twilio writes them, with a `whatsapp:` or `rcs:` prefix. */
  readonly from: string;
  readonly to: string;
} & (
  | { readonly body: string }
  | { readonly contentSid: string; readonly contentVariables: string; readonly shown: string }
);

/**
 * The text was not handed over. `permanent`: it never will be. `transient`: it may at another time.
 * `unsure`: Twilio may have taken it, and did not say so.
 */
export class TextNotSent extends Error {
  override name = 'TextNotSent';
  readonly kind: 'permanent' | 'transient' | 'unsure';
  /** Twilio's error code, else its status, or the system's code. */
  readonly code: string;
  constructor(kind: TextNotSent['kind'], message: string, code: string) {
    super(message);
    this.kind = kind;
    this.code = code;
  }
}

export interface TextSender {
  /** Resolves with the SID of the message that Twilio has taken over. @throws {TextNotSent} */
  sendText(text: OutgoingText): Promise<string>;
  /**
   * The SIDs of messages with these words between these two that Twilio has, made since then and
   * not failed. @throws {TextNotSent}
   */
  findSent(text: OutgoingText, since: Date): Promise<readonly string[]>;
}

/** Twilio's clock and ours differ; a message of ours is looked for from that much earlier. */
const CLOCKS_DIFFER_MS = 60_000;
const MAX_LISTED = 200;
const TIMEOUT_MS = 30_000;

/** Sends texts through one account; its client is made at the first. */
export function createTextSender(account: TwilioAccount, timeoutMs = TIMEOUT_MS): TextSender {
  let connected: Promise<TwilioSDK.Twilio> | undefined;
  const client = () => (connected ??= connect(account, timeoutMs));
  return {
    sendText: (text) =>
      orNotSent(async () => {
        const { sid } = await (await client()).messages.create(requested(text));
        return sid;
      }),
    findSent: (text, since) =>
      orNotSent(async () => {
        const { from, to } = text;
        // Not by `dateSentAfter`: what waits in a queue has no such date yet.
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

/** A template's own words stand around what was filled in. */
const isBodyOf = (text: OutgoingText, body: string): boolean =>
  'body' in text ? body === text.body : body.includes(text.shown);

const isLost = (status: string) => ['failed', 'undelivered', 'canceled'].includes(status);

/** The request did not leave this machine. */
const NOT_SENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'ERR_TLS_CERT_ALTNAME_INVALID',
]);

/**
 * What a failed call means for the text that it was about.
 *
 * | Twilio | the text |
 * | --- | --- |
 * | 400 and most of 4xx: no such number, not ours, opted out (21610) | is refused for good |
 * | 401, 403 | is tried again: an operator can correct credentials |
 * | 408, 425, 429, 5xx | is tried again |
 * | no connection | is tried again |
 * | no answer | may be out: is looked for, and then tried again |
 */
async function orNotSent<T>(call: () => Promise<T>): Promise<T> {
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
