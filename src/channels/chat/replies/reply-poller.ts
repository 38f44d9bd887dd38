import { setTimeout as delay } from 'node:timers/promises';
import { errorFields, type Logger } from '../../../observability/logger.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { ChatStore, JournalLine } from '../../../spool/chat-store.ts';
import type { Spool } from '../../../spool/spool.ts';
import type { ShopId, VisitorId } from '../../../types/ids.ts';
import type { Presence, PresenceChange, PresentVisitor } from '../presence.ts';
import { Pacer } from './pacer.ts';
import { backoffMs, FASTEST_MS, pollIntervalMs } from './poll-interval.ts';
import type { ReplySource } from './reply-source.ts';
import { type Depth, ShopReplies } from './shop-replies.ts';
import { inTurn, isWaiting } from './turn.ts';

export interface ReplyPollerOptions {
  /** List requests a second of all shops together. */
  readonly requestsPerSecond?: number;
  readonly requestTimeoutMs?: number;
  readonly maxPages?: number;
  /** Between two readings while a visitor waits. */
  readonly fastestMs?: number;
  readonly unsignedWaitMs?: number;
}

export interface ReplyPollerParts {
  readonly chatStore: ChatStore;
  readonly spool: Pick<Spool, 'ownPlatformMessages'>;
  readonly source: ReplySource;
  readonly presence: Presence;
  /** Each new line, once, in order: `ChatServer.publish`. */
  readonly onLine: (shopId: ShopId, visitorId: VisitorId, line: JournalLine) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface ReplyPoller {
  /** Ends every loop and waits for what it is writing. */
  stop(): Promise<void>;
}

interface Watched {
  dueAt: number;
  /** Came since the last complete reading: everything he missed is wanted. */
  returning: boolean;
  /** When more than the newest was last read. */
  lookedBackAt: number;
}

/** Between two readings further back, in readings: what shows itself late is found by then. */
const LOOK_BACK_EVERY = 30;
/** Looking back takes a page for about so many; who waits for an answer comes in between. */
const SHORT_TURN = 20;
/** Long enough to hear of a change that nobody announced, cheap enough not to matter. */
const LONGEST_SLEEP_MS = 15_000;

/**
 * Reads the platform for the visitors who are there. One poller per fleet: the embedded store lets
 * one process in (`spool/lock.ts`), so that this one is the only one. With a store that several
 * gateways share, each loop will hold a lease per shop from the spool, taken where `tell` makes it
 * and given up in `stop`; until then nothing here is wrong, since `appendReply` stores a reply once
 * whoever reads it. One loop per shop, so that a platform that
 * answers slowly holds up nobody else's; it runs while that shop has a visitor with an open tab.
 */
export function createReplyPoller(
  options: ReplyPollerOptions,
  parts: ReplyPollerParts,
): ReplyPoller {
  const pacer = new Pacer(options.requestsPerSecond ?? 2);
  const loops = new Map<ShopId, ShopLoop>();
  const { presence, chatStore, spool, source, onLine, clock, logger } = parts;

  const tell = (visitor: PresentVisitor, change: PresenceChange): void => {
    let loop = loops.get(visitor.shopId);
    if (loop === undefined) {
      const replies = new ShopReplies(visitor.shopId, {
        ...{ chatStore, spool, source, onLine, clock, logger, pacer },
        maxPages: options.maxPages ?? 10,
        requestTimeoutMs: options.requestTimeoutMs ?? 10_000,
        unsignedWaitMs: options.unsignedWaitMs ?? 5_000,
      });
      loop = new ShopLoop(visitor.shopId, replies, parts, options.fastestMs ?? FASTEST_MS);
      loops.set(visitor.shopId, loop);
    }
    loop.tell(visitor, change);
  };
  const unsubscribe = presence.subscribe(tell);
  for (const visitor of presence.present()) tell(visitor, 'arrived');

  return {
    stop: async () => {
      unsubscribe();
      await Promise.all([...loops.values()].map((loop) => loop.stop()));
    },
  };
}

class ShopLoop {
  readonly #shopId: ShopId;
  readonly #replies: ShopReplies;
  readonly #parts: ReplyPollerParts;
  readonly #fastestMs: number;
  readonly #watched = new Map<PresentVisitor, Watched>();
  readonly #stopping = new AbortController();
  #sleep = new AbortController();
  /** When it looks again by itself; 0 while it works. */
  #sleepsUntil = 0;
  #running: Promise<void> | undefined;
  #failures = 0;
  #quietUntil = 0;

  constructor(shopId: ShopId, replies: ShopReplies, parts: ReplyPollerParts, fastestMs: number) {
    this.#fastestMs = fastestMs;
    this.#shopId = shopId;
    this.#replies = replies;
    this.#parts = parts;
  }

