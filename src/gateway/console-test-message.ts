import { randomInt } from 'node:crypto';
import type { CompleteConfig } from '../config/complete.ts';
import type { ShopConfig } from '../config/config.ts';
import { NotSent } from '../console/server/upkeep-routes.ts';
import { reachable } from '../runtime/ip-addresses.ts';
import type { Spool } from '../spool/spool.ts';
import type { Channel } from '../domain/channel.ts';
import type { EntryId } from '../domain/ids.ts';
import { firstInbox } from './sample-messages/first-inbox.ts';
import { postWebhook, signedWebhook } from './sample-messages/sms-webhook.ts';
import { Unsent } from './sample-messages/unsent.ts';
import type { Entry } from '../spool/entry.ts';

interface Door {
  readonly host: string;
  readonly port: number;
}

/** The addresses on which the gateway listens. */
export interface Doors {
  readonly smtp?: Door;
  readonly http?: Door;
}

const SENDER = 'Console test <console-test@customer.example>';
const SUBJECT = 'Test from the console';

export interface TestParts {
  readonly config: CompleteConfig;
  readonly doors: Doors;
  readonly arrivals: Arrivals;
  readonly spool: Pick<Spool, 'get'>;
}

/**
 * Sends a test message to a shop as a customer would: over SMTP, by a signed webhook, or as a chat
 * visitor. Resolves with the entry that was created for it.
 * @throws {NotSent}
 */
export async function sendTestMessage(
  { config, doors, arrivals, spool }: TestParts,
  shopName: string,
  channel: Channel,
): Promise<EntryId> {
  const shop = config.shops.find(({ name }) => name === shopName);
  if (shop === undefined) throw new NotSent('There is no such shop');
  const id = await arrivals.entryOf(
    spool,
    () => send(config, doors, shop, channel),
    (entry, sentAs) =>
      entry.shopId === shop.shopId &&
      entry.channel === channel &&
      entry.remoteId.includes(sentAs.replace(/^<|>$/g, '')),
  );
  if (id === undefined)
    throw new NotSent('It was accepted; its entry is among the newest messages');
  return id;
}

/** Resolves with the id that the sender assigned. */
async function send(
  config: CompleteConfig,
  doors: Doors,
  shop: ShopConfig,
  channel: Channel,
): Promise<string> {
  try {
    switch (channel) {
      case 'email':
        return await testEmail(config, doors, shop);
      case 'sms':
        return await testText(config, doors, shop);
      case 'web_chat':
        return await testChat(doors, shop);
    }
  } catch (cause) {
    if (cause instanceof Unsent) throw new NotSent(cause.message.slice(0, 300), { cause });
    throw cause;
  }
}

async function testEmail(
  { smtp }: CompleteConfig,
  doors: Doors,
  { email }: ShopConfig,
): Promise<string> {
  if (email === undefined) throw new NotSent('This shop has no email');
  const { sendEmail } = await import('./sample-messages/email.ts');
  const { messageId } = await sendEmail({
    where: urlOf(doors.smtp, 'smtp'),
    lmtp: smtp.lmtp,
    from: SENDER,
    to: firstInbox(email.addresses),
    subject: SUBJECT,
    text: bodyText(),
  });
  return messageId;
}

async function testText(
  { http }: CompleteConfig,
  doors: Doors,
  { sms }: ShopConfig,
): Promise<string> {
  if (sms === undefined) throw new NotSent('This shop has no SMS');
  const { numbers, twilio } = sms;
  if (twilio === undefined) {
    throw new NotSent('Only webhooks of Twilio can be made up: send a text to the number instead');
  }
  const where = urlOf(doors.http, 'http');
  const webhook = signedWebhook({ numbers, twilio }, http.publicUrl, {
    // From the block of numbers that is reserved for fiction.
    from: `+1202555${String(randomInt(100, 200)).padStart(4, '0')}`,
    body: bodyText(),
  });
  const { status } = await postWebhook(where, webhook);
  if (status !== 200) throw new NotSent(`The webhook responded with HTTP ${status}`);
  return webhook.params['MessageSid'] ?? '';
}

async function testChat(doors: Doors, { chat }: ShopConfig): Promise<string> {
  if (chat === undefined) throw new NotSent('This shop has no chat');
  const { ChatVisitor } = await import('./sample-messages/chat-visitor.ts');
  const visitor = new ChatVisitor(urlOf(doors.http, 'http'), chat);
  try {
    await visitor.session();
    await visitor.introduce({ name: 'Console test' });
    return (await visitor.send(bodyText(), [])).id;
  } finally {
    visitor.leave();
  }
}

/** Different each time, because repeated equal texts would be held as a loop. */
const bodyText = (): string =>
  `This is a test message from the console, sent at ${new Date().toISOString()}.`;

function urlOf(door: Door | undefined, what: string): URL {
  if (door === undefined) throw new NotSent(`${what}.enabled is false: that listener is closed`);
  return new URL(`http://${reachable(door)}`);
}

/** Entries remembered per test message, which is accepted within seconds. */
const MAX_SEEN = 5000;

/** Finds the entry of a message that the console itself has sent. */
export class Arrivals {
  readonly #watches = new Set<EntryId[]>();

  /** Called for every accepted message; does nothing unless a test message is expected. */
  accepted(id: EntryId): void {
    for (const seen of this.#watches) if (seen.length < MAX_SEEN) seen.push(id);
  }

  /**
   * The entry that was accepted while `send` ran and that matches the message; undefined if there
   * is none.
   */
  async entryOf<Sent>(
    spool: Pick<Spool, 'get'>,
    send: () => Promise<Sent>,
    isIt: (entry: Entry, sent: Sent) => boolean,
  ): Promise<EntryId | undefined> {
    const seen: EntryId[] = [];
    this.#watches.add(seen);
    try {
      const sent = await send();
      // It was acknowledged just now, so it is among the newest.
      for (const id of seen.toReversed()) {
        const entry = await spool.get(id);
        if (entry !== undefined && isIt(entry, sent)) return id;
      }
      return undefined;
    } finally {
      this.#watches.delete(seen);
    }
  }
}
