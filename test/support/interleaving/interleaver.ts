import pg from 'pg';

/** One gateway runs until its stop of this number; without one, until its call has ended. */
export interface Turn {
  readonly who: number;
  readonly upTo?: number;
}

/** Changes the text of a function of the database, to show that its fault is found. */
export interface Mutation {
  readonly in: string;
  readonly from: string | RegExp;
  readonly to: string;
}

/** The functions whose statements are interleaved. */
const FUNCTIONS = [
  'accept',
  'claim',
  'renew',
  'settle',
  'settle_and_claim',
  'move_entry',
  'sweep',
  'recover',
  'hasten',
  'wait_for_shop',
  'repair_lanes',
  'erase_entries',
];
/** A stop before each change of one of their rows: within a statement, after it has its snapshot. */
const STOP_AT_ROWS = ['entry', 'remote', 'job', 'lane', 'outcome'];
/** Changed by every transaction whose locks matter: a stop before its commit, as if it waited for a standby. */
const STOP_AT_COMMIT = ['entry', 'job', 'lane', 'outcome'];

/**
 * Stops count the connections of one gateway by its name (`urlOf`); other connections do not stop. A
 * stop waits only while the interleaver holds its lock.
 */
const STOPS = `
  CREATE FUNCTION interleaved_stop() RETURNS boolean LANGUAGE plpgsql AS $$
  DECLARE
    who int := substring(current_setting('application_name') FROM '^interleaved-([0-9]+)$');
    step int;
  BEGIN
    IF who IS NULL THEN RETURN true; END IF;
    step := nextval('interleaved_' || who);
    PERFORM pg_advisory_lock_shared(who, step);
    PERFORM pg_advisory_unlock_shared(who, step);
    RETURN true;
  END $$;
  CREATE FUNCTION interleaved_row() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM interleaved_stop();
    IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
    RETURN NEW;
  END $$;
  CREATE FUNCTION interleaved_commit() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF current_setting('interleaved.commit', true) IS DISTINCT FROM pg_current_xact_id()::text THEN
      PERFORM set_config('interleaved.commit', pg_current_xact_id()::text, true);
      PERFORM interleaved_stop();
    END IF;
    RETURN NULL;
  END $$;
  ${STOP_AT_ROWS.map(
    (table) => `CREATE TRIGGER interleaved_row BEFORE INSERT OR UPDATE OR DELETE ON ${table}
      FOR EACH ROW EXECUTE FUNCTION interleaved_row();`,
  ).join('\n')}
  ${STOP_AT_COMMIT.map(
    (
      table,
    ) => `CREATE CONSTRAINT TRIGGER interleaved_commit AFTER INSERT OR UPDATE OR DELETE ON ${table}
      DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION interleaved_commit();`,
  ).join('\n')}`;

/**
 * Runs calls of several gateways on one database in a given order of their steps. A step ends before each
 * change of a row of the tables above, between any two statements of a function, and before the commit.
 * A call that waits for a lock of another one goes on by itself when it gets it. Nothing is timed: the
 * server's table of locks shows who waits.
 */
export class Interleaver {
  readonly #url: string;
  readonly #client: pg.Client;
  readonly #gateways: number;
  #restore = '';
  /** Deadlocks are resolved by a second try; there should be none. */
  #deadlocksBefore = 0;

  private constructor(url: string, client: pg.Client, gateways: number) {
    this.#url = url;
    this.#client = client;
    this.#gateways = gateways;
  }

  /** @param url of a database in which a store has been opened */
  static async open(url: string, gateways: number): Promise<Interleaver> {
    const client = new pg.Client(url);
    await client.connect();
    await client.query(STOPS);
    for (let who = 1; who <= gateways; who += 1) {
      await client.query(`CREATE SEQUENCE interleaved_${who}`);
    }
    // Restoring the state fires no trigger.
    await client.query('SET session_replication_role = replica');
    const interleaver = new Interleaver(url, client, gateways);
    await interleaver.mutate();
    interleaver.#deadlocksBefore = await interleaver.#allDeadlocks();
    return interleaver;
  }

