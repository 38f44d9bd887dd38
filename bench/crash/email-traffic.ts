import { createHash, randomBytes } from 'node:crypto';
import { INBOX } from '../../test/support/gateway-config.ts';
import { SmtpClient } from '../../test/support/smtp-client.ts';
import { markerOf, type Sent, type SentFile } from './ledger.ts';
import { pause, type Traffic, waitToRetry } from './traffic.ts';

const RETRY_MS = 100;
/** Larger than an inline raw form, so the message is a file when it is acknowledged. */
const LARGE = { share: 0.2, minBytes: 60_000, moreBytes: 300_000 };
const MESSAGES_PER_CONNECTION = 10;

export interface EmailTarget {
  readonly host: string;
  readonly port: number;
}

/**
 * A mail server that sends one message after the other: it keeps each until it gets 250, and
 * resends the same bytes after any other answer.
 */
export async function sendEmails(
  target: EmailTarget,
  lane: string,
  traffic: Traffic,
): Promise<void> {
  const outgoing = new Connection(target, traffic.random() < (traffic.encryptedShare ?? 0.3));
  try {
    for (let nth = 0; !traffic.stopped.aborted; nth += 1) {
      const { sent, bytes } = compose(lane, nth, traffic);
      while (!sent.acknowledged) {
        sent.tries += 1;
        sent.acknowledged = await outgoing.deliver(`${lane}@sender.example`, bytes);
        if (!sent.acknowledged) await waitToRetry(traffic, RETRY_MS);
      }
      await pause(traffic);
    }
  } finally {
    outgoing.close();
  }
}

export function compose(
  lane: string,
  nth: number,
  traffic: Pick<Traffic, 'random' | 'ledger' | 'largeShare'>,
): { sent: Sent; bytes: string } {
  const marker = markerOf(lane, nth);
  const id = `<${lane}.${nth}@sender.example>`;
  const large = traffic.random() < (traffic.largeShare ?? LARGE.share);
  const file = large
    ? randomBytes(LARGE.minBytes + Math.floor(traffic.random() * LARGE.moreBytes))
    : undefined;
  const files: SentFile[] = file ? [{ name: 'data.bin', sha256: sha256(file) }] : [];
  const sent = traffic.ledger.add({ channel: 'email', lane, nth, marker, remoteId: id, files });
  const head = [
    `From: Sender ${lane} <${lane}@sender.example>`,
    `To: <${INBOX}>`,
    `Subject: Question ${nth}`,
    `Message-ID: ${id}`,
    `Date: ${new Date().toUTCString()}`,
    'MIME-Version: 1.0',
  ];
  const text = [`Where is my order? ${marker}`, '', 'Thank you'];
  return { sent, bytes: [...head, ...(file ? mixed(text, file) : plain(text)), ''].join('\r\n') };
}

const plain = (text: readonly string[]): string[] => [
  'Content-Type: text/plain; charset=utf-8',
  '',
  ...text,
];

function mixed(text: readonly string[], file: Buffer): string[] {
  return [
    'Content-Type: multipart/mixed; boundary=limit',
    '',
    '--limit',
    ...plain(text),
    '--limit',
    'Content-Type: application/octet-stream; name=data.bin',
    'Content-Disposition: attachment; filename=data.bin',
    'Content-Transfer-Encoding: base64',
    '',
    ...(file.toString('base64').match(/.{1,76}/g) ?? []),
    '--limit--',
  ];
}

/** A session that is opened when needed and used for several messages. */
class Connection {
  readonly #target: EmailTarget;
  readonly #encrypted: boolean;
  #client: SmtpClient | undefined;
  #messages = 0;

  constructor(target: EmailTarget, encrypted: boolean) {
    this.#target = target;
    this.#encrypted = encrypted;
  }

  /** Whether the message was acknowledged. Any error counts as no. */
  async deliver(sender: string, bytes: string): Promise<boolean> {
    try {
      const client = (this.#client ??= await this.#open());
      if (!(await client.say(`MAIL FROM:<${sender}>`)).startsWith('250')) return this.#fail();
      if (!(await client.say(`RCPT TO:<${INBOX}>`)).startsWith('250')) return this.#fail();
      if (!(await client.say('DATA')).startsWith('354')) return this.#fail();
      client.send(bytes);
      const answer = await client.say('.');
      if (!answer.startsWith('250 ')) return this.#fail();
      this.#messages += 1;
      if (this.#messages % MESSAGES_PER_CONNECTION === 0) this.close();
      return true;
    } catch {
      return this.#fail();
    }
  }

  close(): void {
    this.#client?.destroy();
    this.#client = undefined;
  }

  #fail(): false {
    this.close();
    return false;
  }

  async #open(): Promise<SmtpClient> {
    const client = await SmtpClient.connect(this.#target.port, '127.0.0.1', this.#target.host);
    if (!(await client.reply()).startsWith('220')) throw new Error('no greeting');
    await client.say('EHLO sender.example');
    if (!this.#encrypted) return client;
    if (!(await client.say('STARTTLS')).startsWith('220')) throw new Error('no STARTTLS');
    await client.startTls();
    await client.say('EHLO sender.example');
    return client;
  }
}

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
