import { spawnSync } from 'node:child_process';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writePostfixInstance } from '../../test/support/postfix-instance.ts';
import { runProgram } from './run-program.ts';
import { BENCH_DOMAIN } from './smtp-source.ts';
import { canConnect } from './tcp.ts';
import { waitUntil } from './wait-until.ts';
import type { Workbench } from './workbench.ts';

export interface Postfix {
  readonly port: number;
  /** The id of the process that starts all others. */
  readonly pid: number;
  /** Empties the hold queue. */
  clear(): Promise<void>;
}

/** Whether Postfix and its load generator can be started. */
export const isPostfixInstalled = (): boolean =>
  [['postconf', 'mail_version'], ['smtp-source']].every(
    ([command = '', ...args]) => spawnSync(command, args).error === undefined,
  );

const SETTINGS = `
myhostname = mx.${BENCH_DOMAIN}
mydestination = ${BENCH_DOMAIN}
local_recipient_maps =
smtpd_relay_restrictions = permit_mynetworks, reject_unauth_destination
smtpd_client_restrictions = check_client_access static:HOLD
smtpd_client_connection_count_limit = 0
message_size_limit = 36700160
mailbox_size_limit = 0
in_flow_delay = 0s
`;

/**
 * Starts a real Postfix with a folder and a port of its own. It uses fsync by default and accepts
 * all mail for the domain into its hold queue, where no further work happens. Disabled are features
 * that would slow it down without making messages safer: limits per client, and the delay when more
 * mail arrives than leaves, which the hold queue would always cause.
 */
export async function startPostfix(bench: Workbench): Promise<Postfix> {
  const folder = await bench.folder();
  const port = await freePort();
  const { config, queue } = await writePostfixInstance(folder, port, SETTINGS);
  bench.onEnd('postfix', async () => {
    await runProgram('postfix', ['-c', config, 'stop']);
  });
  await runProgram('postfix', ['-c', config, 'start']);
  await waitUntil('Postfix', 15_000, async () => ((await canConnect(port)) ? true : undefined));
  const pid = Number(await readFile(join(queue, 'pid/master.pid'), 'utf8'));
  return {
    port,
    pid,
    clear: async () => {
      await runProgram('postsuper', ['-c', config, '-d', 'ALL', 'hold']);
    },
  };
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
