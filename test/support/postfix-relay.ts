import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePorts } from './gateway-config.ts';
import { writePostfixInstance } from './postfix-instance.ts';
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

export interface PostfixRelay {
  /** A mail client that Postfix has greeted. */
  greeted(): Promise<SmtpClient>;
  /** The queue ids of the messages that have not been handed on yet. */
  queued(): readonly string[];
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
  const { smtp: port } = await freePorts('127.0.0.1');
  const { config, queue } = await writePostfixInstance(folder, port, settings(folder, transport));
  const postfix = (command: string) => run('postfix', ['-c', config, command], { env: ENV });
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopped ??= postfix('stop').then(() => dir.remove()));
  await postfix('start');
  await waitFor('Postfix', () => canConnect(port), 50);
  return {
    greeted: async () => {
      const client = await SmtpClient.connect(port);
      await client.reply();
      return client;
    },
    queued: () =>
      ['maildrop', 'incoming', 'active', 'deferred', 'hold', 'corrupt'].flatMap((name) =>
        filesBelow(join(queue, name)),
      ),
    log: () => readFileSync(join(folder, 'postfix.log'), 'utf8'),
    stop,
  };
}

function settings(folder: string, transport: string): string {
  return `
maillog_file_prefixes = ${folder}
maillog_file = ${join(folder, 'postfix.log')}
myhostname = relay.example
mydestination =
default_transport = ${transport}
smtpd_relay_restrictions = permit_mynetworks, reject
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

async function canConnect(port: number): Promise<boolean> {
  try {
    (await SmtpClient.connect(port)).destroy();
    return true;
  } catch {
    return false;
  }
}

/** A file may move to another queue while this looks. */
function filesBelow(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((each) => each.isFile())
      .map(({ name }) => name);
  } catch {
    return [];
  }
}
