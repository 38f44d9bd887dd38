import type { PlatformClient } from '../platform-api/client.ts';
import { PlatformError } from '../platform-api/errors.ts';
import type { MediaPermission } from '../platform-api/schemas.ts';
import type { Clock } from '../runtime/clock.ts';
import type { ShopHealth } from '../spool/shop-health.ts';
import type { Channel } from '../domain/channel.ts';
import type { ShopId } from '../domain/ids.ts';
import { AlikeRefusals } from './alike-refusals.ts';
import { type Part, readAnswer, told } from './answer.ts';
import { LearnedAnswers } from './evidence.ts';
import { Health } from './health.ts';

const READS_TIMEOUT_MS = 5000;
const READS_KNOWN_FOR_MS = 5000;

/** Whether reads work: `failed` only where they worked before. */
export type Reads = 'answered' | 'failed' | 'unknown';

export interface ShopSettings {
  readonly shopId: ShopId;
  /** The configured name, for logs and metrics. */
  readonly name: string;
  readonly platformUrl: string;
  readonly client: PlatformClient;
  readonly mediaPermission: Readonly<Record<Channel, MediaPermission>>;
  /** How long a text continues the conversation before it; undefined: for ever. */
  readonly smsContinuityMs?: number;
}

/** What is known of a platform; it outlives a change of the shop's settings. */
interface Known {
  readonly health: Readonly<Record<Part, Health>>;
  readonly alike: AlikeRefusals;
  readonly answers: LearnedAnswers;
  readonly reads: {
    worked: boolean;
    askedAt: number;
    latest: Promise<Reads> | undefined;
    isSettled: boolean;
  };
}

function newlyKnown(
  { shopId, platformUrl }: ShopSettings,
  clock: Clock,
  random: () => number,
): Known {
  return {
    health: { messages: new Health(clock, random), media: new Health(clock, random) },
    alike: new AlikeRefusals(clock),
    answers: new LearnedAnswers(shopId, platformUrl),
    reads: { worked: false, askedAt: 0, latest: undefined, isSettled: true },
  };
}

/** One shop's platform as delivery sees it: the client, and what is known of its health. */
export class ShopPlatform {
  readonly settings: ShopSettings;
  readonly #clock: Clock;
  readonly #known: Known;

  /** @param before the same platform under other settings: what is known of it stays */
  constructor(
    settings: ShopSettings,
    { clock, random }: { readonly clock: Clock; readonly random: () => number },
    before?: ShopPlatform,
  ) {
    this.settings = settings;
    this.#clock = clock;
    this.#known = before === undefined ? newlyKnown(settings, clock, random) : before.#known;
  }

  get client(): PlatformClient {
    return this.settings.client;
  }

  get health(): Readonly<Record<Part, Health>> {
    return this.#known.health;
  }

  get alike(): AlikeRefusals {
    return this.#known.alike;
  }

  get answers(): LearnedAnswers {
    return this.#known.answers;
  }

  /** Whether it is known to be the same platform as that one. */
  isSameAs(other: ShopPlatform): boolean {
    return this.#known === other.#known;
  }

  delivered(lane: string): void {
    const { reads, health } = this.#known;
    // Messages are delivered although reads fail, so reads say nothing about this shop.
    if (health.messages.readsFail) reads.worked = false;
    health.messages.delivered(lane);
    if (reads.latest === undefined) void this.checkReads();
  }

  /** Probes and canaries are due at once. */
  tryNow(): void {
    this.health.messages.tryNow();
    this.health.media.tryNow();
    this.alike.tryNow();
  }

  /** What operators and alerts are told of a shop. */
  report(): ShopHealth {
    const { health, alike } = this.#known;
    return {
      messages: health.messages.report(),
      media: health.media.report(),
      refusedAlike: alike.report(),
    };
  }

  /**
   * Reads something harmless, at most once in five seconds. A read that fails where it worked with
   * this key is evidence against the shop's platform or its key; one that never worked says
   * nothing, because the scopes of keys are not documented (API §5). Never rejects.
   */
  checkReads(): Promise<Reads> {
    const { reads } = this.#known;
    if (reads.latest !== undefined && this.#clock() - reads.askedAt < READS_KNOWN_FOR_MS) {
      return reads.latest;
    }
    return this.#ask();
  }

  /** The same, asked after this moment: what was answered before says nothing about it. */
  async checkReadsAnew(): Promise<Reads> {
    const { reads } = this.#known;
    const before = reads.latest;
    const since = this.#clock();
    if (before === undefined || reads.isSettled) return this.#ask();
    const answer = await before;
    if (answer === 'failed') return answer;
    // Somebody else may have asked meanwhile.
    return reads.askedAt > since && reads.latest !== undefined ? reads.latest : this.#ask();
  }

  #ask(): Promise<Reads> {
    const { reads } = this.#known;
    reads.askedAt = this.#clock();
    reads.isSettled = false;
    reads.latest = this.#read().finally(() => (reads.isSettled = true));
    return reads.latest;
  }

  async #read(): Promise<Reads> {
    const { reads, health } = this.#known;
    try {
      await this.client.within(READS_TIMEOUT_MS).listContacts({ limit: 1 });
      reads.worked = true;
      health.messages.readsAnswered();
      return 'answered';
    } catch (error) {
      const isRefused = error instanceof PlatformError && error.status === 401;
      // Nothing has ever worked, and the key is said to be wrong.
      const isWrongKey = isRefused && health.messages.lastDeliveredAt === 0;
      if (!reads.worked && !isWrongKey) return 'unknown';
      if (!(error instanceof PlatformError) || readAnswer(error) === 'refused') return 'answered';
      health.messages.readsFailed(told(error));
      return 'failed';
    }
  }
}
