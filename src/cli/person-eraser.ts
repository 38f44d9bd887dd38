import { join } from 'node:path';
import type { CompleteConfig } from '../config/complete.ts';
import { PlatformEraser, type PlatformPlan } from '../local-platform/erase.ts';
import { contentsOf, type PlatformContent } from '../local-platform/export.ts';
import type { ErasedPerson } from '../local-platform/store/erase-rows.ts';
import type {
  Eraser,
  LineMention,
  Mention,
  Purged,
  RestKind,
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
export interface EraseFound {
  readonly traces: Traces;
  readonly platform: PlatformPlan | undefined;
  readonly mentions: readonly Mention[];
  readonly lines: readonly LineMention[];
  /** An earlier run was interrupted and left work. */
  readonly isUnfinished: boolean;
  /** Their names on WhatsApp. */
  readonly names: readonly StoredName[];
}

export interface Erased {
  readonly files: number;
  readonly inFlight: readonly TracedEntry[];
  /** By the file name of the database. */
  readonly bytes: Readonly<Record<string, Purged>>;
}

export interface EraseRequest {
  readonly person: NamedPerson;
  readonly shopId?: ShopId;
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
    const { person, shopId } = request;
    const found = await this.spool.find({
      ...{ person, others: true },
      ...(shopId !== undefined && { shopId }),
      ...(onProgress && { onProgress }),
    });
    const rest = await this.#rest(['blob', 'media', 'message', 'visitor']);
    const isUnfinished = rest.some(([, names]) => names.length > 0);
    const { names = [] } = person;
    return {
      ...found,
      isUnfinished,
      names,
      platform: await this.#findOnPlatform(request, found.traces),
    };
  }

  async #findOnPlatform(request: EraseRequest, traces?: Traces): Promise<PlatformPlan | undefined> {
    const visitors = traces?.visitors.map(({ id }) => id) ?? [];
    const person = await this.#erasedPerson(request, visitors);
    const media = await this.spool.rest('media');
    return this.#platform?.find(person, media);
  }

  async #rest(kinds: readonly RestKind[]): Promise<(readonly [RestKind, readonly string[]])[]> {
    return Promise.all(kinds.map(async (kind) => [kind, await this.spool.rest(kind)] as const));
  }

  async #erasedPerson(
    { person, shopId }: EraseRequest,
    visitors: readonly string[],
  ): Promise<ErasedPerson> {
    return {
      is: person.isOnPlatform ?? person.is,
      isNamedIn: person.isNamedIn,
      messageIds: new Set(await this.spool.rest('message')),
      visitorIds: new Set([...visitors, ...(await this.spool.rest('visitor'))]),
      ...(shopId !== undefined && { shopId }),
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
    const { person } = request;
    let { traces } = found;
    let files = 0;
    const inFlight: TracedEntry[] = [];
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const shops = request.shopId === undefined ? this.#shops : [request.shopId];
      const rows = await this.spool.eraseRows(traces, {
        ...{ person, shops, waitMs: WAIT_FOR_DELIVERIES_MS, signal },
      });
      inFlight.push(...rows.inFlight);
      files += await this.spool.eraseBlobs();
      signal.throwIfAborted();
      files += await this.#eraseOnPlatform(request);
      signal.throwIfAborted();
      // What arrives afterwards has lanes of its own; what arrived before is found now.
      if (round === 0) await this.spool.eraseNames(found.names);
      ({ traces } = await this.spool.find({ ...request, others: false }));
      if (isNothing(traces) && !(await this.#isOnPlatform(request))) break;
    }
    await this.spool.sweepTemporary();
    signal.throwIfAborted();
    return { files, inFlight, bytes: await this.purge(signal) };
  }

  /** Removes the bytes of what was erased, in this run or earlier ones. */
  async purge(signal: AbortSignal): Promise<Erased['bytes']> {
    const bytes: Record<string, Purged> = { ...(await this.spool.purge(signal)) };
    signal.throwIfAborted();
    if (this.#platform !== undefined) {
      bytes['platform.sqlite'] = await purgeBeside(this.#platform.db, this.#dataDir);
    }
    return bytes;
  }

  /** References that only the person's messages lead to are deleted last, after everything else. */
  async #eraseOnPlatform(request: EraseRequest): Promise<number> {
    const rest = await this.#rest(['media', 'message', 'visitor']);
    const plan = await this.#findOnPlatform(request);
    if (plan !== undefined)
      await this.#platform?.erase(plan, await this.#erasedPerson(request, []));
    for (const [kind, names] of rest) await this.spool.forgetRest(kind, names);
    return plan === undefined ? 0 : plan.media.length + plan.emails.length;
  }

  async #isOnPlatform(request: EraseRequest): Promise<boolean> {
    const plan = await this.#findOnPlatform(request);
    return plan !== undefined && !isNothingOf(plan);
  }
}

const platformDir = (dataDir: string): string => join(dataDir, 'platform');

export const isNothing = (traces: Traces): boolean => areEmpty(traces);

export const isNothingOf = ({ mentions: _mentions, ...own }: PlatformPlan): boolean =>
  areEmpty(own);

const areEmpty = (lists: object): boolean =>
  Object.values(lists).every((list: readonly unknown[]) => list.length === 0);
