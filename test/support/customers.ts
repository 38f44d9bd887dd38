import { randomBytes, randomUUID } from 'node:crypto';
import { ChatClient } from './chat-client.ts';
import type { SceneShop, ShopsScene } from './shops-scene.ts';
import { SmtpClient } from './smtp-client.ts';
import { sendSms } from './sms-sender.ts';

/** A message that the gateway has acknowledged. */
export interface Accepted {
  readonly shop: SceneShop;
  readonly remoteId: string;
  /** Who wrote: messages of one lane reach the platform in this order. */
  readonly lane: string;
  readonly content: string;
  /** When the acknowledgement was here, in milliseconds of the clock. */
  readonly at: number;
}

export interface Email {
  /** The whole value of From; UTF-8 makes it a message that needs SMTPUTF8. */
  readonly from: string;
  readonly content: string;
  readonly replyTo?: string;
  readonly cc?: string;
  /** More lines of the header. */
  readonly headers?: readonly string[];
  /** The whole body, when it is not the content alone. */
  readonly body?: string;
}

/** A text to a shop from one of its customers' numbers. @throws when it is not accepted */
export async function sendText(
  scene: ShopsScene<string>,
  shop: SceneShop,
  from: string,
  content: string,
): Promise<Accepted> {
  const MessageSid = `SM${randomBytes(16).toString('hex')}`;
  const parameters = { MessageSid, From: from, To: shop.number, Body: content };
  const { status, body } = await sendSms(scene.httpUrl, parameters);
  if (status !== 200) throw new Error(`the webhook was answered ${status}: ${body}`);
  return { shop, remoteId: MessageSid, lane: `${shop.name} ${from}`, content, at: Date.now() };
}

/** The nth number of a customer. */
export const customerNumber = (n: number): string => `+1415${String(2_000_000 + n)}`;

/** A connection for one email after the other. */
export class MailSession {
  readonly #client: SmtpClient;

  private constructor(client: SmtpClient) {
    this.#client = client;
  }

  static async open(scene: ShopsScene<string>): Promise<MailSession> {
    const client = await SmtpClient.connect(scene.ports.smtp, '127.0.0.1', scene.host);
    await client.reply();
    await client.say('EHLO client.example');
    return new MailSession(client);
  }

  /** @throws with the server's words when it is not accepted */
  async send(shop: SceneShop, email: Email): Promise<Accepted> {
    const id = `<${randomUUID()}@client.example>`;
    const { from, replyTo, cc, content, headers = [], body = content } = email;
    const lines = [
      `From: ${from}`,
      `To: ${shop.inbox}`,
      ...(replyTo === undefined ? [] : [`Reply-To: ${replyTo}`]),
      ...(cc === undefined ? [] : [`Cc: ${cc}`]),
      `Message-ID: ${id}`,
      'Subject: My order',
      ...headers,
      '',
      body,
    ].join('\r\n');
    const isAscii = /^[\0-\x7f]*$/.test(lines);
    await this.#expect(`MAIL FROM:<bounces@client.example>${isAscii ? '' : ' SMTPUTF8'}`, '250');
    await this.#expect(`RCPT TO:<${shop.inbox}>`, '250');
    await this.#expect('DATA', '354');
    this.#client.send(Buffer.from(lines, 'utf8'));
    await this.#expect('\r\n.', '250');
    return { shop, remoteId: id, lane: `${shop.name} ${replyTo ?? from}`, content, at: Date.now() };
  }

  close(): void {
    this.#client.destroy();
  }

  async #expect(line: string, code: string): Promise<void> {
    const reply = await this.#client.say(line);
    if (!reply.startsWith(code)) throw new Error(`${line.trim()} was answered: ${reply}`);
  }
}

/** A visitor of a shop's website, with one tab. */
export class Visitor {
  readonly #shop: SceneShop;
  readonly #client: ChatClient;

  private constructor(shop: SceneShop, client: ChatClient) {
    this.#shop = shop;
    this.#client = client;
  }

  static async open(scene: ShopsScene<string>, shop: SceneShop): Promise<Visitor> {
    const auth = { key: shop.chatKey };
    const client = new ChatClient({ url: scene.httpUrl, auth, reconnect: true });
    await client.open();
    return new Visitor(shop, client);
  }

  /** @throws when it is not acknowledged */
  async send(content: string): Promise<Accepted> {
    const id = randomUUID();
    const answer = await this.#client.send(content, { id });
    if (!answer.ok) throw new Error(`the message was refused: ${answer.error}`);
    const { visitorId } = this.#client.session;
    const lane = `${this.#shop.name} ${visitorId}`;
    return { shop: this.#shop, remoteId: `chat:${visitorId}:${id}`, lane, content, at: Date.now() };
  }

  close(): void {
    this.#client.close();
  }
}
