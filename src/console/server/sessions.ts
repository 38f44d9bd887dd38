import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { errorFields, type Logger } from '../../observability/logger.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { DurableFiles } from '../../runtime/durable-files.ts';
import type { Operators } from './operators.ts';

/** One session that was ended, or an operator all of whose sessions were. */
export type EndedSessions = { readonly session: string } | { readonly operator: string };

/** The lifetime of a session; use does not extend it. */
const SESSION_MS = 12 * 60 * 60 * 1000;
/** Limit of sessions; above it the oldest is ended. */
const MAX_SESSIONS = 200;
const TOKEN = /^[\w-]{43}$/;

export interface LiveSession {
  readonly id: string;
  readonly operator: string;
  readonly endsAt: number;
}

interface SessionParts {
  /** Sessions are stored in this file. */
  readonly file: string;
  readonly files: Pick<DurableFiles, 'replace'>;
  readonly operators: Operators;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * The sessions of operators. The browser holds a random token; the gateway stores its hash and an
 * HMAC of the operator's password under it, so that changing the password ends the session.
 * Sessions and their ends survive a restart.
 */
export class Sessions {
  readonly #parts: SessionParts;
  #sessions: Map<string, KeptSession>;
  readonly #listeners = new Set<(ended: EndedSessions) => void>();
  #written: Promise<void> = Promise.resolve();

  static async open(parts: SessionParts): Promise<Sessions> {
    return new Sessions(parts, await readSessions(parts.file));
  }

  constructor(parts: SessionParts, kept: readonly KeptSession[]) {
    this.#parts = parts;
    this.#sessions = new Map(kept.map((session) => [session.id, session]));
  }

  /**
   * Resolves with the token once the session is stored.
   * @param password as configured; changing it ends the session
   */
  async begin(operator: string, password = ''): Promise<{ token: string; session: LiveSession }> {
    const now = this.#parts.clock();
    for (const { id, endsAt } of this.#sessions.values()) if (endsAt <= now) this.#remove(id);
    for (const id of this.#sessions.keys()) {
      if (this.#sessions.size < MAX_SESSIONS) break;
      this.#remove(id);
    }
    const token = randomBytes(32).toString('base64url');
    const id = idOf(token);
    const seal = sealOf(token, password);
    const session = { id, operator, endsAt: now + SESSION_MS };
    this.#sessions.set(id, { ...session, seal });
    await this.#write();
    return { token, session };
  }

  /** The session of a request's token. */
  find(token: string | undefined): LiveSession | undefined {
    if (token === undefined || !TOKEN.test(token)) return undefined;
    const kept = this.#sessions.get(idOf(token));
    if (kept === undefined || kept.endsAt <= this.#parts.clock()) return undefined;
    const password = this.#parts.operators.passwordOf(kept.operator);
    if (password === undefined || sealOf(token, password) !== kept.seal) return undefined;
    return { id: kept.id, operator: kept.operator, endsAt: kept.endsAt };
  }

  /** Resolves once the end is stored, so that a restart does not restore the session. */
  async end(id: string): Promise<void> {
    this.#remove(id);
    await this.#write();
  }

  /** Ends all sessions of operators whose password has changed. */
  async endOf(operators: readonly string[]): Promise<void> {
    const ended = [...this.#sessions.values()].filter(({ operator }) =>
      operators.includes(operator),
    );
    for (const operator of operators) this.#notify({ operator });
    for (const { id } of ended) this.#remove(id);
    if (ended.length > 0) await this.#write();
  }

  /** Calls the listener for ended sessions; returns the unsubscribe function. */
  onEnd(listener: (ended: EndedSessions) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #remove(id: string): void {
    if (!this.#sessions.delete(id)) return;
    this.#notify({ session: id });
  }

  #notify(ended: EndedSessions): void {
    for (const listener of this.#listeners) listener(ended);
  }

  /**
   * Writes one after the other, each the current sessions. A full disk does not prevent signing in:
   * the session then lasts until the process ends.
   */
  #write(): Promise<void> {
    const { file, files, logger } = this.#parts;
    this.#written = this.#written
      .then(() => files.replace(file, JSON.stringify([...this.#sessions.values()])))
      .catch((error: unknown) => logger.error('console.sessions_not_kept', errorFields(error)));
    return this.#written;
  }
}

const idOf = (token: string): string => createHash('sha256').update(token).digest('hex');
const sealOf = (token: string, password: string): string =>
  createHmac('sha256', token).update(password).digest('hex');

const keptSchema = z.array(
  z.object({
    /** SHA-256 of the token in hex; reading the file does not allow signing in. */
    id: z.string().regex(/^[0-9a-f]{64}$/),
    operator: z.string().min(1).max(64),
    endsAt: z.number(),
    /** HMAC of the operator's configured password under the token. */
    seal: z.string().regex(/^[0-9a-f]{64}$/),
  }),
);
type KeptSession = Readonly<z.output<typeof keptSchema>[number]>;

/** The stored sessions; none when the file is missing or unreadable. */
async function readSessions(file: string): Promise<readonly KeptSession[]> {
  try {
    return keptSchema.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch {
    // Without the file, operators sign in again.
    return [];
  }
}

/** A device token expires after this time without sign-in. */
export const DEVICE_MS = 180 * 24 * 60 * 60 * 1000;
const DEVICE_TOKEN = /^([\w-]{22})\.([0-9a-z]{1,10})\.([\w-]{43})$/;

interface DeviceParts {
  /** Stored, so that tokens survive restarts. */
  readonly key: Uint8Array;
  readonly operators: Operators;
  readonly clock: Clock;
}

/**
 * Tokens of browsers in which an operator has signed in (OWASP, "Slow Down Online Guessing Attacks
 * with Device Cookies"). A token does not authenticate; it exempts the browser from the limits on
 * other clients. It is signed for one operator and their password, so changing the password
 * invalidates it.
 */
export class Devices {
  readonly #parts: DeviceParts;

  constructor(parts: DeviceParts) {
    this.#parts = parts;
  }

  /** @param password as configured */
  issue(operator: string, password = ''): string {
    const id = randomBytes(16).toString('base64url');
    const at = Math.floor(this.#parts.clock() / 1000).toString(36);
    return `${id}.${at}.${this.#seal(operator, password, id, at).toString('base64url')}`;
  }

  /** The id in a valid token of this operator. */
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
