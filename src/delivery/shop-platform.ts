import type { Endpoint } from '../domain/endpoint.ts';
import type { PlatformClient } from '../platform-api/client.ts';
import { PlatformError } from '../platform-api/errors.ts';
import type { MediaPermission } from '../platform-api/schemas.ts';
import type { Clock } from '../runtime/clock.ts';
import type { EndpointHealth, ShopHealth } from '../spool/shop-health.ts';
import type { Channel } from '../domain/channel.ts';
import type { ShopId } from '../domain/ids.ts';
import { AlikeRefusals } from './alike-refusals.ts';
import { answered, LearnedAnswers, readAnswer } from './answer.ts';
import { Health } from './health.ts';

const READS_TIMEOUT_MS = 5000;
const READS_KNOWN_FOR_MS = 5000;

/** Whether reads work; `failed` only if they worked before. */
export type Reads = 'answered' | 'failed' | 'unknown';

export interface ShopSettings {
  readonly shopId: ShopId;
  /** The configured name, for logs and metrics. */
  readonly name: string;
  readonly platformUrl: string;
  readonly client: PlatformClient;
  readonly mediaPermission: Readonly<Record<Channel, MediaPermission>>;
  /** How long a text message continues the previous conversation; undefined: for ever. */
  readonly smsContinuityMs?: number;
}

/** What is known of a platform. It is kept when the shop's settings change. */
interface Known {
  readonly health: Readonly<Record<Endpoint, Health>>;
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

type Former = Pick<EndpointHealth, 'lastDeliveredAt' | 'since'>;

/** One shop's platform as delivery sees it: the client and the health. */
export class ShopPlatform {
  readonly settings: ShopSettings;
  readonly #clock: Clock;
  readonly #known: Known;
  /** Of the shop with another platform or key, before a reload. */
  readonly #former: Readonly<Record<Endpoint, Former>>;

  /**
   * @param before the shop with other settings
   * @param isSame whether its platform and key are the same, so that the health is kept
   */
  constructor(
    settings: ShopSettings,
    { clock, random }: { readonly clock: Clock; readonly random: () => number },
    before?: ShopPlatform,
    isSame = true,
  ) {
    this.settings = settings;
    this.#clock = clock;
    const isKept = before !== undefined && isSame;
    this.#known = isKept ? before.#known : newlyKnown(settings, clock, random);
    this.#former = isKept ? before.#former : (before?.report() ?? { messages: {}, media: {} });
  }

  get client(): PlatformClient {
    return this.settings.client;
  }

  get health(): Readonly<Record<Endpoint, Health>> {
    return this.#known.health;
  }

  get alike(): AlikeRefusals {
    return this.#known.alike;
  }

  get answers(): LearnedAnswers {
    return this.#known.answers;
  }

  /** Whether both are the same platform, with the same health. */
  isSameAs(other: ShopPlatform): boolean {
    return this.#known === other.#known;
  }

  /**
   * A message of this lane is sent.
   * @returns to be called once it is delivered
   */
  sent(lane: string): () => void {
    const sentAt = this.#clock();
    return () => this.#delivered(lane, sentAt);
  }

  #delivered(lane: string, sentAt: number): void {
    const { reads, health } = this.#known;
    // Messages are delivered while reads fail, so reads are not evidence for this shop.
    if (health.messages.readsFail) reads.worked = false;
    health.messages.delivered(lane, sentAt);
    if (reads.latest === undefined) void this.checkReads();
  }

  /** Makes probes and canaries due at once. */
  tryNow(): void {
    this.health.messages.tryNow();
    this.health.media.tryNow();
    this.alike.tryNow();
  }

  /** The shop's health as operators and alerts see it. */
  report(): ShopHealth {
    return {
      messages: this.#reportOf('messages'),
      media: this.#reportOf('media'),
      refusedAlike: this.#known.alike.report(),
    };
  }

  /** A stop goes on until something is delivered, also with another key that is refused, too. */
  #reportOf(part: Endpoint): EndpointHealth {
    const report = this.#known.health[part].report();
    const { lastDeliveredAt, since } = this.#former[part];
    return {
      ...(lastDeliveredAt !== undefined && { lastDeliveredAt }),
      ...report,
      ...(report.state !== 'steady' && report.untried && since !== undefined && { since }),
    };
  }

  /**
   * Makes a harmless read request, at most once in five seconds. A read that fails after reads
   * worked with this key is evidence against the platform or its key. A read that never worked says
   * nothing, because the scopes of keys are not documented (API §5). Never rejects.
   */
  checkReads(): Promise<Reads> {
    const { reads } = this.#known;
    if (reads.latest !== undefined && this.#clock() - reads.askedAt < READS_KNOWN_FOR_MS) {
      return reads.latest;
    }
    return this.#ask();
  }

  /** The same with a request that is sent after this call: an earlier answer may be outdated. */
  async checkReadsAnew(): Promise<Reads> {
    const { reads } = this.#known;
    const before = reads.latest;
    const since = this.#clock();
    if (before === undefined || reads.isSettled) return this.#ask();
    const answer = await before;
    if (answer === 'failed') return answer;
    // Another caller may have started a read meanwhile.
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
      // Nothing was ever delivered and the platform says that the key is wrong.
      const isWrongKey = isRefused && health.messages.lastDeliveredAt === 0;
      if (!reads.worked && !isWrongKey) return 'unknown';
      if (!(error instanceof PlatformError) || readAnswer(error) === 'refused') return 'answered';
      health.messages.readsFailed(answered(error));
      return 'failed';
    }
  }
}
