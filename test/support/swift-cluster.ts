import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, writeFileSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ownLoopbackAddress, portsOf } from './gateway-config.ts';
import { tempDir } from './temp-dir.ts';
import { waitFor } from './wait-for.ts';

const run = promisify(execFile);

/** What an S3 client needs to use it. */
export interface SwiftCluster {
  readonly host: string;
  readonly port: number;
  readonly endpoint: string;
  readonly region: string;
  readonly accessKey: string;
  readonly secretKey: string;
  stop(): Promise<void>;
}

const PACKAGES = ['swift-proxy', 'swift-account', 'swift-container', 'swift-object'];
const SERVERS = ['account', 'container', 'object', 'proxy'] as const;
type ServerName = (typeof SERVERS)[number];

/** Every server reads it, wherever its own configuration is; Debian's packages bring it. */
const SHARED_CONFIG = '/etc/swift/swift.conf';

/** Not the SDK's default: requests signed for another region are refused. */
const REGION = 'eu-north-1';
const ACCESS_KEY = 'sluice:tester';
const SECRET_KEY = 'secret-of-sluice';

/** Why OpenStack Swift cannot be started here; undefined when it can. */
function whyNoSwift(): string | undefined {
  const needed = [...SERVERS.map(programOf), SHARED_CONFIG];
  const missing = needed.filter((path) => !existsSync(path));
  if (missing.length === 0) return undefined;
  return `there is no ${missing.join(', ')}: apt-get install --no-install-recommends ${PACKAGES.join(' ')}`;
}

const programOf = (name: ServerName): string => `/usr/bin/swift-${name}-server`;

/**
 * OpenStack Swift with its S3 API, in a folder of its own and on a loopback address of its own: one
 * server of each kind, and one replica of everything. It syncs what it stores.
 */
export async function startSwift(): Promise<SwiftCluster> {
  const why = whyNoSwift();
  if (why !== undefined) throw new Error(why);
  const folder = tempDir();
  const host = ownLoopbackAddress();
  const [account = 0, container = 0, object = 0, port = 0] = await portsOf(host, SERVERS.length);
  const setting: Setting = { folder: folder.path, host };
  const servers: RunningServer[] = [];
  const stop = async () => {
    for (const { child, exited } of servers.toReversed()) {
      child.kill();
      await exited;
    }
    folder.remove();
  };
  const start = async (name: ServerName, at: number) => {
    const server = startServer(setting, name, at);
    servers.push(server);
    await isUp(server);
  };
  try {
    await assertAttributes(folder.path);
    await mkdir(join(folder.path, 'devices', DEVICE), { recursive: true });
    await buildRing(setting, 'account', account);
    await buildRing(setting, 'container', container);
    await buildRing(setting, 'object', object);
    await Promise.all([
      start('account', account),
      start('container', container),
      start('object', object),
    ]);
    // Last: it would avoid a server that refused a connection for a minute.
    await start('proxy', port);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    ...{ host, port, endpoint: `http://${host}:${port}`, region: REGION },
    ...{ accessKey: ACCESS_KEY, secretKey: SECRET_KEY, stop },
  };
}

interface Setting {
  readonly folder: string;
  readonly host: string;
}

interface RunningServer {
  readonly name: ServerName;
  readonly child: ChildProcess;
  readonly exited: Promise<unknown>;
  readonly health: string;
  readonly log: string;
}

const DEVICE = 'disk';

/** @throws the object server keeps what it knows of an object in attributes of its file */
async function assertAttributes(folder: string): Promise<void> {
  const attempt = 'import os, sys; os.setxattr(sys.argv[1], "user.trial", b"x" * 2048)';
  try {
    await run('/usr/bin/python3', ['-c', attempt, folder]);
  } catch (error) {
    const why = `${folder} takes no user attributes of 2 KiB: set TMPDIR to a folder on ext4 or XFS`;
    throw new Error(why, { cause: error });
  }
}

/** Sixteen partitions of one replica on the only device. */
async function buildRing({ folder, host }: Setting, name: string, port: number): Promise<void> {
  const builder = join(folder, `${name}.builder`);
  const add = ['--region', '1', '--zone', '1', '--ip', host, '--port', String(port)];
  const device = ['--device', DEVICE, '--weight', '1'];
  for (const command of [['create', '4', '1', '0'], ['add', ...add, ...device], ['rebalance']])
    await run('/usr/bin/swift-ring-builder', [builder, ...command]);
}

function startServer({ folder, host }: Setting, name: ServerName, port: number): RunningServer {
  const config = join(folder, `${name}-server.conf`);
  const log = join(folder, `${name}.log`);
  const own = name === 'proxy' ? PROXY : storageConfig(name);
  writeFileSync(config, commonConfig(folder, host, port) + own);
  const output = openSync(log, 'a');
  const child = spawn(programOf(name), [config, '--verbose'], {
    stdio: ['ignore', output, output],
  });
  closeSync(output);
  const health = `http://${host}:${port}/healthcheck`;
  return { name, child, exited: once(child, 'exit'), health, log };
}

async function isUp({ name, child, health, log }: RunningServer): Promise<void> {
  const probe = async () => {
    if (child.exitCode !== null) throw new Error(`it exited with ${child.exitCode}`);
    return (await fetch(health).catch(() => undefined))?.ok;
  };
  try {
    await waitFor(`swift-${name}-server`, probe, 50);
  } catch (error) {
    const said = await readFile(log, 'utf8').catch(() => '');
    throw new Error(`swift-${name}-server did not start\n${said}`, { cause: error });
  }
}

/** Without workers a server is one process, which does not change its user. */
const commonConfig = (folder: string, host: string, port: number): string => `[DEFAULT]
bind_ip = ${host}
bind_port = ${port}
swift_dir = ${folder}
devices = ${join(folder, 'devices')}
mount_check = false
workers = 0

[filter:healthcheck]
use = egg:swift#healthcheck

`;

/** Listings are exact: a change is answered when its container knows of it, however busy the machine. */
const storageConfig = (name: ServerName): string => `[pipeline:main]
pipeline = healthcheck ${name}-server

[app:${name}-server]
use = egg:swift#${name}
container_update_timeout = 60
`;

/**
 * tempauth refuses to work without a cache, although a signed request needs none. Nothing listens on
 * the discard port: swift then does without.
 */
const PROXY = `[pipeline:main]
pipeline = catch_errors healthcheck gatekeeper cache s3api tempauth proxy-server

[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
node_timeout = 60
conn_timeout = 10

[filter:catch_errors]
use = egg:swift#catch_errors

[filter:gatekeeper]
use = egg:swift#gatekeeper

[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:9

[filter:s3api]
use = egg:swift#s3api
location = ${REGION}
s3_acl = false

[filter:tempauth]
use = egg:swift#tempauth
user_${ACCESS_KEY.replace(':', '_')} = ${SECRET_KEY} .admin
`;
