import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { PlatformTraits } from '../simulation/platform-traits.ts';
import {
  freePorts,
  gatewayConfig,
  ownLoopbackAddress,
  type Ports,
  type ShopChoices,
  shopNamed,
} from './gateway-config.ts';
import { GatewayProcess, type ProcessChoices } from './gateway-process.ts';
import { PlatformModelServer } from './platform-model-server.ts';
import { sluiceHere } from './sluice-command.ts';
import { lendBallast } from './store.ts';
import { tempDir } from './temp-dir.ts';

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
/** The contact form of every shop: who wrote stands in Reply-To. */
export const FORM_SENDER = 'forms@site.example';

/** A shop of a scene, with a platform that may be its own. */
export interface SceneShop extends ShopChoices {
  readonly platform: PlatformModelServer;
}

/** An entry as `queue list --json` prints it. */
export interface ListedEntry {
  readonly id: string;
  readonly shop: string;
  readonly channel: string;
  readonly state: string;
  readonly reason?: string;
  readonly remoteId: string;
  readonly attempts: number;
}

export interface DeliverySettings {
  readonly requestTimeout?: string;
  readonly concurrency?: number;
  readonly paused?: boolean;
}

export interface SceneChoices<Name extends string> {
  /** What each shop's platform is like, where that is not as usual. */
  readonly shops: Readonly<Record<Name, Partial<PlatformTraits>>>;
  /** All shops on the platform of the first. */
  readonly onePlatform?: boolean;
  readonly delivery?: DeliverySettings;
  /** The URL of a shop's platform, if another server stands before it. */
  readonly urlOf?: (shop: SceneShop) => string;
  /** The gateway's environment. */
  readonly env?: ProcessChoices['env'];
}

/** The usual time to an answer: tests have no time to wait. */
const QUICK: Partial<PlatformTraits> = { latencyMs: [1, 5] };

/**
 * The built program as a process of its own, with several shops before modelled platforms. It can
 * end and be started again on the same folder and ports.
 */
export class ShopsScene<Name extends string> {
  readonly host: string;
  readonly shops: Readonly<Record<Name, SceneShop>>;
  readonly ports: Ports;
  readonly #dir = tempDir();
  readonly #urlOf: (shop: SceneShop) => string;
  #delivery: DeliverySettings;
  #gateway: GatewayProcess | undefined;

  private constructor(
    shops: Readonly<Record<Name, SceneShop>>,
    { host, ports }: { host: string; ports: Ports },
    { delivery = {}, urlOf = ({ platform }) => platform.url }: SceneChoices<Name>,
  ) {
    this.shops = shops;
    this.host = host;
    this.ports = ports;
    this.#delivery = delivery;
    this.#urlOf = urlOf;
    this.#writeConfig();
  }

  /** The platforms, and a gateway that is ready. */
  static async start<Name extends string>(choices: SceneChoices<Name>): Promise<ShopsScene<Name>> {
    const shops = await shopsOf(choices);
    const host = ownLoopbackAddress();
    const doors = { host, ports: await freePorts(host) };
    const scene = new ShopsScene(shops, doors, choices);
    try {
      await scene.startGateway(choices.env === undefined ? {} : { env: choices.env });
    } catch (error) {
      await scene.stop();
      throw error;
    }
    return scene;
  }