  /** Connections with this URL stop as those of gateway `who`, from 1. */
  urlOf(who: number): string {
    return `${this.#url}?application_name=interleaved-${who}`;
  }

  /** Defines the functions anew with their stops, and with a fault if one is given. */
  async mutate(mutation?: Mutation): Promise<void> {
    const changed = mutation === undefined ? [] : [mutation.in];
    for (const prefix of new Set([...FUNCTIONS, ...this.#bodies.keys(), ...changed])) {
      const stops = FUNCTIONS.includes(prefix) ? withStops : (body: string) => body;
      await this.#define(prefix, mutation, stops);
    }
  }

  readonly #bodies = new Map<string, { readonly definition: string; readonly body: string }>();

  async #define(
    prefix: string,
    mutation: Mutation | undefined,
    change: (body: string) => string,
  ): Promise<void> {
    let known = this.#bodies.get(prefix);
    if (known === undefined) {
      const { rows } = await this.#client.query<{ definition: string; body: string }>(
        `SELECT pg_get_functiondef(oid) AS definition, prosrc AS body FROM pg_proc
         WHERE proname ~ ('^' || $1 || '_[0-9a-f]{8}$')`,
        [prefix],
      );
      [known] = rows;
      if (known === undefined) throw new Error(`there is no function ${prefix}`);
      this.#bodies.set(prefix, known);
    }
    const { definition, body } = known;
    const faulty = mutation?.in === prefix ? body.replaceAll(mutation.from, mutation.to) : body;
    if (mutation?.in === prefix && faulty === body) {
      throw new Error(`${prefix} does not contain ${String(mutation.from)}`);
    }
    await this.#client.query(definition.replace(body, () => change(faulty)));
  }

  /** Runs one statement on a connection that does not stop. */
  async query<Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return (await this.#client.query<Row>(text, [...values])).rows;
  }

