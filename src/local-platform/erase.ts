import { existsSync } from 'node:fs';
import { open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import addressparser from 'nodemailer/lib/addressparser';
import { type Db, openDatabase } from './store/database.ts';
import {
  type ErasedPerson,
  findTraces,
  PlatformErasure,
  type PlatformTraces,
} from './store/erase-rows.ts';
import { durableFiles } from '../runtime/durable-files.ts';
import { codeOf } from '../runtime/error-code.ts';

/** Others' transactions are short. */
const BUSY_MS = 30_000;

export interface PlatformPlan extends PlatformTraces {
  /** Media ids, with files of that name. */
  readonly media: readonly string[];
  /** Files of the outbox. */
  readonly emails: readonly string[];
  /** Lines of its `sms.log`. */
  readonly texts: Awaited<ReturnType<typeof textsTo>>;
}

/** Finds and erases what the embedded platform stores about a person, while it runs or not. */
export class PlatformEraser {
  readonly db: Db;
  readonly #dir: string;
  readonly #rows: PlatformErasure;

  private constructor(db: Db, dir: string) {
    this.db = db;
    this.#dir = dir;
    this.#rows = new PlatformErasure(db);
  }

  /**
   * Undefined when no embedded platform ever ran there.
   * @param dir its folder
   * @throws {LocalPlatformUnusable}
   */
  static open(dir: string): PlatformEraser | undefined {
    const file = join(dir, 'platform.sqlite');
    if (!existsSync(file)) return undefined;
    const db = openDatabase(file);
    db.pragma(`busy_timeout = ${BUSY_MS}`);
    return new PlatformEraser(db, dir);
  }

  /** @param media ids of files that were uploaded with their messages, used by one or not */
  async find(person: ErasedPerson, media: readonly string[]): Promise<PlatformPlan> {
    const traces = findTraces(this.db, person);
    const outbox = outboxPerson(person, traces);
    // The names came from the platform that answered, which may have been another one.
    const unused = media.filter((id) => /^[0-9a-f-]{36}$/i.test(id) && !this.#rows.isUsed(id));
    return {
      ...traces,
      media: [...new Set([...this.#rows.mediaOf(traces), ...unused])],
      emails: await emailsTo(this.#outbox, outbox),
      texts: await textsTo(this.#outbox, outbox),
    };
  }

  /** Files first: what a kill in the middle leaves is found by its rows. */
  async erase(plan: PlatformPlan, person: ErasedPerson): Promise<void> {
    await removeEmails(this.#outbox, plan.emails);
    await blackenTexts(this.#outbox, plan.texts);
    const media = join(this.#dir, 'media');
    for (const id of plan.media) await rm(join(media, id), { force: true });
    if (plan.media.length > 0) await durableFiles.syncFolder(media);
    this.#rows.erase(plan, plan.media, person.is);
  }

  close(): void {
    this.db.close();
  }

  get #outbox(): string {
    return join(this.#dir, 'outbox');
  }
}

function outboxPerson(person: ErasedPerson, { messages }: PlatformTraces): OutboxPerson {
  return {
    is: person.is,
    isNamedIn: person.isNamedIn,
    replies: new Set(messages.map(({ id }) => id)),
  };
}

/** The header block of a reply of ours is much shorter. */
const HEAD_BYTES = 16 * 1024;
const ADDRESSEES = /^(?:to|cc):([^\r\n]*(?:\r?\n[ \t][^\r\n]*)*)/gim;

interface OutboxPerson {
  readonly isNamedIn: (text: string) => boolean;
  readonly is: (addressOrNumber: string) => boolean;
  /** Ids of replies to them. */
  readonly replies: ReadonlySet<string>;
}

/** Emails of the outbox that are to a person: the names of their files. */
export async function emailsTo(folder: string, person: OutboxPerson): Promise<string[]> {
  if (!existsSync(folder)) return [];
  const found: string[] = [];
  for (const name of await readdir(folder)) {
    const [, id] = /^(.+?)\.eml(?:\.tmp)?$/.exec(name) ?? [];
    if (id === undefined) continue;
    if (person.replies.has(id) || (await isTo(join(folder, name), person))) found.push(name);
  }
  return found;
}

async function isTo(path: string, person: OutboxPerson): Promise<boolean> {
  const head = await readHead(path);
  const [block = ''] = head.split(/\r?\n\r?\n/, 1);
  return [...block.matchAll(ADDRESSEES)].some(([, list = '']) =>
    addressparser(list, { flatten: true }).some(({ address }) => person.is(address)),
  );
}

async function readHead(path: string): Promise<string> {
  let file;
  try {
    file = await open(path, 'r');
  } catch (error) {
    // It has got its name meanwhile, and comes up under that.
    if (codeOf(error) === 'ENOENT') return '';
    throw error;
  }
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}

async function removeEmails(folder: string, names: readonly string[]): Promise<void> {
  for (const name of names) await rm(join(folder, name), { force: true });
}

interface Line {
  readonly at: number;
  readonly length: number;
}

/** How many lines of `sms.log` are texts to a person. */
async function textsTo(folder: string, person: OutboxPerson): Promise<readonly Line[]> {
  const path = join(folder, 'sms.log');
  if (!existsSync(path)) return [];
  const lines: Line[] = [];
  const file = await open(path, 'r');
  try {
    let at = 0;
    let rest = Buffer.alloc(0);
    for await (const chunk of file.createReadStream({ autoClose: false })) {
      // Without an encoding, a stream of a file has buffers.
      rest = Buffer.concat([rest, chunk as Buffer]);
      for (let lf = rest.indexOf(10); lf !== -1; lf = rest.indexOf(10)) {
        if (isTextTo(rest.toString('utf8', 0, lf), person)) lines.push({ at, length: lf });
        at += lf + 1;
        rest = rest.subarray(lf + 1);
      }
    }
  } finally {
    await file.close();
  }
  return lines;
}

function isTextTo(line: string, person: OutboxPerson): boolean {
  let text: unknown;
  try {
    text = JSON.parse(line);
  } catch {
    // Half a line: a crash came while it was written.
    return person.isNamedIn(line);
  }
  if (typeof text !== 'object' || text === null) return false;
  if ('id' in text && typeof text.id === 'string' && person.replies.has(text.id)) return true;
  return 'to' in text && typeof text.to === 'string' && person.is(text.to);
}

/**
 * Overwrites these lines where they are, as long as they were: a gateway appends to the file all
 * the while, and what it appends meanwhile would be lost with a new file.
 */
async function blackenTexts(folder: string, lines: readonly Line[]): Promise<void> {
  if (lines.length === 0) return;
  const file = await open(join(folder, 'sms.log'), 'r+');
  try {
    for (const { at, length } of lines) {
      await file.write('{"erased":true}'.padEnd(length).slice(0, length), at, 'latin1');
    }
    await durableFiles.sync(file);
  } finally {
    await file.close();
  }
}
