import { createReadStream, existsSync } from 'node:fs';
import { open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import addressparser from 'nodemailer/lib/addressparser';
import { type Db, openDatabase, statements } from './store/database.ts';
import {
  type ErasedPerson,
  findTraces,
  mediaOf,
  PlatformErasure,
  type PlatformTraces,
} from './store/erase-rows.ts';
import { durableFiles } from '../runtime/durable-files.ts';
import { codeOf } from '../runtime/error-code.ts';

/** A running platform's transactions are short. */
const BUSY_MS = 30_000;
/** Until the file is rewritten, bytes of deleted rows may be in its unused space (spool/sqlite/vacuum.ts). */
const NOTE_ERASURE = `INSERT OR REPLACE INTO marks (name, at)
  VALUES ('secure_deletion', 1 + abs(random() >> 12))`;

export interface PlatformPlan extends PlatformTraces {
  /** Media ids, which are also the names of the files. */
  readonly media: readonly string[];
  /** Names of files in the outbox. */
  readonly emails: readonly string[];
  /** Lines of `sms.log` in the outbox. */
  readonly texts: Awaited<ReturnType<typeof textsTo>>;
}

/** Finds and erases a person's data in the embedded platform, which may be running. */
export class PlatformEraser {
  readonly db: Db;
  readonly #dir: string;

  private constructor(db: Db, dir: string) {
    this.db = db;
    this.#dir = dir;
  }

  /**
   * @param dir the platform's folder
   * @returns undefined when the folder has no database
   * @throws {LocalPlatformUnusable}
   */
  static open(dir: string): PlatformEraser | undefined {
    const file = join(dir, 'platform.sqlite');
    if (!existsSync(file)) return undefined;
    const db = openDatabase(file);
    db.pragma(`busy_timeout = ${BUSY_MS}`);
    return new PlatformEraser(db, dir);
  }

  /** @param media ids of files that were uploaded for their messages, even if no message uses them */
  async find(person: ErasedPerson, media: readonly string[]): Promise<PlatformPlan> {
    const traces = findTraces(this.db, person);
    const { is, isNamedIn } = person;
    const replies = new Set([...traces.messages.map(({ id }) => id), ...traces.leftAddresses]);
    // The ids may come from another platform, so their form is checked.
    const isUsed = statements(this.db).has<[mediaId: string]>(
      'SELECT 1 FROM attachments WHERE media_id = ? LIMIT 1',
    );
    const unused = media.filter((id) => /^[0-9a-f-]{36}$/i.test(id) && !isUsed(id));
    return {
      ...traces,
      media: [...new Set([...mediaOf(this.db, traces), ...unused])],
      emails: await emailsTo(this.#outbox, { is, isNamedIn, replies }),
      texts: await textsTo(this.#outbox, { is, isNamedIn, replies }),
    };
  }

  /** Deletes files before rows, so that an interrupted run can be repeated from the rows. */
  async erase(plan: PlatformPlan, { is }: Pick<ErasedPerson, 'is'>): Promise<void> {
    this.db.exec(NOTE_ERASURE);
    for (const name of plan.emails) await rm(join(this.#outbox, name), { force: true });
    await overwriteTexts(this.#outbox, plan.texts);
    const media = join(this.#dir, 'media');
    for (const id of plan.media) await rm(join(media, id), { force: true });
    if (plan.media.length > 0) await durableFiles.syncFolder(media);
    new PlatformErasure(this.db).erase(plan, plan.media, is);
    // Another process may have rewritten the file meanwhile.
    this.db.exec(NOTE_ERASURE);
  }

  close(): void {
    this.db.close();
  }

  get #outbox(): string {
    return join(this.#dir, 'outbox');
  }
}

/** Longer than the header of any reply. */
const HEAD_BYTES = 16 * 1024;
const ADDRESSEES = /^(?:to|cc):([^\r\n]*(?:\r?\n[ \t][^\r\n]*)*)/gim;

interface OutboxPerson extends Pick<ErasedPerson, 'is' | 'isNamedIn'> {
  /** Ids of replies and confirmation mails to them. */
  readonly replies: ReadonlySet<string>;
}

/** The file names of the outbox's emails to a person. */
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
  try {
    return await text(createReadStream(path, { end: HEAD_BYTES - 1 }));
  } catch (error) {
    // The temporary file has been renamed; the listing has the new name too.
    if (codeOf(error) === 'ENOENT') return '';
    throw error;
  }
}

interface Line {
  readonly at: number;
  readonly length: number;
}

/** The lines of `sms.log` with texts to a person. */
async function textsTo(folder: string, person: OutboxPerson): Promise<readonly Line[]> {
  const path = join(folder, 'sms.log');
  if (!existsSync(path)) return [];
  const lines: Line[] = [];
  let at = 0;
  let rest = Buffer.alloc(0);
  for await (const chunk of createReadStream(path)) {
    // A file stream without an encoding yields buffers.
    rest = Buffer.concat([rest, chunk as Buffer]);
    for (let lf = rest.indexOf(10); lf !== -1; lf = rest.indexOf(10)) {
      if (isTextTo(rest.toString('utf8', 0, lf), person)) lines.push({ at, length: lf });
      at += lf + 1;
      rest = rest.subarray(lf + 1);
    }
  }
  return lines;
}

function isTextTo(line: string, person: OutboxPerson): boolean {
  const sent = sentText(line);
  if (typeof sent === 'string') return person.isNamedIn(sent);
  if (typeof sent !== 'object' || sent === null) return false;
  if ('id' in sent && typeof sent.id === 'string' && person.replies.has(sent.id)) return true;
  return 'to' in sent && typeof sent.to === 'string' && person.is(sent.to);
}

/** What a line of `sms.log` says; the line itself if a crash has left it incomplete. */
export function sentText(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return line;
  }
}

/**
 * Overwrites the lines in place, with the same length: a running gateway appends to the file, and a
 * new file would lose the lines that it appends meanwhile.
 */
async function overwriteTexts(folder: string, lines: readonly Line[]): Promise<void> {
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
