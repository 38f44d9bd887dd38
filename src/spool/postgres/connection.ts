import pg from 'pg';
import { codeOf } from '../../runtime/error-code.ts';
import { SpoolFull, SpoolUnavailable, StoreRefuses } from '../errors.ts';

/** The connections that a gateway keeps at most: its calls are batches, so few are in progress. */
const MAX_CONNECTIONS = 10;
const CONNECT_TIMEOUT_MS = 5000;
/**
 * A statement that is not answered within this time has lost its connection, which is closed. The
 * statement is not cancelled: a commit that waits for a synchronous standby and is cancelled is
 * committed on the primary alone.
 */
const ANSWER_TIMEOUT_MS = 20_000;
/**
 * The server ends a transaction that sends nothing for this time: a gateway that is frozen, or whose
 * machine is gone, would keep its locks, and no other one could accept. Shorter than these wait.
 */
const IDLE_TIMEOUT_MS = 10_000;
/** Refusals that another try may not meet (PostgreSQL, appendix A): deadlock_detected, serialization_failure. */
const TRY_AGAIN: ReadonlySet<string> = new Set(['40P01', '40001']);
const MOST_TRIES = 5;
/**
 * The connection is over: the server became a standby (read_only_sql_transaction), or it ended the
 * connection (admin_shutdown and those like it, idle_in_transaction_session_timeout), whose socket
 * closes a moment after the answer.
 */
const ENDS_CONNECTION = /^(25006|25P03|57P)/;
const DISK_FULL = '53100';
/** The class of warnings. */
const WARNING = '01';

/** Integers of 64 bits are times, numbers of rows and hashes of 48 bits: all are exact as numbers. */
export const INTEGERS = new pg.TypeOverrides();
INTEGERS.setTypeParser(pg.types.builtins.INT8, Number);

/** A value of a statement's parameter. */
export type Param = string | number | boolean | null | Uint8Array | readonly string[];

/** Runs a statement and resolves with its rows. */
export type Query = <Row>(text: string, values?: readonly Param[]) => Promise<Row[]>;

/**
 * Connections to the primary of a PostgreSQL cluster. The URL may name several hosts, as libpq's
 * does; the one that is no standby is used. After a fail-over all connections are replaced.
 */
export class Database {
  readonly #urls: readonly string[];
  readonly #application: string;
  #pool: Promise<pg.Pool> | undefined;
  /** The one that `#pool` resolved with. */
  #connected: pg.Pool | undefined;
  #closed = false;

  /** @param application how its connections are called in `pg_stat_activity` */
  constructor(url: string, application = 'sluice') {
    this.#urls = hostsOf(url);
    this.#application = application;
  }

  /** The number of hosts that the URL names. */
  get hosts(): number {
    return this.#urls.length;
  }

  /**
   * Runs one statement as a transaction of its own and resolves with its rows after the commit. Several, without
   * values, are one transaction: resolves with a list of rows for each.
   * @throws {SpoolUnavailable} no connection, or no answer: it is unknown whether it was committed
   * @throws {StoreRefuses} it was rolled back
   * @throws {SpoolFull} the server's disk is full
   */
  async query<Row>(text: string, values: readonly Param[] = []): Promise<Row[]> {
    return this.#tries((query) => query<Row>(text, values));
  }

  /**
   * The value of a statement that has one, such as a call of a function. Undefined without a row.
   * @throws like `query`
   */
  async value<T>(text: string, values?: readonly Param[]): Promise<T | undefined> {
    const [row] = await this.query<Readonly<Record<string, T>>>(text, values);
    return row && Object.values(row)[0];
  }

