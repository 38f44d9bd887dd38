import { setTimeout as delay } from 'node:timers/promises';
import { errorFields } from '../../../observability/logger.ts';
import type { ShopId, VisitorId } from '../../../domain/ids.ts';
import type { PresenceChange, PresentVisitor, Visitors } from '../visitors.ts';
import { Pacer, type Urgency } from './pacer.ts';
import { ShopReplies, type ShopRepliesParts } from './shop-replies.ts';
import {
  backoffMs,
  type Depth,
  FASTEST_MS,
  isWaiting,
  nextDueAt,
  nextTurn,
  pollIntervalMs,
  type Queue,
  type Turn,
  type Watched,
} from './schedule.ts';

export interface ReplyPollerOptions {
  /** List requests per second, for all shops together. */
  readonly requestsPerSecond?: number;
  readonly requestTimeoutMs?: number;
  readonly maxPages?: number;
  /** The interval between two reads while a visitor waits. */
  readonly fastestMs?: number;
  readonly unsignedWaitMs?: number;
  readonly pendingWaitMs?: number;
}

export interface ReplyPollerParts extends Omit<
  ShopRepliesParts,
  'pacer' | 'maxPages' | 'requestTimeoutMs' | 'unsignedWaitMs' | 'pendingWaitMs'
> {
  readonly visitors: Pick<Visitors, 'present' | 'subscribe'>;
}

export interface ReplyPoller {
  /** A visitor has a new reply: it is read now if they have a tab here. */
  replied(shopId: ShopId, visitorId: VisitorId): void;
  /** Ends all loops and waits until pending writes are stored. */
  stop(): Promise<void>;
}

/** Every this many reads, one goes further back, for messages that became visible late. */
const BACK_READ_EVERY = 30;
const QUEUES = ['waiting', 'others'] as const;

/**
 * Reads the platform for visitors with open tabs at this gateway. Several gateways with one store may
 * read the same conversation; `storeReply` stores each reply only once. There is one loop per shop,
 * so that a slow platform does not delay other shops. It runs while the shop has a visitor with an
 * open tab.
 */
export function createReplyPoller(
  options: ReplyPollerOptions,
  parts: ReplyPollerParts,
): ReplyPoller {
  const pacer = new Pacer(options.requestsPerSecond ?? 2);
  const loops = new Map<ShopId, ShopLoop>();
  const { visitors, chatStore, spool, source, onReply, clock, logger } = parts;

  const tell = (visitor: PresentVisitor, change: PresenceChange): void => {
    let loop = loops.get(visitor.shopId);
    if (loop === undefined) {
      const replies = new ShopReplies(visitor.shopId, {
        ...{ chatStore, spool, source, onReply, clock, logger, pacer },
        maxPages: options.maxPages ?? 10,
        requestTimeoutMs: options.requestTimeoutMs ?? 10_000,
        unsignedWaitMs: options.unsignedWaitMs ?? 5_000,
        pendingWaitMs: options.pendingWaitMs ?? 5_000,
      });
      loop = new ShopLoop(visitor.shopId, replies, parts, options.fastestMs ?? FASTEST_MS);
      loops.set(visitor.shopId, loop);
    }
    loop.tell(visitor, change);
  };
  const unsubscribe = visitors.subscribe(tell);
  for (const visitor of visitors.present()) tell(visitor, 'arrived');

  return {
    replied: (shopId, visitorId) => loops.get(shopId)?.replied(visitorId),
    stop: async () => {
      unsubscribe();
      await Promise.all([...loops.values()].map((loop) => loop.stop()));
    },
  };
}

/** The two queues of one shop, read page by page in turns when both have something to read. */
class ShopLoop {
  readonly #shopId: ShopId;
  readonly #replies: ShopReplies;
  readonly #parts: ReplyPollerParts;
  readonly #fastestMs: number;
  readonly #watched = new Map<PresentVisitor, Watched>();
  readonly #stopping = new AbortController();
  readonly #steps: Readonly<Record<Queue, RepeatedStep>>;
  readonly #lastDepth: Partial<Record<Queue, Depth>> = {};
  #failures = 0;
  #pausedUntil = 0;

