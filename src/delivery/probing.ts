import type { Endpoint } from '../domain/endpoint.ts';
import { errorFields } from '../observability/logger.ts';
import { type ClaimSource, WAITS_FOR } from '../spool/entry.ts';
import { ENDPOINTS } from '../spool/shop-health.ts';
import { SpoolFull } from '../spool/errors.ts';
import type { ShopId } from '../domain/ids.ts';
import type { AttemptOptions, AttemptParts } from './attempt.ts';
import type { Leases } from '../runtime/leases.ts';
import { PROBE_AFTER_MS } from './health.ts';
import { CANARY_EVERY_MS } from './alike-refusals.ts';
import type { ShopPlatform } from './shop-platform.ts';

/** After a probe times out the next one gets a longer timeout, up to the last of these. */
const PROBE_TIMEOUTS_MS = [5000, 10_000, 20_000];
/** Uploads take longer than other requests. */
const MEDIA_PROBE_TIMEOUT_MS = 30_000;
/**
 * Each probe begins with a different source. Otherwise heads that always fail, which senders can
 * create in any number, could use up every probe.
 */
const PROBED: readonly ClaimSource[] = ['untried', WAITS_FOR.shop, WAITS_FOR.media, 'due'];
/** The time of the last delivery is stored at most this often. */
const DELIVERED_TOLD_EVERY_MS = 10_000;
/** Entries that are made due early are spread over this time. */
const HASTEN_SPREAD_MS = 5000;
const RELEASE_SPREAD_MS = 60_000;
/** A probe's lease is renewed each `PROBE_AFTER_MS`, so another gateway soon replaces one that died. */
const PROBE_LEASE_MS = 2 * PROBE_AFTER_MS;
/** How often operators' requests are read and the stored health is updated. */
const LOOK_EVERY_MS = 500;
/** How often the refusals that entries wait for are read, which another gateway may have found. */
const REFUSALS_EVERY_MS = 5000;

/** Claims one entry of a shop and makes one attempt; false if there is none to claim. */
export type TryOne = (request: {
  readonly shop: ShopPlatform;
  readonly from: readonly ClaimSource[];
  readonly probe?: AttemptOptions['probe'];
}) => Promise<boolean>;

export interface ProbingParts extends Pick<AttemptParts, 'spool' | 'logger' | 'clock'> {
  readonly leases: Leases;
}

/**
 * Handles shops in trouble. Sends the probes that their health requires and the canaries of
 * refusals that many entries got, at once when an operator asks. Releases waiting entries when the
 * trouble is over. Stores each shop's health for the commands that run beside the gateway.
 */
export class Probing {
  readonly #parts: ProbingParts;
  readonly #tryOne: TryOne;
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #timeouts = new Map<ShopId, number>();
  readonly #turns = new Map<ShopId, number>();
  readonly #told = new Map<ShopId, string>();
  /** The leases of the probes in flight, with the time from which each is due for renewal. */
  readonly #held = new Map<string, number>();
  #lookedAt = Number.NEGATIVE_INFINITY;
  #readRefusalsAt = Number.NEGATIVE_INFINITY;

  constructor(parts: ProbingParts, tryOne: TryOne) {
    this.#parts = parts;
    this.#tryOne = tryOne;
  }

  /** Starts the probes that are due. They continue after it resolves. */
  async look(shops: readonly ShopPlatform[]): Promise<void> {
    const now = this.#parts.clock();
    for (const [lease, renewAt] of this.#held) {
      if (now >= renewAt) this.#hold(lease);
    }
    const looks = now - this.#lookedAt >= LOOK_EVERY_MS;
    if (looks) {
      this.#lookedAt = now;
      await this.#asked(shops);
      await this.#readRefusals(shops);
    }
    for (const shop of shops) {
      for (const endpoint of ENDPOINTS) {
        if (shop.health[endpoint].isProbeDue) this.#begin(() => this.#probe(shop, endpoint));
      }
      if (!looks) continue;
      this.#sendCanaries(shop);
      if (shop.health.messages.takeRelease()) {
        await this.#parts.spool.hasten(shop.settings.shopId, RELEASE_SPREAD_MS);
      }
      const failedSince = shop.health.messages.takeUnrest();
      if (failedSince !== undefined) {
        await this.#parts.spool.hasten(shop.settings.shopId, HASTEN_SPREAD_MS, failedSince);
      }
      this.#tell(shop);
    }
  }

