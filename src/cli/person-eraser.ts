import { join } from 'node:path';
import type { CompleteConfig } from '../config/complete.ts';
import { PlatformEraser, type PlatformPlan } from '../local-platform/erase.ts';
import { contentsOf, type PlatformContent } from '../local-platform/export.ts';
import type {
  Eraser,
  Found,
  Purged,
  Rest,
  StoredName,
  TracedEntry,
  Traces,
} from '../spool/erasure.ts';
import { purgeBeside } from '../spool/sqlite/vacuum.ts';
import type { ShopId } from '../domain/ids.ts';
import type { NamedPerson } from './erase-person.ts';

/** Longer than an attempt usually takes, including its uploads. */
const WAIT_FOR_DELIVERIES_MS = 30_000;
/** How often the search is repeated for data that arrived meanwhile. */
const MAX_ROUNDS = 5;

/** What is stored about a person, and other people's messages that mention them. */
export interface EraseFound extends Found {
  readonly platform: PlatformPlan | undefined;
  /** An earlier run was interrupted and left work. */
  readonly isUnfinished: boolean;
  /** Their names on WhatsApp. */
  readonly names: readonly StoredName[];
}

export interface Erased {
  readonly files: number;
  readonly inFlight: readonly TracedEntry[];
  /** By the file name of the database. */
  readonly databases: Readonly<Record<string, Purged>>;
}

export interface EraseRequest {
  readonly person: NamedPerson;
  readonly shopId?: ShopId | undefined;
}

/** The stores that are searched for a person: the spool, its files, and the embedded platform. */
export class PersonEraser {
  readonly #dataDir: string;
  readonly #platform: PlatformEraser | undefined;
  readonly #shops: readonly ShopId[];
  readonly spool: Eraser;

  private constructor({ dataDir, shops }: CompleteConfig, spool: Eraser) {
    this.#dataDir = dataDir;
    this.#platform = PlatformEraser.open(platformDir(dataDir));
    this.#shops = shops.map(({ shopId }) => shopId);
    this.spool = spool;
  }

  /**
   * @param spool the opened store's; it is closed with this
   * @throws {LocalPlatformUnusable}
   */
  static open(config: CompleteConfig, spool: Eraser): PersonEraser {
    try {
      return new PersonEraser(config, spool);
    } catch (error) {
      spool.close();
      throw error;
    }
  }

  close(): void {
    this.#platform?.close();
    this.spool.close();
  }

  async find(request: EraseRequest, onProgress?: (entries: number) => void): Promise<EraseFound> {
    const found = await this.spool.find({ ...request, others: true, onProgress });
    const rest = await this.spool.rest();
    return {
      ...found,
      isUnfinished: Object.values(rest).some((names) => names.length > 0),
      names: request.person.names,
      platform: await this.#findOnPlatform(request, rest, found.traces),
    };
  }

  /** What is found on the embedded platform, for an export. */
  platformContents({ platform }: EraseFound): Iterable<PlatformContent> {
    if (platform === undefined || this.#platform === undefined) return [];
    return contentsOf(this.#platform.db, platformDir(this.#dataDir), platform);
  }

  /**
   * Erases until nothing more is found.
   * @throws the signal's reason, between two steps; the next run finds what is left
   */
  async erase(request: EraseRequest, found: EraseFound, signal: AbortSignal): Promise<Erased> {
    const { person, shopId } = request;
    const shops = shopId === undefined ? this.#shops : [shopId];
    const waitMs = WAIT_FOR_DELIVERIES_MS;
    let { traces } = found;
    let files = 0;
    const inFlight: TracedEntry[] = [];
    for (let round = 0; round < MAX_ROUNDS; round++) {
      inFlight.push(...(await this.spool.eraseRows(traces, { person, shops, waitMs, signal })));
      files += await this.spool.eraseBlobs();
      signal.throwIfAborted();
      files += await this.#eraseOnPlatform(request);
      signal.throwIfAborted();
      // What arrives afterwards has lanes of its own; what arrived before is found now.
      if (round === 0) await this.spool.eraseNames(found.names);
      ({ traces } = await this.spool.find({ ...request, others: false }));
      const platform = await this.#findOnPlatform(request, await this.spool.rest());
      if (!hasTraces({ traces, platform })) break;
    }
    await this.spool.sweepTemporary();
    signal.throwIfAborted();
    return { files, inFlight, databases: await this.purge(signal) };
  }

  /** Removes the bytes of what was erased, in this run or earlier ones. */
  async purge(signal: AbortSignal): Promise<Erased['databases']> {
    const purged = await this.spool.purge(signal);
    signal.throwIfAborted();
    if (this.#platform === undefined) return purged;
    return { ...purged, 'platform.sqlite': await purgeBeside(this.#platform.db, this.#dataDir) };
  }

  /** References that only the person's messages lead to are deleted last, after everything else. */
  async #eraseOnPlatform(request: EraseRequest): Promise<number> {
    const rest = await this.spool.rest();
    const plan = await this.#findOnPlatform(request, rest);
    if (plan !== undefined) await this.#platform?.erase(plan, { is: request.person.isOnPlatform });
    for (const kind of ['media', 'message', 'visitor'] as const) {
      await this.spool.forgetRest(kind, rest[kind]);
    }
    return plan === undefined ? 0 : plan.media.length + plan.emails.length;
  }

  async #findOnPlatform(
    { person, shopId }: EraseRequest,
    rest: Rest,
    traces?: Traces,
  ): Promise<PlatformPlan | undefined> {
    const visitors = traces?.visitors.map(({ id }) => id) ?? [];
    const sought = {
      is: person.isOnPlatform,
      isNamedIn: person.isNamedIn,
      shopId,
      messageIds: new Set(rest.message),
      visitorIds: new Set([...visitors, ...rest.visitor]),
    };
    return this.#platform?.find(sought, rest.media);
  }
}

const platformDir = (dataDir: string): string => join(dataDir, 'platform');

/** Whether a store has anything to erase. */
export function hasTraces({ traces, platform }: Pick<EraseFound, 'traces' | 'platform'>): boolean {
  const { mentions: _mentions, ...own } = platform ?? { mentions: [] };
  return [traces, own].some((lists: object) =>
    Object.values(lists).some((list: readonly unknown[]) => list.length > 0),
  );
}
