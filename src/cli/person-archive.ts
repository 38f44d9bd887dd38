import { randomUUID } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { chatRaw } from '../channels/chat/stored.ts';
import { readAttachments, safeFileName } from '../channels/email/normalize/parts/attached-files.ts';
import { removeScratch, ScratchFolder } from '../channels/email/normalize/parts/collect-part.ts';
import type { AttachedFile } from '../channels/email/normalize/job.ts';
import type { BlobName } from '../domain/ids.ts';
import type { RawForm } from '../spool/entry.ts';
import type { TracedEntry, TracedUpload, TracedVisitor } from '../spool/erasure.ts';
import type { LaneKey } from '../spool/spool.ts';
import { minuteInWords } from '../runtime/amounts.ts';
import { type FoundPerson, withRemotePlatform } from './find-person.ts';
import type { OpenSpool } from './open-spool.ts';
import { iso } from './queue-entry.ts';
import { gather, json, rawParts } from './show-entry.ts';
import type { Archive } from './zip-file.ts';

const README = (writtenAt: string, remote: readonly string[]): string =>
  `This archive contains what this support system stored about one person on ${writtenAt}.

entries/        Each message of the person that the system received: an email, a text message or a
                chat message. The folder's name begins with the day on which it arrived.
  entry.json    When it arrived, from whom, what became of it step by step (timeline), and the
                request that was submitted to the support desk (record).
  message.eml   An email exactly as it arrived. Any mail program opens it.
  message.json  A text message as the telephone provider sent it, a chat message, or a notice.
                Messages that are older than the system keeps them have none.
  files/        The files of the message. Pictures of a text message are in platform/files.
chat/           Each visitor of the chat who is the person.
  visitor.json  Name and address as the person or the shop gave them.
  lines.json    The whole chat, the answers included.
  files/        Files that were uploaded and never sent.
conversations.json  Which conversation of the support desk continues which thread.
names.json      Numbers and user ids of the person on WhatsApp, and when they were first and last seen.
opt-outs.json   Numbers that no text messages are sent to, as the person asked.
platform/       The built-in support desk.
  contacts.json       The person's contacts.
  conversations.json  Their conversations, with tickets.
  messages.json       Their messages, the answers, and notes of the staff about them.
  events.json         The contacts' timelines.
  left-addresses.json Addresses that were left in the chat for replies by email.
  texts.json          Text messages that were sent to them.
  emails/             Emails that were sent to them.
  files/              Files of the messages; the folder is the file's id in messages.json.

Files and folders without content are left out. Files whose names end in .json open in any text
editor or browser. Times without a zone are in UTC; large numbers named "at" are milliseconds since
1970-01-01.

Not in this archive: messages of other people that mention the person; data in backups; ${
    remote.length === 0
      ? 'and data that other\nsystems have received.'
      : `and the data\nof the separate support desk of ${remote.join(', ')}.`
  }
`;

/** Lines of a chat that are read at once. */
const LINES_AT_ONCE = 500;

export interface ArchiveContents {
  readonly files: number;
  /** Paths in the archive of files that are not stored any more. */
  readonly missing: readonly string[];
}

/**
 * Writes what was found about a person into an archive. Entries that are swept meanwhile are left
 * out.
 * @throws the errors of reading the stores and of the archive
 * @throws the signal's reason, between two files
 */
export async function writePerson(
  { open, eraser, found }: FoundPerson,
  archive: Archive,
  signal: AbortSignal,
): Promise<ArchiveContents> {
  const writer = new PersonArchive(open, archive, signal);
  const { shopName } = open;
  const { entries, visitors, conversations, optOuts } = found.traces;
  const readme = README(minuteInWords(Date.now()), withRemotePlatform(open.config));
  await writer.text('README.txt', readme);
  for (const entry of entries) await writer.entry(entry);
  for (const visitor of visitors) await writer.visitor(visitor);
  await writer.records('conversations.json', conversationsOf(open, conversations));
  await writer.records(
    'names.json',
    found.names.map(({ shop, ...name }) => ({ shop: shopName(shop), ...name })),
  );
  await writer.records(
    'opt-outs.json',
    optOuts.map(({ shopId, ...lane }) => ({ shop: shopName(shopId), ...lane })),
  );
  for (const part of eraser.platformContents(found)) {
    if ('records' in part) await writer.records(`platform/${part.name}.json`, part.records);
    else {
      const path = `platform/${part.name}/${fileName(part.original)}`;
      await writer.stored(path, existsSync(part.file), () => createReadStream(part.file));
    }
  }
  return writer.contents;
}

async function* conversationsOf(
  { spool, shopName }: OpenSpool,
  lanes: readonly LaneKey[],
): AsyncGenerator<object> {
  for (const { shopId, ...lane } of lanes) {
    const conversation = await spool.conversation({ shopId, ...lane });
    yield { shop: shopName(shopId), ...lane, ...conversation };
  }
}

type Content = () => AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

class PersonArchive {
  readonly #open: OpenSpool;
  readonly #archive: Archive;
  readonly #signal: AbortSignal;
  readonly #missing: string[] = [];
  /** Uploads are named by the entry that used them and by their visitor. */
  readonly #written = new Set<BlobName>();
  #files = 0;

