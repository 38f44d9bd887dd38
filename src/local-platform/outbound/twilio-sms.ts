import type TwilioSDK from 'twilio';
import {
  type Attempt,
  type Outbound,
  type OutgoingReply,
  SendFailed,
  type Sent,
  unreachable,
} from './outbound.ts';
import { smsAddresses, smsParts } from './sms.ts';
import { twilioFailure } from './twilio-failure.ts';

/** The client of a shop's Twilio account; made at its first message. */
export type ConnectTwilio = () => Promise<TwilioSDK.Twilio>;

export interface TwilioSender {
  readonly connect: ConnectTwilio;
  /** The SID of a template with the variable 1, for WhatsApp replies that come too late. */
  readonly whatsappTemplate?: string;
}

/**
 * A template's body has up to 1,024 characters with its variables, which are one line each
 * (Meta, "Templates"; Twilio, "Using variables with Content Templates").
 */
const VARIABLE_MAX_CHARS = 900;

/** Twilio's clock and ours differ; a message of ours is looked for from that much earlier. */
const CLOCKS_DIFFER_MS = 60_000;
const LOOKED_AT_MAX = 200;

/**
 * Sends replies as text messages through the shops' own Twilio accounts. DELIVERED is what Twilio
 * has taken over.
 *
 * Twilio knows no key by which it would tell that a message was sent before. So where an attempt
 * ended without an answer, or with the program, its message is looked for in the account's list
 * before it is sent again.
 */
export class TwilioSms implements Outbound {
  readonly inOrder = true;
  readonly canRepeat = false;
  readonly #senders: ReadonlyMap<string, TwilioSender>;
  readonly #elsewhere: Outbound;
  // Weak: one of an account that was replaced goes with its last message.
  readonly #clients = new WeakMap<ConnectTwilio, Promise<TwilioSDK.Twilio>>();

  /**
   * @param senders by the shop's id; looked into for each message
   * @param elsewhere for shops without an account
   */
  constructor(senders: ReadonlyMap<string, TwilioSender>, elsewhere: Outbound) {
    this.#senders = senders;
    this.#elsewhere = elsewhere;
  }

  async send(reply: OutgoingReply, attempt: Attempt): Promise<Sent> {
    const sender = this.#senders.get(reply.shop);
    if (sender === undefined) return this.#elsewhere.send(reply, attempt);
    const { from, to } = reply;
    if (from === undefined || to === undefined) throw unreachable('a number');
    const messages = messagesOf(reply, sender);
    const client = await this.#client(sender.connect);
    const ends = smsAddresses(from, to);
    let { unsureSince } = attempt;
    for (const words of messages.slice(attempt.partsSent)) {
      const message = { ...ends, ...words };
      const found =
        unsureSince && (await uncut(find(client, message, unsureSince, attempt), attempt));
      unsureSince = undefined;
      const sid = found ?? (await uncut(create(client, message), attempt));
      await attempt.partSent(sid);
    }
    return {};
  }

  #client(connect: ConnectTwilio): Promise<TwilioSDK.Twilio> {
    const client = this.#clients.get(connect) ?? connect();
    this.#clients.set(connect, client);
    return client;
  }
}

type Words =
  | { readonly body: string }
  | { readonly contentSid: string; readonly contentVariables: string; readonly shown: string };
type Text = Words & { readonly from: string; readonly to: string };

/** @throws {SendFailed} permanent, when a template is needed and the shop has none */
function messagesOf({ content, needsTemplate }: OutgoingReply, sender: TwilioSender): Words[] {
  if (needsTemplate !== true) return smsParts(content).map((body) => ({ body }));
  const { whatsappTemplate: contentSid } = sender;
  if (contentSid === undefined) {
    throw new SendFailed('permanent', 'they wrote more than 24 hours ago', {
      code: 'window_closed',
    });
  }
  const line = content.replace(/\s+/g, ' ');
  return smsParts(line, VARIABLE_MAX_CHARS, 1).map((shown) => ({
    contentSid,
    contentVariables: JSON.stringify({ 1: shown }),
    shown,
  }));
}

function requested(message: Text) {
  const { from, to } = message;
  if ('body' in message) return { from, to, body: message.body };
  const { contentSid, contentVariables } = message;
  return { from, to, contentSid, contentVariables };
}

async function create(client: TwilioSDK.Twilio, message: Text): Promise<string> {
  try {
    const { sid } = await client.messages.create(requested(message));
    return sid;
  } catch (error) {
    throw twilioFailure(error);
  }
}

/** The same text to the same person since then, if Twilio has it and no other reply is it. */
async function find(
  client: TwilioSDK.Twilio,
  message: Text,
  since: Date,
  { isKnown }: Attempt,
): Promise<string | undefined> {
  const { from, to } = message;
  try {
    // Not by `dateSentAfter`: what waits in a queue has no such date yet.
    const listed = await client.messages.list({ from, to, limit: LOOKED_AT_MAX });
    const sent = listed.filter(
      ({ dateCreated }) => dateCreated.getTime() >= since.getTime() - CLOCKS_DIFFER_MS,
    );
    return sent.find(
      ({ body, status, sid }) => isBodyOf(message, body) && !isLost(status) && !isKnown(sid),
    )?.sid;
  } catch (error) {
    const failure = twilioFailure(error);
    // Whether it is out is as open as before.
    throw new SendFailed('unsure', 'Twilio was not asked', { code: failure.code });
  }
}

/** A template's own words stand around what was filled in. */
const isBodyOf = (message: Text, body: string): boolean =>
  'body' in message ? body === message.body : body.includes(message.shown);

const isLost = (status: string) => ['failed', 'undelivered', 'canceled'].includes(status);

/** Ends with the program, not with Twilio's answer. */
async function uncut<T>(call: Promise<T>, { signal }: Attempt): Promise<T> {
  let stop: () => void = () => undefined;
  const cut = new Promise<never>((_resolve, reject) => {
    stop = () => reject(new SendFailed('unsure', 'the program ends'));
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([call, cut]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
