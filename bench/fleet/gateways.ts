import { copyFile, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Agent } from '../../src/local-platform/agent/agent.ts';
import { freePorts, ownLoopbackAddress, type Ports } from '../../test/support/gateway-config.ts';
import { GatewayProcess, type LogLine } from '../../test/support/gateway-process.ts';
import { PlatformFront } from '../../test/support/platform-front.ts';
import { type Cluster, type Standby, startCluster } from '../../test/support/postgres-cluster.ts';
import { writeConfig } from '../../test/support/running-gateway.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import type { Workbench } from '../support/workbench.ts';
import { type Line, type Network, openNetwork } from './network.ts';

/** What a service manager waits before it starts again what has ended by itself. */
const START_AGAIN_MS = 1000;
const STOPPED_WITHIN_MS = 2000;

/** Where customers reach a gateway, or whatever is in front of it. */
export interface Door {
  readonly host: string;
  readonly smtpPort: number;
  readonly httpUrl: string;
}

export interface Lines {
  readonly database: Line;
  readonly platform: Line;
}

/** A gateway that is started again, on the same folder and ports, however it ends. */
export class FleetGateway implements Door {
  readonly host: string;
  readonly smtpPort: number;
  readonly httpUrl: string;
  /** Where it asks the platform, and no other gateway does. */
  readonly platformAddress: string;
  readonly lines: Lines;
  /** What it wrote last when it ended by itself. */
  readonly endedByItself: string[] = [];
  /** Starts that failed because its line to the database was cut. */
  failedStarts = 0;
  /** Of the lives that are over. */
  readonly #log: LogLine[] = [];
  readonly #choices: ConstructorParameters<typeof GatewayProcess>[0];
  #process: GatewayProcess;
  #isWanted = true;
  #isOver = false;

  constructor(
    choices: ConstructorParameters<typeof GatewayProcess>[0],
    lines: Lines,
    platformAddress: string,
  ) {
    this.#choices = choices;
    this.host = choices.host;
    this.smtpPort = choices.ports.smtp;
    this.httpUrl = `http://${choices.host}:${choices.ports.http}`;
    this.lines = lines;
    this.platformAddress = platformAddress;
    this.#process = this.#launch();
  }

