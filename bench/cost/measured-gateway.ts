import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Gateway, type GatewayOptions, startGateway } from '../support/gateway.ts';
import { ProcessMemory } from '../support/process-memory.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { Workbench } from '../support/workbench.ts';
import { namesThreadsIn, type ThreadTime, threadTime } from './thread-time.ts';

/** What a gateway used for a number of messages, each. */
export interface Cost {
  /** Milliseconds on a processor. */
  readonly ms: number;
  readonly byThread: ThreadTime;
  /** Bytes that it had the kernel write to a disk. */
  readonly written: number;
}

const SETTLED_MS = 300;
const SETTLED_WITHIN_MS = 60_000;
/** At most this share of a processor while nothing arrives. */
const AT_REST = 0.03;

/** A gateway whose processor time is known by thread. */
export class MeasuredGateway {
  readonly gateway: Gateway;
  readonly #names: string;

  private constructor(gateway: Gateway, names: string) {
    this.gateway = gateway;
    this.#names = names;
  }

  static async start(bench: Workbench, options: GatewayOptions): Promise<MeasuredGateway> {
    const names = join(await bench.folder(), 'threads');
    const nodeArguments = [namesThreadsIn(names), ...(options.nodeArguments ?? [])];
    return new MeasuredGateway(await startGateway(bench, { ...options, nodeArguments }), names);
  }

  /** The cost of each message, with what the gateway does after the last one. */
  async costOf(messages: number, work: () => Promise<unknown>): Promise<Cost> {
    const [before, writtenBefore] = [await this.#time(), await this.#written()];
    await work();
    await this.rests();
    const after = await this.#time();
    const byThread = new Map(
      [...after].map(([role, ms]) => [role, (ms - (before.get(role) ?? 0)) / messages]),
    );
    return {
      ms: [...byThread.values()].reduce((sum, each) => sum + each, 0),
      byThread,
      written: ((await this.#written()) - writtenBefore) / messages,
    };
  }

  /** Resolves when it has nothing to do. */
  async rests(): Promise<void> {
    let [at, used] = [performance.now(), sum(await this.#time())];
    await waitUntil('rest', SETTLED_WITHIN_MS, async () => {
      if (performance.now() - at < SETTLED_MS) return undefined;
      const [now, total] = [performance.now(), sum(await this.#time())];
      const share = (total - used) / (now - at);
      [at, used] = [now, total];
      return share < AT_REST ? true : undefined;
    });
  }

  /** The share of a processor that it uses from now on, in percent. */
  async percentFor(ms: number): Promise<number> {
    const before = sum(await this.#time());
    await new Promise((resolve) => setTimeout(resolve, ms));
    return ((sum(await this.#time()) - before) / ms) * 100;
  }

  async residentMb(): Promise<number> {
    return (await new ProcessMemory(this.gateway.pid).resident()) / 1024 ** 2;
  }

  #time(): Promise<ThreadTime> {
    return threadTime(this.gateway.pid, this.#names);
  }

  async #written(): Promise<number> {
    // proc(5): what the process caused to be sent to the storage layer.
    const io = await readFile(`/proc/${this.gateway.pid}/io`, 'utf8');
    return Number(/^write_bytes: (\d+)$/m.exec(io)?.[1] ?? Number.NaN);
  }
}

const sum = (time: ThreadTime): number => [...time.values()].reduce((one, each) => one + each, 0);