  constructor(open: OpenSpool, archive: Archive, signal: AbortSignal) {
    this.#open = open;
    this.#archive = archive;
    this.#signal = signal;
  }

  get contents(): ArchiveContents {
    return { files: this.#files, missing: this.#missing };
  }

  /** @param open begins to read the content */
  async file(path: string, open: Content) {
    this.#signal.throwIfAborted();
    await this.#archive.add(path, open());
    this.#files += 1;
  }

  /** A file that may not be stored any more: returns whether it is. */
  async stored(path: string, isThere: boolean, open: Content): Promise<boolean> {
    if (isThere) await this.file(path, open);
    else this.#missing.push(path);
    return isThere;
  }

  text(path: string, text: string): Promise<void> {
    return this.file(path, () => [Buffer.from(text)]);
  }

  /** A JSON array; no file if it is empty. */
  async records(path: string, records: Iterable<unknown> | AsyncIterable<unknown>): Promise<void> {
    const parts = jsonArray(records);
    const first = await parts.next();
    if (first.done === true) return;
    await this.file(path, async function* array() {
      yield first.value;
      yield* parts;
    });
  }

  async entry({ id }: TracedEntry): Promise<void> {
    const { spool } = this.#open;
    const entry = await spool.get(id);
    if (entry === undefined) return;
    const folder = `entries/${iso(entry.receivedAt).slice(0, 10)}-${entry.channel}-${id}`;
    await this.text(`${folder}/entry.json`, json(await gather(this.#open, entry)));
    const raw = await spool.raw(id);
    if (raw === undefined) return;
    const isEmail = entry.channel === 'email' && entry.kind === 'message';
    const path = `${folder}/message.${isEmail ? 'eml' : 'json'}`;
    const isThere = raw.kind === 'inline' || (await spool.blobs.exists(raw.blob));
    if (!(await this.stored(path, isThere, () => rawParts(this.#open, raw)))) return;
    if (isEmail) await this.#attachments(folder, raw);
    else if (entry.channel === 'web_chat' && entry.kind === 'message') {
      // Its raw form is small.
      const { uploads } = chatRaw(await buffer(rawParts(this.#open, raw)));
      for (const upload of uploads) await this.#upload(folder, upload);
    }
  }

  async #attachments(folder: string, raw: RawForm): Promise<void> {
    const scratch = new ScratchFolder(join(tmpdir(), `sluice-export-${randomUUID()}`));
    try {
      const files = await readAttachments(() => rawParts(this.#open, raw), scratch);
      for (const [index, file] of files.entries()) {
        const path = `${folder}/files/${index + 1}-${fileName(file.name)}`;
        await this.file(path, () => contentOf(file));
      }
    } finally {
      await removeScratch(scratch.path);
    }
  }

  async #upload(folder: string, { id, name, blob }: TracedUpload): Promise<void> {
    if (this.#written.has(blob)) return;
    this.#written.add(blob);
    const path = `${folder}/files/${fileName(id)}-${fileName(name)}`;
    const { blobs } = this.#open.spool;
    await this.stored(path, await blobs.exists(blob), () => blobs.read(blob));
  }

  async visitor({ id, shopId, uploads }: TracedVisitor): Promise<void> {
    const folder = `chat/${fileName(id)}`;
    const visitor = await this.#open.chat.visitor(shopId, id);
    if (visitor === undefined) return;
    await this.records(`${folder}/visitor.json`, [
      { shop: this.#open.shopName(shopId), ...visitor },
    ]);
    await this.records(`${folder}/lines.json`, this.#lines(visitor));
    for (const upload of uploads) await this.#upload(folder, upload);
  }

  async *#lines({ shopId, id }: Pick<TracedVisitor, 'shopId' | 'id'>): AsyncGenerator<object> {
    for (let after = 0; ;) {
      const lines = await this.#open.chat.linesAfter(shopId, id, after, LINES_AT_ONCE);
      for (const line of lines) yield { ...line, at: iso(line.at) };
      const last = lines.at(-1);
      if (last === undefined) return;
      after = last.seq;
    }
  }
}

/** A message that is read as a stream has all its parts in memory or in the scratch folder. */
function contentOf({ source }: AttachedFile): AsyncIterable<Uint8Array> | Uint8Array[] {
  if (source.kind === 'bytes') return [source.bytes];
  if (source.kind === 'file') return createReadStream(source.path);
  throw new Error(`an attachment is ${source.kind}`);
}

/** A name from outside as one part of a path. */
const fileName = (name: string): string => {
  const extension = /\.([a-z0-9]{1,16})$/i.exec(name)?.[1] ?? '';
  return safeFileName(name, { mime: 'application/octet-stream', extension }, 'file');
};

async function* jsonArray(
  records: Iterable<unknown> | AsyncIterable<unknown>,
): AsyncGenerator<Buffer, void, undefined> {
  let before = '[\n';
  for await (const record of records) {
    yield Buffer.from(before + JSON.stringify(record, null, 2));
    before = ',\n';
  }
  if (before !== '[\n') yield Buffer.from('\n]\n');
}