  /** Warnings and errors of all its lives. */
  get troubles(): readonly LogLine[] {
    return [...this.#log, ...this.#process.log.filter(isTrouble)];
  }

  ready(): Promise<void> {
    return this.#process.ready(this.#choices);
  }

  /** Kills it and starts it again after a while. Returns whether it was the signal that ended it. */
  async kill(forMs: number): Promise<boolean> {
    this.#isWanted = false;
    const killed = this.#process;
    await killed.kill();
    const { signal } = await killed.exited;
    await delay(forMs);
    this.#isWanted = true;
    this.#startAfter(killed);
    return signal === 'SIGKILL';
  }

  /** Stops it as a service manager does. Resolves with its exit code. */
  async terminate(): Promise<number | null> {
    this.#isWanted = false;
    return (await this.#process.terminate()).code;
  }

  /** After `terminate`: starts it and waits until it is ready. */
  async startAgain(): Promise<void> {
    this.#isWanted = true;
    this.#process = this.#launch();
    await this.ready();
  }

  /** Returns whether the kernel has stopped it. */
  async freeze(): Promise<boolean> {
    const { pid } = this.#process;
    this.#process.signal('SIGSTOP');
    const isStopped = async () => {
      const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
      return stat.startsWith('T', stat.lastIndexOf(')') + 2);
    };
    return waitFor('the stop', isStopped, 20, STOPPED_WITHIN_MS).catch(() => false);
  }

  thaw(): void {
    this.#process.signal('SIGCONT');
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await this.#process.kill();
  }

  /** Unless it is started already. */
  #startAfter(ended: GatewayProcess): void {
    if (this.#process !== ended) return;
    if (this.#isWanted && !this.#isOver) this.#process = this.#launch();
  }

  #launch(): GatewayProcess {
    const launched = new GatewayProcess(this.#choices);
    void launched.exited.then(async () => {
      this.#log.push(...launched.log.filter(isTrouble));
      if (!this.#isWanted || this.#isOver) return;
      const tail = launched.tail();
      if (tail.startsWith('The database of spool.url cannot be used')) this.failedStarts += 1;
      else this.endedByItself.push(tail);
      await delay(START_AGAIN_MS);
      this.#startAfter(launched);
    });
    return launched;
  }
}

const isTrouble = ({ level }: LogLine): boolean => level === 'warn' || level === 'error';

export interface Fleet {
  readonly gateways: readonly FleetGateway[];
  readonly platform: PlatformFront;
  readonly network: Network;
  /** Of the database, for this process. */
  readonly url: string;
  readonly cluster: Cluster;
  /** Follows the cluster, and is the second host in the gateways' URLs. */
  readonly standby: Standby | undefined;
}

export interface FleetOptions {
  /** Answers at the platform; nobody by default. */
  readonly agent?: Agent;
  /** What is between a gateway and the database: the URL of the database to the one for the gateway. */
  readonly pooler?: (url: string) => Promise<string>;
  /** A folder for the database's tables, but not for its log. */
  readonly databaseIn?: string;
  /** Whether each commit waits for a standby. */
  readonly isReplicated?: boolean;
}

/** Gateways in processes of their own with one PostgreSQL and one platform. */
export async function startFleet(
  bench: Workbench,
  size: number,
  {
    agent,
    pooler = (url) => Promise.resolve(url),
    isReplicated = false,
    databaseIn,
  }: FleetOptions = {},
): Promise<Fleet> {
  const network = openNetwork(bench);
  // Each gateway finds the database and the platform at an address of its own, which can be cut.
  const addresses = Array.from({ length: size }, ownLoopbackAddress);
  const cluster = await startCluster({
    settings: [`listen_addresses = '${['127.0.0.1', ...addresses].join()}'`],
  });
  bench.onEnd('database', () => cluster.stop());
  const url = await cluster.createDatabase(databaseIn);
  const standby = isReplicated ? await cluster.startStandby() : undefined;
  bench.onEnd('standby', () => standby?.stop());
  const platform = new PlatformFront({
    ...{ dir: await bench.folder(), addresses },
    ...(agent && { agent }),
  });
  await platform.start();
  bench.onEnd('platform', () => platform.stop());

  const gateways: FleetGateway[] = [];
  let keys: string | undefined;
  for (const address of addresses) {
    const lines = {
      database: await network.line({ host: address, port: cluster.port }),
      platform: await network.line({ host: address, port: platform.port }),
    };
    const dataDir = join(await bench.folder(), 'data');
    await mkdir(dataDir, { mode: 0o700 });
    if (keys !== undefined) await copyFile(keys, join(dataDir, 'keys.json'));
    keys ??= join(dataDir, 'keys.json');
    const own = await pooler(urlAt(lines.database, url, standby));
    const gateway = new FleetGateway(await choicesOf(dataDir, own, lines), lines, address);
    bench.onEnd('gateway', () => gateway.end());
    await gateway.ready();
    gateways.push(gateway);
  }
  return { gateways, platform, network, url, cluster, standby };
}

function urlAt({ host, port }: Line, url: string, standby: Standby | undefined): string {
  const more = standby === undefined ? '' : `,127.0.0.1:${standby.port}`;
  return url.replace(new URL(url).host, `${host}:${port}${more}`);
}

async function choicesOf(dataDir: string, databaseUrl: string, { platform }: Lines) {
  const host = ownLoopbackAddress();
  const ports: Ports = await freePorts(host);
  const platformUrl = `http://${platform.host}:${platform.port}`;
  const env = { SLUICE_SPOOL_URL: databaseUrl };
  return { configFile: writeConfig({ dataDir, platformUrl, host, ports }), host, ports, env };
}
