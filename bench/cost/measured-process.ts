import { readFile } from 'node:fs/promises';
import { processFamily } from '../support/process-family.ts';
import { ProcessMemory } from '../support/process-memory.ts';
import { waitUntil } from '../support/wait-until.ts';
import { countFsyncs } from './fsyncs.ts';
import type { Probe } from './probe.ts';
import { byRole, type ByRole, sum, threadTime } from './thread-time.ts';

/** What one message cost, in one round. */
export interface Cost {
  /** Milliseconds on a processor. */
  readonly ms: number;
  /** Empty if its threads are not known. */
  readonly msByThread: ByRole;
  /** Bytes that the kernel was made to write to a disk. */
  readonly written: number;
  /** Undefined where they cannot be counted. */
  readonly fsyncs: number | undefined;
  /** Bytes of heap; undefined if they are not counted. */
  readonly allocated: number | undefined;
  readonly allocatedByThread: ByRole;
  readonly perSecond: number;
}

const SETTLED_MS = 300;
const SETTLED_WITHIN_MS = 60_000;
/** At most this share of a processor while nothing arrives. */
const AT_REST = 0.03;

/** A process, with its children, whose use of the machine is known. */
export class MeasuredProcess {
  readonly #pid: number;
  readonly #probe: Probe | undefined;

  /** @param probe knows the threads of a node process */
  constructor(pid: number, probe?: Probe) {
    this.#pid = pid;
    this.#probe = probe;
  }

  /**
   * The cost of each message, with what the process does after the last one.
   * @param work resolves with messages a second
   */
  async costOf(messages: number, work: () => Promise<number>): Promise<Cost> {
    // What these questions cost is outside of the measured time.
    const heapBefore = await this.#allocated();
    const fsyncs = await countFsyncs(await processFamily(this.#pid));
    const writtenBefore = await this.#written();
    const timeBefore = await this.#time();
    const perSecond = await work();
    await this.rests();
    const time = each(messages, timeBefore, await this.#time());
    const written = ((await this.#written()) - writtenBefore) / messages;
    const synced = await fsyncs.stop();
    const heap = each(messages, heapBefore, await this.#allocated());
    return {
      ms: sum(time.values()),
      msByThread: this.#probe === undefined ? new Map() : time,
      written,
      fsyncs: synced === undefined ? undefined : synced / messages,
      allocated: heap.size === 0 ? undefined : sum(heap.values()),
      allocatedByThread: heap,
      perSecond,
    };
  }

  /** Resolves when it has nothing to do. */
  async rests(): Promise<void> {
    let [at, used] = [performance.now(), sum((await this.#time()).values())];
    await waitUntil('rest', SETTLED_WITHIN_MS, async () => {
      if (performance.now() - at < SETTLED_MS) return undefined;
      const [now, total] = [performance.now(), sum((await this.#time()).values())];
      const share = (total - used) / (now - at);
      [at, used] = [now, total];
      return share < AT_REST ? true : undefined;
    });
  }

  /** The share of a processor that it uses from now on, in percent. */
  async percentFor(ms: number): Promise<number> {
    const before = sum((await this.#time()).values());
    await new Promise((resolve) => setTimeout(resolve, ms));
    return ((sum((await this.#time()).values()) - before) / ms) * 100;
  }

  async residentMb(): Promise<number> {
    return (await new ProcessMemory(this.#pid).resident()) / 1024 ** 2;
  }

  async #time(): Promise<ByRole> {
    return threadTime(this.#pid, (await this.#probe?.programs()) ?? new Map());
  }

  async #allocated(): Promise<ByRole> {
    if (this.#probe === undefined) return new Map();
    const heap = await this.#probe.allocated(await processFamily(this.#pid));
    return byRole(heap, await this.#probe.programs());
  }

  async #written(): Promise<number> {
    // proc(5): what a process, and those of its children that have ended, caused to be sent to the storage layer.
    const files = (await processFamily(this.#pid)).map((pid) => `/proc/${pid}/io`);
    const texts = await Promise.all(files.map((file) => readFile(file, 'utf8').catch(() => '')));
    return sum(texts.map((text) => Number(/^write_bytes: (\d+)$/m.exec(text)?.[1] ?? 0)));
  }
}

/** The part of each message in what was added. */
function each(messages: number, before: ByRole, after: ByRole): ByRole {
  return new Map([...after].map(([role, at]) => [role, (at - (before.get(role) ?? 0)) / messages]));
}
