import {
  type Attempt,
  type Outbound,
  type OutgoingReply,
  SendFailed,
  type Sent,
  unreachable,
} from './outbound.ts';
import { smsAddresses, smsParts } from './sms.ts';

type Words =
  | { readonly body: string }
  | { readonly contentSid: string; readonly contentVariables: string; readonly shown: string };
/** A text, or a template with what it is filled in with; `shown` is that alone. */
export type OutgoingText = Words & { readonly from: string; readonly to: string };

/** Sends a shop's texts. Handed in by the gateway, which knows the shop's account. */
export interface TextSender {
  /** Resolves with the provider's id of the message that it has taken over. @throws {SendFailed} */
  readonly sendText: (text: OutgoingText) => Promise<string>;
  /** The ids of messages with these words that the provider has since then. @throws {SendFailed} */
  readonly findSent: (text: OutgoingText, since: Date) => Promise<readonly string[]>;
  /** The SID of a template with the variable 1, for WhatsApp replies that come too late. */
  readonly whatsappTemplate?: string;
}

/**
 * A template's body has up to 1,024 characters with its variables, which are one line each
 * (Meta, "Templates"; Twilio, "Using variables with Content Templates").
 */
const VARIABLE_MAX_CHARS = 900;

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
  readonly #senders: ReadonlyMap<string, TextSender>;
  readonly #elsewhere: Outbound;

  /**
   * @param senders by the shop's id; looked into for each message
   * @param elsewhere for shops without an account
   */
  constructor(senders: ReadonlyMap<string, TextSender>, elsewhere: Outbound) {
    this.#senders = senders;
    this.#elsewhere = elsewhere;
  }

  async send(reply: OutgoingReply, attempt: Attempt): Promise<Sent> {
    const sender = this.#senders.get(reply.shop);
    if (sender === undefined) return this.#elsewhere.send(reply, attempt);
    const { from, to } = reply;
    if (from === undefined || to === undefined) throw unreachable('a number');
    const messages = messagesOf(reply, sender);
    const ends = smsAddresses(from, to);
    let { unsureSince } = attempt;
    for (const words of messages.slice(attempt.partsSent)) {
      const message = { ...ends, ...words };
      const found =
        unsureSince && (await uncut(find(sender, message, unsureSince, attempt), attempt));
      unsureSince = undefined;
      const sid = found ?? (await uncut(sender.sendText(message), attempt));
      await attempt.partSent(sid);
    }
    return {};
  }
}

/** @throws {SendFailed} permanent, when a template is needed and the shop has none */
function messagesOf({ content, needsTemplate }: OutgoingReply, sender: TextSender): Words[] {
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

/** The same text to the same person since then, if the provider has it and no other reply is it. */
async function find(
  sender: TextSender,
  text: OutgoingText,
  since: Date,
  { isKnown }: Attempt,
): Promise<string | undefined> {
  try {
    return (await sender.findSent(text, since)).find((id) => !isKnown(id));
  } catch (error) {
    if (!(error instanceof SendFailed)) throw error;
    // Whether it is out is as open as before.
    throw new SendFailed('unsure', 'Twilio was not asked', { code: error.code });
  }
}

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
