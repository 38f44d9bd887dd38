import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { chmod, chown, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePorts } from './gateway-config.ts';
import { SmtpClient } from './smtp-client.ts';
import { tempDir } from './temp-dir.ts';
import { waitFor } from './wait-for.ts';

const run = promisify(execFile);
const ENV = { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin` };

/** Why a real Postfix cannot be started here; undefined when it can. */
export function whyNoPostfix(): string | undefined {
  if (!existsSync('/usr/sbin/postfix')) return 'postfix is not installed (npm test says how)';
  return process.getuid?.() === 0 ? undefined : 'Postfix can only be started by root';
}

/** What mail needs to come in by SMTP, wait, and go out by SMTP or LMTP. */
const SERVICES = `
pickup unix n - n 60 1 pickup
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
tlsmgr unix - - n 1000? 1 tlsmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
verify unix - - n - 1 verify
flush unix n - n 1000? 0 flush
proxymap unix - - n - - proxymap
smtp unix - - n - - smtp
lmtp unix - - n - - lmtp
showq unix n - n - - showq
error unix - - n - - error
retry unix - - n - - error
discard unix - - n - - discard
anvil unix - - n - 1 anvil
scache unix - - n - 1 scache
postlog unix-dgram n - n - 1 postlogd
`;

export interface PostfixRelay {
  /** A mail client that Postfix has greeted. */
  greeted(): Promise<SmtpClient>;
  /** Messages that have not been handed on yet. */
  queued(): number;
  /** What it wrote about its deliveries. */
  log(): string;
  stop(): Promise<void>;
}

/**
 * A real Postfix with a folder and a port of its own, which hands everything on.
 * @param transport the next hop as Postfix writes it: `smtp:[127.0.0.1]:2525`
 */
export async function startPostfixRelay(transport: string): Promise<PostfixRelay> {
  const dir = tempDir();
  const folder = dir.path;
  // Its daemons run as another user.
  await chmod(folder, 0o755);
  const config = join(folder, 'etc');
  const queue = join(folder, 'queue');
  const { smtp: port } = await freePorts('127.0.0.1');
  await Promise.all([mkdir(config), mkdir(queue), makeDataFolder(join(folder, 'data'))]);
  await writeFile(join(config, 'main.cf'), mainConfiguration(folder, transport));
  await writeFile(
    join(config, 'master.cf'),
    `127.0.0.1:${port} inet n - n - - smtpd\n${SERVICES.trimStart()}`,
  );
  const postfix = (command: string) => run('postfix', ['-c', config, command], { env: ENV });
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopped ??= postfix('stop').then(() => dir.remove()));
  await postfix('start');
  await waitFor('Postfix', () => canConnect(port), 20_000, 50);
  return {
    greeted: async () => {
      const client = await SmtpClient.connect(port);
      await client.reply();
      return client;
    },
    queued: () =>
      ['maildrop', 'incoming', 'active', 'deferred', 'hold', 'corrupt'].reduce(
        (count, name) => count + filesBelow(join(queue, name)),
        0,
      ),
    log: () => readFileSync(join(folder, 'postfix.log'), 'utf8'),
    stop,
  };
}

function mainConfiguration(folder: string, transport: string): string {
  return `
compatibility_level = 3.6
queue_directory = ${join(folder, 'queue')}
data_directory = ${join(folder, 'data')}
maillog_file_prefixes = ${folder}
maillog_file = ${join(folder, 'postfix.log')}
myhostname = relay.example
mydestination =
mynetworks = 127.0.0.0/8
inet_interfaces = loopback-only
inet_protocols = ipv4
alias_maps =
alias_database =
default_transport = ${transport}
smtpd_relay_restrictions = permit_mynetworks, reject
smtpd_peername_lookup = no
smtp_host_lookup = native
smtp_tls_security_level = encrypt
smtp_tls_loglevel = 1
lmtp_tls_security_level = encrypt
lmtp_tls_loglevel = 1
queue_run_delay = 1s
minimal_backoff_time = 1s
maximal_backoff_time = 2s
smtp_destination_rate_delay = 0s
smtp_connect_timeout = 5s
`;
}

async function makeDataFolder(folder: string): Promise<void> {
  await mkdir(folder, { mode: 0o700 });
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((each) => each.startsWith('postfix:'));
  const [, , uid, gid] = line?.split(':') ?? [];
  if (uid === undefined || gid === undefined) throw new Error('there is no user postfix');
  await chown(folder, Number(uid), Number(gid));
}

async function canConnect(port: number): Promise<boolean> {
  try {
    (await SmtpClient.connect(port)).destroy();
    return true;
  } catch {
    return false;
  }
}

/** A file may move to another queue while this looks. */
function filesBelow(folder: string): number {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true }).filter((each) =>
      each.isFile(),
    ).length;
  } catch {
    return 0;
  }
}
