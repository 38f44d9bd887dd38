import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  blackenTexts,
  emailsTo,
  type OutboxPerson,
  removeEmails,
  textsTo,
} from './outbound/erase-outbox.ts';
import { type Db, openDatabase } from './store/database.ts';
import { type ErasedPerson, findTraces, type PlatformTraces } from './store/erase-finder.ts';
import { PlatformErasure } from './store/erase-rows.ts';
import { durableFiles } from '../runtime/durable-files.ts';

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

/** What the embedded platform stores about a person: found and erased beside it, or without it. */
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

  /** @param media ids of files that were uploaded with his messages, used by one or not */
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