  get gateway(): GatewayProcess {
    if (this.#gateway === undefined) throw new Error('the gateway was not started');
    return this.#gateway;
  }

  get dataDir(): string {
    return this.#dir.path;
  }

  get all(): readonly SceneShop[] {
    return Object.values<SceneShop>(this.shops);
  }

  get httpUrl(): string {
    return `http://${this.host}:${this.ports.http}`;
  }

  /** Starts the gateway, after it has ended or for the first time. */
  async startGateway(how: Pick<ProcessChoices, 'env'> = {}): Promise<void> {
    const { host, ports } = this;
    const choices = { configFile: this.#configFile, host, ports, ...how };
    this.#gateway = await GatewayProcess.start(choices);
  }

  /** Other settings of delivery, which the running gateway takes up. */
  reload(delivery: DeliverySettings): void {
    this.#delivery = { ...this.#delivery, ...delivery };
    this.#writeConfig();
    this.gateway.signal('SIGHUP');
  }

  /** Runs a command beside the gateway. @returns how it ended, and what it wrote */
  async command(...args: readonly string[]): Promise<{ code: number; out: string; err: string }> {
    const child = spawn(process.execPath, [MAIN, ...args, '--config', this.#configFile], {
      env: { PATH: process.env['PATH'] },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = new Promise<number>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => resolve(code ?? -1));
    });
    const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    return { code, out, err };
  }

  /** The newest entries of a shop. @throws when the command fails */
  async entries(shop: SceneShop): Promise<readonly ListedEntry[]> {
    const args = ['queue', 'list', '--shop', shop.name, '--limit', '1000', '--json'];
    const { code, stdout, stderr } = await sluiceHere([...args, '--config', this.#configFile]);
    if (code !== 0) throw new Error(`queue list ended with ${code}: ${stderr}`);
    // As docs/json.md describes it.
    return JSON.parse(stdout) as readonly ListedEntry[];
  }

  /** What /metrics shows. */
  async metrics(): Promise<string> {
    const response = await fetch(`http://${this.host}:${this.ports.admin}/metrics`, {
      headers: { authorization: 'Bearer of-the-console', connection: 'close' },
    });
    if (!response.ok) throw new Error(`/metrics answered ${response.status}`);
    return response.text();
  }

  /** The sum of a metric's series that have all of these labels; 0 when there is none. */
  async metric(name: string, labels: Readonly<Record<string, string>> = {}): Promise<number> {
    const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
    return (await this.metrics())
      .split('\n')
      .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
      .filter((line) => wanted.every((label) => line.includes(label)))
      .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  }

  /** How often an alarm has rung since the gateway was started. */
  alarms(alarm?: string): Promise<number> {
    return this.metric('sluice_alarms_total', alarm === undefined ? {} : { alarm });
  }

  async stop(): Promise<void> {
    // A process that is stopped ends only once it goes on; SIGKILL does not wait for that.
    await this.#gateway?.kill();
    await Promise.all(
      [...new Set(this.all.map(({ platform }) => platform))].map((each) => each.stop()),
    );
    this.#dir.remove();
  }

  get #configFile(): string {
    return join(this.#dir.path, 'gateway.json');
  }

  #writeConfig(): void {
    lendBallast(this.#dir.path);
    const { host, ports } = this;
    const shops = this.all.map(({ platform, ...shop }) => ({
      ...shop,
      platformUrl: this.#urlOf({ platform, ...shop }),
      email: { inboundTokens: [], formSenders: [FORM_SENDER] },
    }));
    const config = gatewayConfig({ dataDir: this.#dir.path, host, ports, shops });
    const delivery = { ...config.delivery, ...this.#delivery };
    writeFileSync(this.#configFile, JSON.stringify({ ...config, delivery }));
  }
}

async function shopsOf<Name extends string>({
  shops,
  onePlatform = false,
}: SceneChoices<Name>): Promise<Readonly<Record<Name, SceneShop>>> {
  // The keys of this very record.
  const names = Object.keys(shops) as Name[];
  const known = names.map((name, n) => ({ ...shopNamed(name, n), name }));
  const start = (served: typeof known, name: Name | undefined) =>
    PlatformModelServer.start({
      shops: served,
      traits: { ...QUICK, ...(name !== undefined && shops[name]) },
    });
  const common = onePlatform ? await start(known, names[0]) : undefined;
  const complete = await Promise.all(
    known.map(async (shop): Promise<[Name, SceneShop]> => {
      const platform = common ?? (await start([shop], shop.name));
      return [shop.name, { ...shop, platform }];
    }),
  );
  // One entry for each name.
  return Object.fromEntries(complete) as Record<Name, SceneShop>;
}