  /** Resolves when no probe is in flight. */
  async ended(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  #begin(work: () => Promise<unknown>): void {
    const done: Promise<unknown> = work()
      .catch((error: unknown) =>
        this.#parts.logger.error('dispatcher.probe_failed', errorFields(error)),
      )
      .finally(() => this.#underWay.delete(done));
    this.#underWay.add(done);
  }

  /**
   * One attempt at one lane head, unless another gateway makes one or did so in the last five
   * seconds. The next probe is scheduled whatever its result.
   */
  async #probe(shop: ShopPlatform, endpoint: Endpoint): Promise<void> {
    const health = shop.health[endpoint];
    const { isProbeAsked } = health;
    const end = health.beginProbe();
    const { leases, clock } = this.#parts;
    const lease = `probe of ${shop.settings.shopId} ${endpoint}`;
    let isMade = false;
    try {
      isMade = (await leases.take(lease, PROBE_LEASE_MS)) || isProbeAsked;
      if (!isMade) return;
      this.#held.set(lease, clock() + PROBE_AFTER_MS);
      if (endpoint === 'messages') {
        await shop.checkReads();
        // While this process was suspended another gateway may have taken the lease.
        isMade = (await leases.take(lease, PROBE_LEASE_MS)) || isProbeAsked;
        if (!isMade) return;
      }
      const found = await this.#tryOne({
        shop,
        from: endpoint === 'media' ? [WAITS_FOR.media] : this.#inTurn(shop),
        probe: { endpoint, timeoutMs: this.#timeoutOf(shop, endpoint) },
      });
      if (!found) health.nothingToTry();
    } finally {
      end(isMade);
      this.#held.delete(lease);
      // Like this gateway, the others wait from the end of the probe.
      if (isMade) this.#begin(() => leases.take(lease, PROBE_AFTER_MS));
    }
  }

  #hold(lease: string): void {
    const { leases, clock } = this.#parts;
    this.#held.set(lease, clock() + PROBE_AFTER_MS);
    this.#begin(() => leases.take(lease, PROBE_LEASE_MS));
  }

  #inTurn({ settings: { shopId }, health: { media } }: ShopPlatform): ClaimSource[] {
    const turn = this.#turns.get(shopId) ?? 0;
    this.#turns.set(shopId, (turn + 1) % PROBED.length);
    const sources = [...PROBED.slice(turn), ...PROBED.slice(0, turn)];
    // Media that is in trouble has its own probes.
    return sources.filter((source) => source !== WAITS_FOR.media || media.state === 'steady');
  }

  /** The timeout grows with each probe that times out while reads show the platform reachable. */
  #timeoutOf({ settings: { shopId }, health }: ShopPlatform, endpoint: Endpoint): number {
    if (endpoint === 'media') return MEDIA_PROBE_TIMEOUT_MS;
    const { isSlow } = health.messages;
    const step = isSlow ? Math.min((this.#timeouts.get(shopId) ?? -1) + 1, 2) : 0;
    this.#timeouts.set(shopId, step);
    return PROBE_TIMEOUTS_MS[step] ?? 5000;
  }

  async #readRefusals(shops: readonly ShopPlatform[]): Promise<void> {
    const { spool, clock } = this.#parts;
    const isAsked = shops.some(({ alike }) => alike.mustRead);
    if (!isAsked && clock() - this.#readRefusalsAt < REFUSALS_EVERY_MS) return;
    this.#readRefusalsAt = clock();
    const refusals = await spool.refusals();
    for (const { settings, alike } of shops) {
      alike.know(refusals.filter(({ shopId }) => shopId === settings.shopId));
    }
  }

  /** One of the entries that wait for each refusal, by one gateway a minute. */
  #sendCanaries(shop: ShopPlatform): void {
    const { state, allowance } = shop.health.messages;
    if (state === 'open' || allowance === 0) return;
    for (const { number, isAsked } of shop.alike.dueCanaries()) {
      this.#begin(async () => {
        const lease = `canary of ${shop.settings.shopId} ${number}`;
        const isOwn = await this.#parts.leases.take(lease, CANARY_EVERY_MS - LOOK_EVERY_MS);
        if (isOwn || isAsked) await this.#tryOne({ shop, from: [number] });
      });
    }
  }

  /** Handles operators' requests, from a command beside the gateway or from the console. */
  async #asked(shops: readonly ShopPlatform[]): Promise<void> {
    const own = shops.map(({ settings }) => settings.shopId);
    const asked = await this.#parts.spool.takeProbeRequests(own);
    for (const shop of shops) {
      if (asked.includes(shop.settings.shopId)) shop.tryNow();
    }
  }

  #tell(shop: ShopPlatform): void {
    const { shopId } = shop.settings;
    const report = shop.report();
    const text = JSON.stringify(report, (key, value: unknown) =>
      key === 'lastDeliveredAt' ? Math.floor(Number(value) / DELIVERED_TOLD_EVERY_MS) : value,
    );
    if (this.#told.get(shopId) === text) return;
    this.#told.set(shopId, text);
    // In the background, so that the next claim does not wait for the write.
    this.#begin(async () => {
      try {
        await this.#parts.spool.saveShopHealth(shopId, report);
      } catch (error) {
        this.#told.delete(shopId);
        // On a full disk the state is not stored; the next look tries again.
        if (!(error instanceof SpoolFull)) throw error;
      }
    });
  }
}
