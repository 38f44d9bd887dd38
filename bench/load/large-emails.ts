import { createCipheriv, createHash } from 'node:crypto';
import { BENCH_DOMAIN } from '../support/smtp-source.ts';
import { base64Lines } from './email-messages.ts';
import { SmtpSession } from './smtp-session.ts';

/** An acknowledged message with the hashes of its attachments. */
export interface SentEmail {
  readonly messageId: string;
  /** SHA-256 of each attachment's bytes. */
  readonly attachments: readonly string[];
}

/** A multiple of 57 bytes, one line of base64, so that pieces can be encoded separately. */
const PIECE_BYTES = 57 * 1000;
const ATTACHMENTS = 2;
/** The growth factor of base64 with line ends. */
const GROWTH = 78 / 57;

/**
 * Sends large messages with two attachments of random bytes, all at once. They are generated while
 * they are sent, so that this process needs little memory.
 */
export function start() {
  return Promise.resolve({
    run: (port: number, count: number, bytes: number): Promise<SentEmail[]> =>
      Promise.all(Array.from({ length: count }, (_, index) => sendOne(port, index, bytes))),
  });
}

async function sendOne(port: number, index: number, bytes: number): Promise<SentEmail> {
  const pieces = Math.round(bytes / GROWTH / ATTACHMENTS / PIECE_BYTES);
  const messageId = `<large.${index}@client.example>`;
  const attachments: string[] = [];
  const session = await SmtpSession.open(port);
  await session.send(
    `customer${index}@client.example`,
    content(index, messageId, pieces, attachments),
  );
  session.close();
  return { messageId, attachments };
}

function* content(
  index: number,
  messageId: string,
  pieces: number,
  hashes: string[],
): Generator<Buffer> {
  yield Buffer.from(
    `From: Customer <customer${index}@client.example>\r\nTo: support@${BENCH_DOMAIN}\r\n` +
      `Subject: Two files\r\nMessage-ID: ${messageId}\r\nMIME-Version: 1.0\r\n` +
      'Content-Type: multipart/mixed; boundary="=_b"\r\n\r\n' +
      `--=_b\r\nContent-Type: text/plain\r\n\r\nThe files of case ${index}.\r\n`,
  );
  for (let part = 0; part < ATTACHMENTS; part += 1) {
    yield Buffer.from(
      '--=_b\r\nContent-Type: application/octet-stream\r\nContent-Transfer-Encoding: base64\r\n' +
        `Content-Disposition: attachment; filename="file-${part}.bin"\r\n\r\n`,
    );
    const noise = new Noise(index * ATTACHMENTS + part);
    const hash = createHash('sha256');
    for (let piece = 0; piece < pieces; piece += 1) {
      const bytes = noise.next(PIECE_BYTES);
      hash.update(bytes);
      yield Buffer.from(base64Lines(bytes));
    }
    hashes.push(hash.digest('hex'));
  }
  yield Buffer.from('--=_b--\r\n');
}

/** Pseudorandom bytes, the same in each run. */
class Noise {
  readonly #cipher;

  constructor(seed: number) {
    const counter = Buffer.alloc(16);
    counter.writeUInt32BE(seed, 0);
    this.#cipher = createCipheriv('aes-128-ctr', Buffer.alloc(16, 'sluice'), counter);
  }

  next(bytes: number): Buffer {
    return this.#cipher.update(Buffer.alloc(bytes));
  }
}
