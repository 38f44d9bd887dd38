import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { errorFields, type Logger } from '../../observability/logger.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { DurableFiles } from '../../runtime/durable-files.ts';
import type { Operators } from './operators.ts';

/** One session that was ended, or everything of an operator whose password is another one now. */
export type Ended = { readonly session: string } | { readonly operator: string };

/** How long a session lasts; using it does not extend it. */
const SESSION_MS = 12 * 60 * 60 * 1000;
/** The most sessions at a time; one more ends the oldest. */
const MAX_SESSIONS = 200;
const TOKEN = /^[\w-]{43}$/;

export interface LiveSession {
  readonly id: string;
  readonly operator: string;
  readonly endsAt: number;
}

interface SessionParts {
  /** Outlives the process. */
  readonly file: string;
  readonly files: Pick<DurableFiles, 'replace'>;
  readonly operators: Operators;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Who has signed in. A session is a random token that only the browser has; here lies its hash, and
 * a seal of the operator's password under it, so that a changed password ends it. They outlive a
 * restart, and an ended one does not come back with it.
 */
export class Sessions {
  readonly #parts: SessionParts;
  #kept: Map<string, KeptSession>;
  readonly #listeners = new Set<(ended: Ended) => void>();
  #written: Promise<void> = Promise.resolve();

  static async open(parts: SessionParts): Promise<Sessions> {
    return new Sessions(parts, await readSessions(parts.file));
  }

  constructor(parts: SessionParts, kept: readonly KeptSession[]) {
    this.#parts = parts;
    this.#kept = new Map(kept.map((session) => [session.id, session]));
  }

  /**
   * Resolves with the token once the session is kept.
   * @param password as it is configured: the session ends with it
   */
  async begin(operator: string, password = ''): Promise<{ token: string; session: LiveSession }> {
    const now = this.#parts.clock();
    for (const { id, endsAt } of this.#kept.values()) if (endsAt <= now) this.#drop(id);
    for (const id of this.#kept.keys()) {
      if (this.#kept.size < MAX_SESSIONS) break;
      this.#drop(id);
    }
    const token = randomBytes(32).toString('base64url');
    const id = idOf(token);
    const seal = sealOf(token, password);
    const session = { id, operator, endsAt: now + SESSION_MS };
    this.#kept.set(id, { ...session, seal });
    await this.#write();
    return { token, session };
  }

  /** The session of a token that a request came with. */
  find(token: string | undefined): LiveSession | undefined {
    if (token === undefined || !TOKEN.test(token)) return undefined;
    const kept = this.#kept.get(idOf(token));
    if (kept === undefined || kept.endsAt <= this.#parts.clock()) return undefined;
    const password = this.#parts.operators.passwordOf(kept.operator);
    if (password === undefined || sealOf(token, password) !== kept.seal) return undefined;
    return { id: kept.id, operator: kept.operator, endsAt: kept.endsAt };
  }

  /** Resolves once the end of the session is on disk, so that a restart does not restore it. */
  async end(id: string): Promise<void> {
    this.#drop(id);
    await this.#write();
  }

  /** Ends all sessions of these operators, whose password has changed. */
  async endOf(operators: readonly string[]): Promise<void> {
    const ended = [...this.#kept.values()].filter(({ operator }) => operators.includes(operator));
    for (const operator of operators) this.#tell({ operator });
    for (const { id } of ended) this.#drop(id);
    if (ended.length > 0) await this.#write();
  }

  /** Calls back with what was ended. Answers how to stop it. */
  onEnd(listener: (ended: Ended) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #drop(id: string): void {
    if (!this.#kept.delete(id)) return;
    this.#tell({ session: id });
  }

  #tell(ended: Ended): void {
    for (const listener of this.#listeners) listener(ended);
  }

  /**
   * One write after the other; each writes what there is by then. A full disk keeps nobody out: it is
   * what the operator comes for, and the session lives as long as this process.
   */
  #write(): Promise<void> {
    const { file, files, logger } = this.#parts;
    this.#written = this.#written
      .then(() => files.replace(file, JSON.stringify([...this.#kept.values()])))
      .catch((error: unknown) => logger.error('console.sessions_not_kept', errorFields(error)));
    return this.#written;
  }
}

const idOf = (token: string): string => createHash('sha256').update(token).digest('hex');
const sealOf = (token: string, password: string): string =>
  createHmac('sha256', token).update(password).digest('hex');

const keptSchema = z.array(
  z.object({
    /** SHA-256 of the token in hex: who reads the file cannot sign in with it. */
    id: z.string().regex(/^[0-9a-f]{64}$/),
    operator: z.string().min(1).max(64),
    endsAt: z.number(),
    /** HMAC of the operator's configured password under the token. */
    seal: z.string().regex(/^[0-9a-f]{64}$/),
  }),
);
type KeptSession = Readonly<z.output<typeof keptSchema>[number]>;

/** What was written last; nothing when there is no file, or one that cannot be read as such. */
async function readSessions(file: string): Promise<readonly KeptSession[]> {
  try {
    return keptSchema.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch {
    // Losing this file only means that operators sign in again.
    return [];
  }
}

/** A device token expires after this time without a sign-in. */
export const DEVICE_MS = 180 * 24 * 60 * 60 * 1000;
const DEVICE_TOKEN = /^([\w-]{22})\.([0-9a-z]{1,10})\.([\w-]{43})$/;

interface DeviceParts {
  /** Outlives restarts. */
  readonly key: Uint8Array;
  readonly operators: Operators;
  readonly clock: Clock;
}

/**
 * Browsers in which an operator has signed in (OWASP, "Slow Down Online Guessing Attacks with
 * Device Cookies"). Such a token lets nobody in: wrong passwords of others are not counted against
 * the browser that has it. It is signed for one operator and the password of that time, so that
 * tokens collected before the password was replaced are worth nothing.
 */
export class Devices {
  readonly #parts: DeviceParts;

  constructor(parts: DeviceParts) {
    this.#parts = parts;
  }

  /** @param password as it is configured */
  issue(operator: string, password = ''): string {
    const id = randomBytes(16).toString('base64url');
    const at = Math.floor(this.#parts.clock() / 1000).toString(36);
    return `${id}.${at}.${this.#seal(operator, password, id, at).toString('base64url')}`;
  }

  /** The browser's id, when the token was given to it for this operator. */
  idOf(token: string | undefined, operator: string): string | undefined {
    const password = this.#parts.operators.passwordOf(operator);
    const [, id, at, seal] = DEVICE_TOKEN.exec(token ?? '') ?? [];
    if (password === undefined || id === undefined || at === undefined || seal === undefined) {
      return undefined;
    }
    if (parseInt(at, 36) * 1000 + DEVICE_MS <= this.#parts.clock()) return undefined;
    const given = Buffer.from(seal, 'base64url');
    return timingSafeEqual(given, this.#seal(operator, password, id, at)) ? id : undefined;
  }

  #seal(operator: string, password: string, id: string, at: string): Buffer {
    const what = JSON.stringify([operator, password, id, at]);
    return createHmac('sha256', this.#parts.key).update(what).digest();
  }
}