  /**
   * Runs the statements of `work` as one transaction, and again when it met another one. Each sees what
   * was committed before it began.
   * @throws like `query`
   */
  async transaction<T>(work: (query: Query) => Promise<T>): Promise<T> {
    return this.#tries(async (query) => {
      await query(`BEGIN; SET LOCAL idle_in_transaction_session_timeout = ${IDLE_TIMEOUT_MS}`);
      try {
        const result = await work(query);
        await query('COMMIT');
        return result;
      } catch (error) {
        // On a connection that is lost, it fails like the statement before.
        await query('ROLLBACK').catch(() => undefined);
        throw error;
      }
    });
  }

  async #tries<T>(work: (query: Query) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#try(work);
      } catch (error) {
        if (tries === MOST_TRIES || !TRY_AGAIN.has(codeOf(error))) throw spoolError(error);
      }
    }
  }

  async #try<T>(work: (query: Query) => Promise<T>): Promise<T> {
    if (this.#closed) throw new SpoolUnavailable('the spool is closed');
    const pool = await this.#connectedPool();
    const client = await this.#connect(pool);
    // A warning: the commit may not have reached the standby that it has to wait for.
    const warnings: string[] = [];
    const onNotice = ({ code = '' }: { code?: string | undefined }) => {
      if (code.startsWith(WARNING)) warnings.push(code);
    };
    client.on('notice', onNotice);
    let broken: Error | undefined;
    try {
      const result = await work(async <Row>(text: string, values: readonly Param[] = []) => {
        const answer = await answered<pg.QueryResult | pg.QueryResult[]>(
          client.query(text, [...values]),
        );
        // The caller knows the columns.
        return (Array.isArray(answer) ? answer.map(rowsIn) : rowsIn(answer)) as Row[];
      });
      if (warnings.length > 0)
        throw new SpoolUnavailable('the database could not confirm a commit');
      return result;
    } catch (error) {
      if (!(error instanceof pg.DatabaseError) || ENDS_CONNECTION.test(error.code ?? '')) {
        broken = error instanceof Error ? error : new Error('unknown');
        this.#drop(pool);
      }
      throw error;
    } finally {
      client.off('notice', onNotice);
      client.release(broken);
    }
  }

  /** A primary that accepts no connection may be gone, also when no statement was in progress. */
  async #connect(pool: pg.Pool): Promise<pg.PoolClient> {
    try {
      return await pool.connect();
    } catch (error) {
      // While all are in use, their statements show whether it is gone.
      if (pool.totalCount < MAX_CONNECTIONS) this.#drop(pool);
      throw error;
    }
  }

  /**
   * A connection to the primary outside the pool, which the caller ends. When it is lost, the
   * statement in progress is rejected and `end` is emitted.
   */
  async connectAlone(config: pg.ClientConfig): Promise<pg.Client> {
    if (this.#closed) throw new SpoolUnavailable('the spool is closed');
    const { connectionString } = (await this.#connectedPool()).options;
    const client = new pg.Client({
      ...{ keepAlive: true, connectionTimeoutMillis: CONNECT_TIMEOUT_MS, ...config },
      ...{ connectionString, application_name: this.#application },
    });
    // The server's last words may come with those that complete the connection.
    client.on('error', () => undefined);
    await client.connect();
    return client;
  }

  /** Several callers share one search for the primary. */
  #connectedPool(): Promise<pg.Pool> {
    if (this.#pool !== undefined) return this.#pool;
    const found = this.#findPrimary();
    this.#pool = found;
    found.then(
      (pool) => {
        this.#connected = pool;
      },
      // The next call searches again.
      () => {
        this.#pool = undefined;
      },
    );
    return found;
  }

  async #findPrimary(): Promise<pg.Pool> {
    let failure: unknown;
    for (const connectionString of this.#urls) {
      const pool = new pg.Pool({
        ...{ connectionString, types: INTEGERS, max: MAX_CONNECTIONS, keepAlive: true },
        connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
        application_name: this.#application,
      });
      // Statements in progress are rejected, and the pool replaces idle connections.
      pool.on('error', () => undefined);
      pool.on('connect', (client) => client.on('error', () => undefined));
      try {
        const found = await pool.query<{ standby: boolean }>(
          'SELECT pg_is_in_recovery() AS standby',
        );
        if (found.rows[0]?.standby === false) return pool;
        failure = new SpoolUnavailable('the database is a standby');
      } catch (error) {
        failure = error;
      }
      end(pool);
    }
    throw failure;
  }

  /** The next call searches for the primary, unless one has done so since. */
  #drop(pool: pg.Pool): void {
    if (this.#connected !== pool) return;
    this.#connected = undefined;
    this.#pool = undefined;
    end(pool);
  }

  /** Resolves once the server has let go of the connections: a migration looks for them. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const pool = await this.#pool?.catch(() => undefined);
    if (pool !== undefined) await Promise.all([allGone(pool), pool.end()]);
  }
}

/** `pool.end()` only says so to the server. It does not wait longer for one that does not answer. */
async function allGone(pool: pg.Pool): Promise<void> {
  let left = pool.totalCount;
  if (left === 0) return;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, CONNECT_TIMEOUT_MS);
    pool.on('remove', () => {
      left -= 1;
      if (left > 0) return;
      clearTimeout(timer);
      resolve();
    });
  });
}

/** Ends a pool once its statements are answered. An error of a connection that is lost is no news. */
function end(pool: pg.Pool): void {
  pool.end().catch(() => undefined);
}

const rowsIn = ({ rows }: { readonly rows: unknown[] }): unknown[] => rows;

async function answered<T>(answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const error = new SpoolUnavailable('the database did not answer in time');
    timer = setTimeout(() => reject(error), ANSWER_TIMEOUT_MS);
  });
  answer.catch(() => undefined);
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

function spoolError(error: unknown): Error {
  if (error instanceof SpoolUnavailable) return error;
  if (codeOf(error) === DISK_FULL) return new SpoolFull('the disk is full', { cause: error });
  if (!(error instanceof pg.DatabaseError)) {
    return new SpoolUnavailable('the database cannot be reached', { cause: error });
  }
  // Conflicts between transactions, insufficient resources, locks, operator intervention and system
  // errors are not the statement's fault.
  const isServers = /^(5[3-8]|08|40|25006|25P03)/.test(error.code ?? '');
  const Kind = isServers ? SpoolUnavailable : StoreRefuses;
  return new Kind(`the database refused a statement (${error.code ?? 'unknown'})`, {
    cause: error,
  });
}

/** One URL for each host of a list: `postgres://user@one:5432,two:5432/db`. */
function hostsOf(url: string): readonly string[] {
  const [, before = '', hosts = '', after = ''] =
    /^(\w+:\/\/(?:[^@/]*@)?)([^/?]*)([/?][^]*)?$/.exec(url) ?? [];
  return hosts.split(',').map((host) => before + host + after);
}
