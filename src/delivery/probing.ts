import { errorFields } from '../observability/logger.ts';
import { type ClaimSource, WAITS_FOR } from '../spool/entry.ts';
import { PARTS } from '../spool/shop-health.ts';
import { SpoolFull } from '../spool/errors.ts';
import type { ShopId } from '../domain/ids.ts';
import type { Part } from './answer.ts';
import type { AttemptOptions, AttemptParts } from './attempt.ts';
import type { ShopPlatform } from './shop-platform.ts';

/** A probe that is not answered in time has more time the next time, up to the last of these. */
const PROBE_TIMEOUTS_MS = [5000, 10_000, 20_000];
/** An upload takes its time. */
const MEDIA_PROBE_TIMEOUT_MS = 30_000;
/**
 * Each probe begins with another source. Otherwise heads that always fail, which strangers can send
 * in any number, could take every probe.
 */
const PROBED: readonly ClaimSource[] = ['untried', WAITS_FOR.shop, WAITS_FOR.media, 'due'];
/** The time of the last delivery is written at most this often. */
const DELIVERED_TOLD_EVERY_MS = 10_000;
/** What is hastened comes spread over this time. */
const HASTEN_SPREAD_MS = 5000;
/** How often operators' requests are read and the stored health is renewed. */
const LOOK_EVERY_MS = 500;

/** Claims one entry of a shop and tries it; false: there is none to claim. */
export type TryOne = (request: {
  readonly shop: ShopPlatform;
  readonly from: readonly ClaimSource[];
  readonly probe?: AttemptOptions['probe'];
}) => Promise<boolean>;

type Parts = Pick<AttemptParts, 'spool' | 'logger' | 'clock'>;

/**
 * Looks after shops in trouble: sends the probes that their health asks for and the canaries of
 * refusals that many got, on an operator's word at once; releases what waits when that is over; and
 * tells the store how each shop is, for the commands beside the gateway.
 */
export class Probing {
  readonly #parts: Parts;
  readonly #tryOne: TryOne;
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #timeouts = new Map<ShopId, number>();
  readonly #turns = new Map<ShopId, number>();
  readonly #told = new Map<ShopId, string>();
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(parts: Parts, tryOne: TryOne) {
    this.#parts = parts;
    this.#tryOne = tryOne;
  }

  /** Begins what is due; probes go on by themselves. */
  async look(shops: readonly ShopPlatform[]): Promise<void> {
    const now = this.#parts.clock();
    const looks = now - this.#lookedAt >= LOOK_EVERY_MS;
    if (looks) {
      this.#lookedAt = now;
      await this.#asked(shops);
    }
    for (const shop of shops) {
      for (const part of PARTS) {
        if (shop.health[part].isProbeDue) this.#begin(() => this.#probe(shop, part));
      }
      if (!looks) continue;
      await this.#lookAtAlike(shop);
      const failedSince = shop.health.messages.takeUnrest();
      if (failedSince !== undefined) {
        await this.#parts.spool.hasten(shop.settings.shopId, HASTEN_SPREAD_MS, failedSince);
      }
      this.#tell(shop);
    }
  }

  /** Resolves when no probe is under way any more. */
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

  /** One head; however it ends, the next probe is planned. */
  async #probe(shop: ShopPlatform, part: Part): Promise<void> {
    const health = shop.health[part];
    const end = health.beginProbe();
    try {
      if (part === 'messages') await shop.checkReads();
      const found = await this.#tryOne({
        shop,
        from: part === 'media' ? [WAITS_FOR.media] : this.#inTurn(shop),
        probe: { part, timeoutMs: this.#timeoutOf(shop, part) },
      });
      if (!found) health.nothingToTry();
    } finally {
      end();
    }
  }

  #inTurn({ settings: { shopId }, health: { media } }: ShopPlatform): ClaimSource[] {
    const turn = this.#turns.get(shopId) ?? 0;
    this.#turns.set(shopId, (turn + 1) % PROBED.length);
    const sources = [...PROBED.slice(turn), ...PROBED.slice(0, turn)];
    // Uploads in trouble have probes of their own.
    return sources.filter((source) => source !== WAITS_FOR.media || media.state === 'steady');
  }

  /** Longer after each that was not answered in time, while reads say that the platform is there. */
  #timeoutOf({ settings: { shopId }, health }: ShopPlatform, part: Part): number {
    if (part === 'media') return MEDIA_PROBE_TIMEOUT_MS;
    const { isSlow } = health.messages;
    const step = isSlow ? Math.min((this.#timeouts.get(shopId) ?? -1) + 1, 2) : 0;
    this.#timeouts.set(shopId, step);
    return PROBE_TIMEOUTS_MS[step] ?? 5000;
  }

  async #lookAtAlike(shop: ShopPlatform): Promise<void> {
    const { shopId } = shop.settings;
    const { state, allowance } = shop.health.messages;
    const canaries = state === 'open' || allowance === 0 ? [] : shop.alike.dueCanaries();
    for (const number of canaries) {
      this.#begin(() => this.#tryOne({ shop, from: [number] }));
    }
    for (const number of shop.alike.takeQuiet()) {
      await this.#parts.spool.releaseWaiting(shopId, number);
    }
  }

  /** An operator's word, from a command beside the gateway or from the console. */
  async #asked(shops: readonly ShopPlatform[]): Promise<void> {
    const asked = await this.#parts.spool.takeProbeRequests();
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
    // The next claim does not wait for it.
    this.#begin(async () => {
      try {
        await this.#parts.spool.saveShopHealth(shopId, report);
      } catch (error) {
        this.#told.delete(shopId);
        // On a full disk the state is not written; it is tried again at the next look.
        if (!(error instanceof SpoolFull)) throw error;
      }
    });
  }
}
