import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { chmod, chown, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runProgram } from './run-program.ts';
import { BENCH_DOMAIN } from './smtp-source.ts';
import { canConnect } from './tcp.ts';
import { waitUntil } from './wait-until.ts';
import type { Workbench } from './workbench.ts';

export interface Postfix {
  readonly port: number;
  /** Empties the hold queue. */
  clear(): Promise<void>;
}

/** What a message needs to come in, be made durable and stay in the hold queue. */
const SERVICES = `
pickup    unix  n - n 60    1 pickup
cleanup   unix  n - n -     0 cleanup
qmgr      unix  n - n 300   1 qmgr
tlsmgr    unix  - - n 1000? 1 tlsmgr
rewrite   unix  - - n -     - trivial-rewrite
bounce    unix  - - n -     0 bounce
defer     unix  - - n -     0 bounce
trace     unix  - - n -     0 bounce
verify    unix  - - n -     1 verify
flush     unix  n - n 1000? 0 flush
proxymap  unix  - - n -     - proxymap
showq     unix  n - n -     - showq
error     unix  - - n -     - error
retry     unix  - - n -     - error
discard   unix  - - n -     - discard
local     unix  - n n -     - local
anvil     unix  - - n -     1 anvil
postlog   unix-dgram n - n - 1 postlogd
`;

/**
 * A real Postfix with a folder and a port of its own. It fsyncs as it comes; it accepts everything
 * for the domain into its hold queue, where nothing else happens to it. Left out is what would
 * slow it down without making a message safer: limits per client, and the pause that it takes
 * when more comes in than goes out, which the hold queue would trigger for ever.
 */
export async function startPostfix(bench: Workbench): Promise<Postfix> {
  const folder = await bench.folder();
  // Its daemons run as another user.
  await chmod(folder, 0o755);
  const config = join(folder, 'etc');
  const port = await freePort();
  await mkdir(config);
  await makeDataFolder(join(folder, 'data'));
  await mkdir(join(folder, 'queue'));
  await writeFile(join(config, 'main.cf'), mainConfiguration(folder));
  await writeFile(
    join(config, 'master.cf'),
    `127.0.0.1:${port} inet n - n - - smtpd\n${SERVICES.trimStart()}`,
  );
  bench.onEnd('postfix', async () => {
    await runProgram('postfix', ['-c', config, 'stop']);
  });
  await runProgram('postfix', ['-c', config, 'start']);
  await waitUntil('Postfix', 15_000, async () => ((await canConnect(port)) ? true : undefined));
  return {
    port,
    clear: async () => {
      await runProgram('postsuper', ['-c', config, '-d', 'ALL', 'hold']);
    },
  };
}

function mainConfiguration(folder: string): string {
  return `
compatibility_level = 3.6
queue_directory = ${join(folder, 'queue')}
data_directory = ${join(folder, 'data')}
myhostname = mx.${BENCH_DOMAIN}
mydestination = ${BENCH_DOMAIN}
mynetworks = 127.0.0.0/8
inet_interfaces = loopback-only
inet_protocols = ipv4
local_recipient_maps =
alias_maps =
alias_database =
smtpd_relay_restrictions = permit_mynetworks, reject_unauth_destination
smtpd_client_restrictions = check_client_access static:HOLD
smtpd_peername_lookup = no
smtpd_client_connection_count_limit = 0
message_size_limit = 36700160
mailbox_size_limit = 0
in_flow_delay = 0s
`;
}

async function makeDataFolder(folder: string): Promise<void> {
  await mkdir(folder, { mode: 0o700 });
  const [, , uid, gid] = ((await readFile('/etc/passwd', 'utf8'))
    .split('\n')
    .find((line) => line.startsWith('postfix:'))
    ?.split(':') ?? []) as (string | undefined)[];
  if (uid === undefined || gid === undefined) throw new Error('there is no user postfix');
  await chown(folder, Number(uid), Number(gid));
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
