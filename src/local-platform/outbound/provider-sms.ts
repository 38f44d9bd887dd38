import { unlessAborted } from '../../runtime/unless-aborted.ts';
import {
  type Attempt,
  type Outbound,
  type OutgoingReply,
  SendFailed,
  type Sent,
  unreachable,
} from './outbound.ts';
import type { PublicFile } from './reply-files.ts';
import { smsAddresses, smsParts } from './sms.ts';

type Words =
  | { readonly body: string; readonly media?: readonly string[] }
  | { readonly template: string; readonly shown: string };
/** A text with links to its files; or a template by its name, with the value of its variable 1. */
export type OutgoingText = Words & { readonly from: string; readonly to: string };

/** Sends a shop's texts. The gateway provides it, because it has the shop's account. */
export interface TextSender {
  /** Resolves with the provider's id of the accepted message. @throws {SendFailed} */
  readonly sendText: (text: OutgoingText) => Promise<string>;
  /** The provider's ids of messages with this text since then. @throws {SendFailed} */
  readonly findSent: (text: OutgoingText, since: Date) => Promise<readonly string[]>;
  /** The provider's limit for one message with this text. */
  readonly maxChars: (text: string) => number;
  /** How many files one message can carry. Default: none, so that the text has links. */
  readonly mediaPerMessage?: (ends: { readonly from: string; readonly to: string }) => number;
  /** A template with the variable 1, for WhatsApp replies after the service window. */
  readonly whatsappTemplate?: string;
}

/**
 * A template with its variables has at most 1,024 characters, and each variable is one line (Meta,
 * "Templates"; Twilio, "Using variables with Content Templates").
 */
const VARIABLE_MAX_CHARS = 900;

/**
 * Sends replies as text messages through the shops' accounts at their providers. A reply is DELIVERED
 * once the provider has accepted it.
 *
 * The providers have no idempotency keys. After an attempt without an answer, or a crash, the message
 * is therefore looked up in the account's list before it is sent again.
 */
export class ProviderSms implements Outbound {
  readonly inOrder = true;
  readonly canRepeat = false;
  readonly #senders: ReadonlyMap<string, TextSender>;
  readonly #fallback: Outbound;

  /**
   * @param senders by shop id; read for each message, because a reload changes the map
   * @param fallback for shops without an account
   */
  constructor(senders: ReadonlyMap<string, TextSender>, fallback: Outbound) {
    this.#senders = senders;
    this.#fallback = fallback;
  }

  async send(reply: OutgoingReply, attempt: Attempt): Promise<Sent> {
    const sender = this.#senders.get(reply.shop);
    if (sender === undefined) return this.#fallback.send(reply, attempt);
    const { from, to } = reply;
    if (from === undefined || to === undefined) throw unreachable('a number');
    const ends = smsAddresses(from, to);
    // A reply goes on as it began: a template has one part only.
    const needsTemplate = reply.needsTemplate === true && attempt.partsSent === 0;
    const messages = messagesOf(
      { ...reply, needsTemplate },
      sender,
      sender.mediaPerMessage?.(ends) ?? 0,
    );
    let { unsureSince } = attempt;
    for (const words of messages.slice(attempt.partsSent)) {
      const message = { ...ends, ...words };
      const found =
        unsureSince && (await untilAborted(find(sender, message, unsureSince, attempt), attempt));
      unsureSince = undefined;
      const sid = found ?? (await untilAborted(sender.sendText(message), attempt));
      await attempt.partSent(sid);
    }
    return {};
  }
}

/** @throws {SendFailed} permanent, when a template is needed and the shop has none */
function messagesOf(
  { content, needsTemplate = false, links = [] }: OutgoingReply,
  sender: TextSender,
  mediaPerMessage: number,
): Words[] {
  if (!needsTemplate) {
    const bodies = smsParts(content, sender.maxChars(content));
    return withFiles(bodies, links, mediaPerMessage);
  }
  const { whatsappTemplate: template } = sender;
  // A template carries no files either.
  if (template === undefined || links.length > 0) {
    throw new SendFailed('permanent', 'the customer wrote more than 24 hours ago', {
      code: 'window_closed',
    });
  }
  const line = content.replace(/\s+/g, ' ');
  return smsParts(line, VARIABLE_MAX_CHARS, 1).map((shown) => ({ template, shown }));
}

/** The first text carries as many files as one can, and further messages the others; or their links. */
function withFiles(
  bodies: readonly string[],
  files: readonly PublicFile[],
  perMessage: number,
): Words[] {
  if (files.length === 0) return bodies.map((body) => ({ body }));
  if (perMessage === 0) {
    const lines = files.map(({ name, url }) => `${name}: ${url}`);
    return [...bodies, ...lines].map((body) => ({ body }));
  }
  const urls = files.map(({ url }) => url);
  const count = Math.max(bodies.length, Math.ceil(urls.length / perMessage));
  return Array.from({ length: count }, (_, n) => {
    const media = urls.slice(n * perMessage, (n + 1) * perMessage);
    return { body: bodies[n] ?? '', ...(media.length > 0 && { media }) };
  });
}

/** The provider's id of this text, if it was sent since then and is not another reply's. */
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
    // It is still unknown whether the text was sent.
    throw new SendFailed('unsure', 'the sent messages could not be looked up', {
      code: error.code,
    });
  }
}

/** Rejects when the program ends, without waiting for the provider's answer. */
async function untilAborted<T>(call: Promise<T>, { signal }: Attempt): Promise<T> {
  try {
    return await unlessAborted(call, signal);
  } catch (error) {
    if (error === signal.reason) throw new SendFailed('unsure', 'the program ends');
    throw error;
  }
}