  constructor(shopId: ShopId, replies: ShopReplies, parts: ReplyPollerParts, fastestMs: number) {
    this.#fastestMs = fastestMs;
    this.#shopId = shopId;
    this.#replies = replies;
    this.#parts = parts;
    this.#steps = {
      waiting: new RepeatedStep(() => this.#readNext('waiting'), parts.clock),
      others: new RepeatedStep(() => this.#readNext('others'), parts.clock),
    };
  }

  tell(visitor: PresentVisitor, change: PresenceChange): void {
    if (change === 'left') {
      this.#watched.delete(visitor);
      this.#replies.forget(visitor.visitorId);
      return;
    }
    const dueAt = Math.max(this.#expect(visitor, change), this.#pausedUntil);
    // Called for every message of every visitor; only an earlier time wakes a loop.
    for (const queue of QUEUES) this.#steps[queue].wakeBy(dueAt);
  }

  replied(visitorId: VisitorId): void {
    const now = this.#parts.clock();
    for (const [visitor, watched] of this.#watched) {
      if (visitor.visitorId !== visitorId) continue;
      watched.dueAt = Math.min(watched.dueAt, now);
      for (const queue of QUEUES) this.#steps[queue].wakeBy(Math.max(now, this.#pausedUntil));
    }
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(QUEUES.map((queue) => this.#steps[queue].stop()));
  }

  #expect(visitor: PresentVisitor, change: 'arrived' | 'active'): number {
    const now = this.#parts.clock();
    const watched = this.#watched.get(visitor) ?? {
      dueAt: now,
      returning: true,
      backAt: now + BACK_READ_EVERY * this.#fastestMs,
      failures: 0,
    };
    if (change === 'arrived') Object.assign(watched, { dueAt: now, returning: true });
    else watched.dueAt = Math.min(watched.dueAt, now + this.#fastestMs);
    this.#watched.set(visitor, watched);
    return watched.dueAt;
  }

  /** Reads once. Never rejects: a failed read is repeated later. */
  async #readNext(queue: Queue): Promise<number | undefined> {
    const now = this.#parts.clock();
    if (now < this.#pausedUntil) return this.#pausedUntil;
    const turn = nextTurn(queue, this.#watched, now, this.#lastDepth[queue]);
    if (turn !== undefined) {
      this.#lastDepth[queue] = turn.depth;
      // A returning visitor sees an old page until it is read.
      const isUrgent = queue === 'waiting' || turn.depth === 'end';
      await this.#collect(turn, isUrgent ? 'urgent' : 'usual');
      // A reply moves its visitor to the other queue, whose loop may be asleep.
      for (const other of QUEUES) this.#steps[other].wakeBy(this.#nextAt(other) ?? Infinity);
    }
    return this.#nextAt(queue);
  }

  #nextAt(queue: Queue): number | undefined {
    const dueAt = nextDueAt(queue, this.#watched);
    return dueAt && Math.max(dueAt, this.#pausedUntil);
  }

  async #collect({ visitors, depth }: Turn, urgency: Urgency): Promise<void> {
    const { clock, logger } = this.#parts;
    const startedAt = clock();
    try {
      const ids = visitors.map(({ visitorId }) => visitorId);
      const how = { depth, urgency };
      const outcome = await this.#replies.collect(ids, how, this.#stopping.signal);
      this.#failures = 0;
      for (const visitor of visitors) {
        const { visitorId } = visitor;
        if (outcome.failed.has(visitorId)) this.#postpone(visitor);
        else if (!outcome.left.has(visitorId)) {
          this.#plan(visitor, depth, startedAt, !outcome.unfinished.has(visitorId));
        }
      }
      if (outcome.failed.size > 0) {
        logger.warn('chat.replies_failed', {
          shop: this.#shopId,
          visitors: outcome.failed.size,
          ...errorFields(outcome.error),
        });
      }
    } catch (error) {
      if (this.#stopping.signal.aborted) return;
      this.#failures += 1;
      const waitMs = backoffMs(this.#failures);
      this.#pausedUntil = clock() + waitMs;
      logger.warn('chat.replies_failed', {
        shop: this.#shopId,
        failures: this.#failures,
        waitMs,
        ...errorFields(error),
      });
    } finally {
      // A visitor may have left during the read.
      for (const visitor of visitors) {
        if (!this.#watched.has(visitor)) this.#replies.forget(visitor.visitorId);
      }
    }
  }

  /** Other visitors could be read, so only this one is delayed, longer each time. */
  #postpone(visitor: PresentVisitor): void {
    const watched = this.#watched.get(visitor);
    if (watched === undefined) return;
    watched.failures += 1;
    watched.dueAt = this.#parts.clock() + backoffMs(watched.failures);
    watched.backAt = Math.max(watched.backAt, watched.dueAt);
  }

  #plan(visitor: PresentVisitor, depth: Depth, startedAt: number, isFinished: boolean): void {
    const watched = this.#watched.get(visitor);
    if (watched === undefined) return;
    watched.failures = 0;
    if (!isFinished) {
      // A long list is unfinished: `returning` is kept, and the list is continued soon.
      watched.dueAt = startedAt + this.#fastestMs;
      watched.backAt = Math.max(watched.backAt, watched.dueAt);
      return;
    }
    const { activeAt, arrivedAt, answeredAt } = visitor;
    // Another tab may have been opened meanwhile, even in the same millisecond, or while returning
    // visitors were read before the others; it still has to be caught up.
    if (depth === 'end' && arrivedAt < startedAt) watched.returning = false;
    if (depth !== 'known') watched.backAt = startedAt + BACK_READ_EVERY * this.#fastestMs;
    const quietMs = this.#parts.clock() - Math.max(activeAt, arrivedAt, answeredAt);
    const isAnswered = answeredAt > 0 && !isWaiting(visitor);
    watched.dueAt = startedAt + pollIntervalMs(quietMs, this.#fastestMs, isAnswered);
  }
}

/** Runs a step at the times returned by the step or set by `wakeBy`. */
export class RepeatedStep {
  readonly #step: () => Promise<number | undefined>;
  readonly #now: () => number;
  #sleep = new AbortController();
  #nextAt = Infinity;
  #running: Promise<void> | undefined;
  #isStopped = false;

  /**
   * @param step must not throw; resolves with the time of the next run, undefined if there is none
   */
  constructor(step: () => Promise<number | undefined>, now: () => number) {
    this.#step = step;
    this.#now = now;
  }

  /** Schedules a run at this time; cheap if an earlier time is already scheduled. */
  wakeBy(at: number): void {
    if (this.#isStopped || at >= this.#nextAt) return;
    this.#nextAt = at;
    this.#sleep.abort();
    this.#running ??= this.#run();
  }

  /** Waits for the step that is running. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#sleep.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    for (;;) {
      const waitMs = this.#nextAt - this.#now();
      if (this.#isStopped || waitMs === Infinity) {
        // Set before returning, so that a later `wakeBy` starts a new run.
        this.#running = undefined;
        return;
      }
      if (waitMs > 0) {
        this.#sleep = new AbortController();
        await delay(waitMs, undefined, { signal: this.#sleep.signal }).catch(() => undefined);
      } else {
        this.#nextAt = Infinity;
        const at = await this.#step();
        // `wakeBy` may have set an earlier time meanwhile.
        this.#nextAt = Math.min(this.#nextAt, at ?? Infinity);
      }
    }
  }
}
