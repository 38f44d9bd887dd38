import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import * as z from 'zod/mini';
import {
  type Hint,
  hintSchema,
  LocalSignals,
  type SignalListener,
  type Signals,
} from '../signals.ts';
import type { Database } from './connection.ts';
import { jsonOf } from './rows.ts';

const CHANNEL = 'sluice_hints';
/** A commit with a NOTIFY takes a lock of the whole cluster, so hints are gathered first. */
const GATHER_MS = 25;
/** The server refuses payloads of 8000 bytes. */
const MAX_PAYLOAD_BYTES = 7_500;
/** Everybody also polls. */
const POLL_MS = 5_000;
/** While no hints arrive. */
const POLL_UNHEARD_MS = 1_000;
/** The longest time in which a notification to oneself comes back. */
const ECHO_MS = 2_000;

/** What one gateway tells all; without hints, it asks whether it hears itself. */
const payloadSchema = z.object({ from: z.string(), hints: z.array(z.unknown()) });

/**
 * Hints by LISTEN and NOTIFY, on a connection of their own, which is opened for the first listener. A pooler
 * in transaction mode accepts LISTEN and delivers nothing, and a connection may be dead without an end: a
 * notification to oneself, at the start and before each poll, shows both. While nothing is heard, listeners poll
 * more often.
 */
export class PostgresSignals implements Signals {
  readonly #database: Database;
  readonly #local = new LocalSignals();
  /** Tells this process's notifications from others'. */
  readonly #id = randomUUID();
  readonly #stopping = new AbortController();
  #gathered: Hint[] = [];
  #sending: Promise<void> | undefined;
  #listening: Promise<void> | undefined;
  #onEcho: () => void = () => undefined;
  #isHearing = false;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Whether notifications arrive. */
  get isHearing(): boolean {
    return this.#isHearing;
  }

  publish(published: Hint): void {
    this.#local.publish(published);
    this.#gathered.push(published);
    this.#sending ??= this.#send();
  }

  subscribe(listener: SignalListener): () => void {
    this.#listening ??= this.#listen();
    return this.#local.subscribe(listener);
  }

  /** Sends what is gathered. Before the database is closed. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all([this.#sending, this.#listening]);
  }

  /** One statement at a time, so that a slow database gets few that are large. */
  async #send(): Promise<void> {
    while (this.#gathered.length > 0) {
      await this.#pause(GATHER_MS);
      await this.#notify(payloadsOf(this.#id, this.#gathered.splice(0)));
    }
    this.#sending = undefined;
  }

  /** A hint that is lost with its connection is not worth a flush to the disk either. */
  async #notify(payloads: readonly string[]): Promise<void> {
    const text = `
      SELECT pg_notify($1, payload), set_config('synchronous_commit', 'off', true)
      FROM json_array_elements_text($2::json) AS payload`;
    // Whoever misses the hints polls.
    await this.#database.query(text, [CHANNEL, JSON.stringify(payloads)]).catch(() => undefined);
  }

  async #listen(): Promise<void> {
    const polling = this.#poll();
    while (!this.#stopping.signal.aborted) {
      // It fails when the database cannot be reached; the store's other calls say so.
      await this.#hear().catch(() => undefined);
      this.#isHearing = false;
      await this.#pause(POLL_UNHEARD_MS);
    }
    await polling;
  }

  async #poll(): Promise<void> {
    let polledAt = performance.now();
    for (;;) {
      await this.#pause(POLL_UNHEARD_MS);
      if (this.#stopping.signal.aborted) return;
      const now = performance.now();
      if (this.#isHearing && now - polledAt < POLL_MS) continue;
      polledAt = now;
      this.#local.poll();
    }
  }

  /** Listens as long as notifications arrive. */
  async #hear(): Promise<void> {
    const client = await this.#database.connectAlone({ query_timeout: ECHO_MS });
    const lost = once(client, 'end').then(() => undefined);
    lost.catch(() => undefined);
    client.on('notification', ({ payload = '' }) => this.#receive(payload));
    try {
      await client.query(`LISTEN ${CHANNEL}`);
      while (await this.#echoes(client)) {
        // What was published before the connection listened is lost.
        if (!this.#isHearing) this.#local.poll();
        this.#isHearing = true;
        await Promise.race([lost, this.#pause(POLL_MS)]);
        if (this.#stopping.signal.aborted) break;
      }
    } finally {
      const ended = client.end().catch(() => undefined);
      // A connection that does not answer is not waited for.
      await Promise.race([ended, delay(ECHO_MS, undefined, { ref: false })]);
    }
  }

  async #echoes(client: pg.Client): Promise<boolean> {
    const echo = new Promise<true>((resolve) => {
      this.#onEcho = () => resolve(true);
    });
    await client.query('SELECT pg_notify($1, $2)', [CHANNEL, payloadOf(this.#id, [])]);
    return Promise.race([echo, this.#pause(ECHO_MS).then(() => false)]);
  }

  /** Another version of the program may send hints that this one does not know. */
  #receive(payload: string): void {
    const { from, hints } = payloadSchema.safeParse(jsonIn(payload)).data ?? { hints: [] };
    if (from === this.#id) {
      if (hints.length === 0) this.#onEcho();
      return;
    }
    for (const each of hints) {
      const known = hintSchema.safeParse(each).data;
      if (known !== undefined) this.#local.publish(known);
    }
  }

  /** Until the time is over or this stops. */
  #pause(ms: number): Promise<void> {
    const { signal } = this.#stopping;
    return delay(ms, undefined, { signal, ref: false }).catch(() => undefined);
  }
}

function payloadOf(from: string, hints: readonly Hint[]): string {
  return jsonOf({ from, hints });
}

/** As few payloads as hold all of the hints. */
function payloadsOf(from: string, hints: readonly Hint[]): string[] {
  const payloads: string[] = [];
  let some: Hint[] = [];
  let bytes = 0;
  for (const each of hints) {
    const size = Buffer.byteLength(jsonOf(each)) + 1;
    if (some.length > 0 && bytes + size > MAX_PAYLOAD_BYTES) {
      payloads.push(payloadOf(from, some));
      [some, bytes] = [[], 0];
    }
    some.push(each);
    bytes += size;
  }
  return [...payloads, payloadOf(from, some)];
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
