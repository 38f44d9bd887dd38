import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type ConfigChoices,
  freePorts,
  ownLoopbackAddress,
  type Ports,
} from '../../test/support/gateway-config.ts';
import { GatewayProcess } from '../../test/support/gateway-process.ts';
import { writeConfig } from '../../test/support/running-gateway.ts';
import type { Workbench } from '../support/workbench.ts';

/** The share of kills during a start, possibly during recovery. */
const WHILE_STARTING = 0.15;

export interface Lives {
  /** From the start of the process until its last port is open, for starts that got this far. */
  readonly startMs: number[];
  /** Entries in flight at a kill that the next start queued again. */
  requeued: number;
  /** Files whose message was not committed. */
  orphans: number;
}

/** A gateway on one data folder and fixed ports that is killed and restarted at once. */
export class GatewayThatDies {
  readonly host = ownLoopbackAddress();
  readonly lives: Lives = { startMs: [], requeued: 0, orphans: 0 };
  readonly #choices: ConstructorParameters<typeof GatewayProcess>[0];
  #process: GatewayProcess;

  private constructor(host: string, ports: Ports, configFile: string) {
    this.host = host;
    this.#choices = { host, ports, configFile };
    this.#process = new GatewayProcess(this.#choices);
  }

  static async start(
    bench: Workbench,
    dataDir: string,
    platformUrl: string,
    more: Pick<ConfigChoices, 'spoolUrl'> = {},
  ): Promise<GatewayThatDies> {
    const host = ownLoopbackAddress();
    const ports = await freePorts(host);
    await mkdir(dataDir, { recursive: true });
    const choices = { dataDir, platformUrl, host, ports, ...more };
    const file = writeConfig(choices, join(dataDir, '..'));
    const gateway = new GatewayThatDies(host, ports, file);
    bench.onEnd('gateway', () => gateway.#process.kill());
    await gateway.ready();
    return gateway;
  }

  get smtpPort(): number {
    return this.#choices.ports.smtp;
  }

  get httpPort(): number {
    return this.#choices.ports.http;
  }

  get httpUrl(): string {
    return `http://${this.host}:${this.httpPort}`;
  }

  /** Kills it at a random moment and restarts it at once. */
  async dieOnce(random: () => number, lifeMs: number): Promise<void> {
    if (random() < WHILE_STARTING) {
      await delay(random() * (this.lives.startMs.at(-1) ?? 1000));
    } else {
      await this.ready();
      await delay(random() * lifeMs);
    }
    await this.restart('SIGKILL');
  }

  /** Stops it with the signal and restarts it at once. */
  async restart(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    if (signal === 'SIGKILL') await this.#process.kill();
    else await this.#process.terminate();
    this.#readLives();
    this.#process = new GatewayProcess(this.#choices);
  }

  async ready(): Promise<void> {
    const started = performance.now();
    await this.#process.ready(this.#choices);
    this.lives.startMs.push(performance.now() - started);
  }

  /** Terminates it and checks that it exits with status 0. */
  async stop(): Promise<void> {
    const { code, signal } = await this.#process.terminate();
    this.#readLives();
    if (code !== 0) {
      throw new Error(`the gateway ended with ${code ?? signal ?? '?'}\n${this.#process.tail()}`);
    }
  }

  #readLives(): void {
    for (const { message, requeued, orphans } of this.#process.log) {
      if (message !== 'spool.recovered') continue;
      this.lives.requeued += Number(requeued);
      this.lives.orphans += Number(orphans);
    }
  }
}
