import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { base64Lines, type EmailKind, makeEmails } from '../load/email-messages.ts';

const MIB = 1024 * 1024;
/** A multiple of a base64 line. */
const PIECE_BYTES = 57 * 4096;

export interface MessageFiles {
  readonly paths: readonly string[];
  /** The total size. */
  readonly bytes: number;
}

/** Writes messages of the other benchmarks, one file each. */
export async function writeMessages(
  folder: string,
  kind: EmailKind,
  count: number,
): Promise<MessageFiles> {
  let bytes = 0;
  const writes = makeEmails(kind, count).map(async ({ chunks }, index) => {
    const path = join(folder, `${kind}-${index}.eml`);
    const message = Buffer.concat(chunks);
    bytes += message.length;
    await writeFile(path, message);
    return path;
  });
  return { paths: await Promise.all(writes), bytes };
}

/** Writes one message with an attachment of random bytes, to be read repeatedly. */
export async function writeLargeMessage(folder: string, megabytes: number): Promise<MessageFiles> {
  const path = join(folder, `large-${megabytes}.eml`);
  const pieces = Math.ceil((megabytes * MIB * 57) / 78 / PIECE_BYTES);
  function* parts() {
    yield (
      'From: Ann <ann@client.example>\r\nTo: support@acme.example\r\nSubject: Photos\r\n' +
        'Message-ID: <large@client.example>\r\nMIME-Version: 1.0\r\n' +
        'Content-Type: multipart/mixed; boundary="=_b"\r\n\r\n' +
        '--=_b\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nSee the file.\r\n' +
        '--=_b\r\nContent-Type: application/octet-stream; name="photos.bin"\r\n' +
        'Content-Disposition: attachment; filename="photos.bin"\r\n' +
        'Content-Transfer-Encoding: base64\r\n\r\n'
    );
    for (let piece = 0; piece < pieces; piece += 1) yield base64Lines(randomBytes(PIECE_BYTES));
    yield '--=_b--\r\n';
  }
  await pipeline(Readable.from(parts()), createWriteStream(path));
  return { paths: [path], bytes: (await stat(path)).size };
}