  tell(visitor: PresentVisitor, change: PresenceChange): void {
    if (this.#stopping.signal.aborted) return;
    if (change === 'left') {
      this.#watched.delete(visitor);
      this.#replies.forget(visitor.visitorId);
      if (this.#watched.size === 0) this.#sleep.abort();
      return;
    }
    const dueAt = this.#expect(visitor, change);
    // Every message of every visitor comes by here: only what is due earlier than the rest wakes.
    if (Math.max(dueAt, this.#quietUntil) < this.#sleepsUntil) this.#sleep.abort();
    this.#running ??= this.#run().finally(() => (this.#running = undefined));
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#sleep.abort();
    await this.#running;
  }

  #expect(visitor: PresentVisitor, change: 'arrived' | 'active'): number {
    const now = this.#parts.clock();
    const watched = this.#watched.get(visitor) ?? {
      dueAt: now,
      returning: true,
      lookedBackAt: now,
    };
    if (change === 'arrived') Object.assign(watched, { dueAt: now, returning: true });
    else watched.dueAt = Math.min(watched.dueAt, now + this.#fastestMs);
    this.#watched.set(visitor, watched);
    return watched.dueAt;
  }

  /** Nothing is ever thrown out of here: what fails is tried again later. */
  async #run(): Promise<void> {
    const { clock } = this.#parts;
    while (this.#watched.size > 0 && !this.#stopping.signal.aborted) {
      const now = clock();
      const due = [...this.#watched].filter(([, { dueAt }]) => dueAt <= now);
      if (now >= this.#quietUntil && due.length > 0) {
        const isAnyoneWaiting = [...this.#watched.keys()].some(isWaiting);
        // Apart: those who return are read to the end, and the others only until it is known, or
        // now and then a little further.
        for (const depth of ['end', 'known', 'back'] as const) {
          const some = inTurn(
            due.filter(([, watched]) => this.#depthOf(watched, now) === depth),
            depth === 'back' && isAnyoneWaiting ? SHORT_TURN : undefined,
          );
          if (some.length > 0) await this.#collect(some, depth);
        }
      }
      await this.#rest();
    }
  }

  #depthOf({ returning, lookedBackAt }: Watched, now: number): Depth {
    if (returning) return 'end';
    return now - lookedBackAt >= LOOK_BACK_EVERY * this.#fastestMs ? 'back' : 'known';
  }

  async #collect(due: [PresentVisitor, Watched][], depth: Depth): Promise<void> {
    const { clock, logger } = this.#parts;
    const startedAt = clock();
    try {
      const visitors = due.map(([{ visitorId }]) => visitorId);
      await this.#replies.collect(visitors, depth, this.#stopping.signal);
      this.#failures = 0;
      for (const [visitor, watched] of due) {
        // Another tab may have opened meanwhile, in the same millisecond even, or while those who
        // return were read before the others: that one is still to be caught up.
        if (depth === 'end' && visitor.arrivedAt < startedAt) watched.returning = false;
        if (depth !== 'known') watched.lookedBackAt = startedAt;
        const { activeAt, arrivedAt, answeredAt } = visitor;
        const quietMs = clock() - Math.max(activeAt, arrivedAt, answeredAt);
        const isAnswered = answeredAt > 0 && !isWaiting(visitor);
        watched.dueAt = startedAt + pollIntervalMs(quietMs, this.#fastestMs, isAnswered);
      }
    } catch (error) {
      if (this.#stopping.signal.aborted) return;
      this.#failures += 1;
      const waitMs = backoffMs(this.#failures);
      this.#quietUntil = clock() + waitMs;
      logger.warn('chat.replies_failed', {
        shop: this.#shopId,
        failures: this.#failures,
        waitMs,
        ...errorFields(error),
      });
    } finally {
      // Somebody may have gone while his messages were read.
      for (const [visitor] of due) {
        if (!this.#watched.has(visitor)) this.#replies.forget(visitor.visitorId);
      }
    }
  }

  /** Until somebody is due, or something happens. */
  async #rest(): Promise<void> {
    const now = this.#parts.clock();
    let nextAt = now + LONGEST_SLEEP_MS;
    for (const { dueAt } of this.#watched.values()) nextAt = Math.min(nextAt, dueAt);
    const sleepsUntil = Math.max(nextAt, this.#quietUntil);
    if (sleepsUntil <= now || this.#watched.size === 0 || this.#stopping.signal.aborted) return;
    this.#sleep = new AbortController();
    this.#sleepsUntil = sleepsUntil;
    await delay(sleepsUntil - now, undefined, { signal: this.#sleep.signal }).catch(
      () => undefined,
    );
    this.#sleepsUntil = 0;
  }
}