  /** Keeps the present rows of these tables for `restore`. */
  async keep(tables: readonly string[]): Promise<void> {
    await this.#client.query(
      `DROP SCHEMA IF EXISTS kept CASCADE; CREATE SCHEMA kept;
       ${tables.map((table) => `CREATE TABLE kept.${table} AS TABLE ${table};`).join('\n')}`,
    );
    const rows = tables.map(
      (table) =>
        `DELETE FROM ${table}; INSERT INTO ${table} OVERRIDING SYSTEM VALUE TABLE kept.${table};`,
    );
    const steps = `SELECT setval('interleaved_' || who, 1, false) FROM generate_series(1, ${this.#gateways}) AS who;`;
    this.#restore = [...rows, steps].join('\n');
  }

  /**
   * Restores the kept rows, and makes each gateway's call in the order of the turns; then all run to their
   * ends. Resolves with the results, and for each turn with a stop whether it was reached.
   */
  async run<Result>(
    calls: readonly (() => Promise<Result>)[],
    turns: readonly Turn[],
  ): Promise<{
    readonly results: readonly PromiseSettledResult<Result>[];
    readonly stopped: readonly boolean[];
  }> {
    const held = new Map<number, number>();
    const running = new Map<number, Promise<Result>>();
    const over = new Set<number>();
    const start = (who: number) => {
      const call = calls[who - 1];
      if (call === undefined) throw new Error(`there is no gateway ${who}`);
      const promise = call().finally(() => over.add(who));
      promise.catch(() => undefined);
      running.set(who, promise);
      return promise;
    };
    // Statements that go with the next query: on a busy machine a round trip takes long.
    let first = this.#restore;
    const stopped: boolean[] = [];
    for (const { who, upTo } of turns) {
      const before = held.get(who);
      if (upTo === undefined) held.delete(who);
      else {
        first += `SELECT pg_advisory_lock(${who}, ${upTo});`;
        held.set(who, upTo);
      }
      if (before !== undefined) first += `SELECT pg_advisory_unlock(${who}, ${before});`;
      if (!running.has(who)) {
        if (first !== '') await this.#client.query(first);
        first = '';
        void start(who);
      }
      const atStop = await this.#quiet(running, over, first);
      first = '';
      if (upTo !== undefined) stopped.push(atStop.has(who));
    }
    for (const [who, step] of held) {
      await this.#quiet(running, over, `SELECT pg_advisory_unlock(${who}, ${step});`);
    }
    const results = await Promise.allSettled(
      calls.map((_, index) => running.get(index + 1) ?? start(index + 1)),
    );
    return { results, stopped };
  }

  /**
   * Waits until each running call has ended, or waits at its stop or for a lock; returns those at a stop.
   * @param first statements to run before
   */
  async #quiet(
    running: ReadonlyMap<number, unknown>,
    over: ReadonlySet<number>,
    first: string,
  ): Promise<ReadonlySet<number>> {
    // Sent together with the first look.
    const sent = first === '' ? undefined : this.#client.query(first);
    for (;;) {
      const { rows } = await this.#client.query<{ who: number; at_stop: boolean }>(WAITING);
      await sent;
      const waiting = new Set(rows.map(({ who }) => who));
      if ([...running.keys()].every((who) => over.has(who) || waiting.has(who))) {
        return new Set(rows.flatMap(({ who, at_stop }) => (at_stop ? [who] : [])));
      }
    }
  }

  async #allDeadlocks(): Promise<number> {
    const [row] = await this.query<{ n: number }>(
      `SELECT deadlocks::int AS n FROM pg_stat_clear_snapshot(), pg_stat_database
       WHERE datname = current_database()`,
    );
    return row?.n ?? 0;
  }

  /** How many deadlocks the server has resolved. */
  async deadlocks(): Promise<number> {
    // Backends that are idle have reported theirs.
    return (await this.#allDeadlocks()) - this.#deadlocksBefore;
  }

  async close(): Promise<void> {
    await this.#client.end();
  }
}

const WAITING = {
  name: 'waiting',
  text: `SELECT substring(application_name FROM '[0-9]+$')::int AS who, locktype = 'advisory' AS at_stop
    FROM pg_locks JOIN pg_stat_activity USING (pid)
    WHERE NOT granted AND application_name LIKE 'interleaved-%'`,
};

const TOKEN = /--[^\n]*|'(?:[^']|'')*'|\w+|[^\s\w]/g;
const READS = /\b(?:SELECT|INSERT|UPDATE|DELETE|PERFORM|EXECUTE)\b/i;

/**
 * The body of a PL/pgSQL function with a stop after each statement and condition that uses the database.
 * ASSERT changes neither FOUND nor ROW_COUNT.
 */
export function withStops(body: string): string {
  let [stopped, from, depth, cases, isBody] = ['', 0, 0, 0, false];
  for (const { 0: token, index } of body.matchAll(TOKEN)) {
    const word = token.toUpperCase();
    if (!isBody) {
      isBody = word === 'BEGIN';
      if (isBody) [stopped, from] = [body.slice(0, index + token.length), index + token.length];
      continue;
    }
    if (token === '(') depth += 1;
    if (token === ')') depth -= 1;
    if (word === 'CASE') cases += 1;
    if (word === 'END' && cases > 0) cases -= 1;
    const ends = token === ';' || word === 'THEN' || word === 'LOOP';
    if (!ends || depth > 0 || cases > 0) continue;
    const end = index + token.length;
    const piece = body.slice(from, end);
    stopped += piece + (READS.test(piece) ? ' ASSERT interleaved_stop(); ' : '');
    from = end;
  }
  // A claim also stops before it locks a lane that it has seen.
  return (stopped + body.slice(from)).replaceAll(
    /due_at <= now(?!\w)/g,
    '$& AND interleaved_stop()',
  );
}
