import type { CompleteConfig } from '../../config/complete.ts';
import type { ShopId } from '../../domain/ids.ts';
import type { Arrival, Intake } from '../../intake/intake.ts';
import type { MetricValues } from '../../observability/metrics.ts';
import type { Current } from '../../runtime/current.ts';
import type { StopStack } from '../../runtime/stop-stack.ts';
import { everyInStep, withinMs } from '../../runtime/clock.ts';
import { RpcThread, transferring, workerUrl } from '../../runtime/worker-rpc.ts';
import type { Accepted, Outcome } from '../../spool/entry.ts';
import { SpoolFull } from '../../spool/errors.ts';
import type { ShopHealth } from '../../spool/shop-health.ts';
import type { SharedStore, Sharing } from '../../spool/store.ts';
import { type LiveConfig, RELOADABLE_PATHS } from '../live-config.ts';
import type { ReadingParts } from '../normalizers.ts';
import { type ClonedConfig, toClone } from './cloned-config.ts';
import type { Delivery, OnSettled, SettledEntry } from './delivery.ts';
import { type Share, sharesOf } from './share.ts';

/** `workerData` of the thread. */
export interface DeliveryThreadData {
  readonly config: ClonedConfig;
  readonly share: Share;
}

/** What the thread offers. */
export interface DeliveryThread {
  /**
   * Resolves once it delivers.
   * @param localUrl of the embedded platform
   */
  readonly start: (store: SharedStore, localUrl: string | undefined) => Promise<void>;
  readonly wake: () => void;
  /** Shows that it answers. */
  readonly ping: () => void;
  readonly tryNow: () => void;
  readonly health: () => Promise<readonly (readonly [ShopId, ShopHealth])[]>;
  readonly metrics: () => Promise<MetricValues>;
  /**
   * A reload in the steps of `PreparedChange`; `commit` and `undo` follow `prepare`.
   * @param localUrl of the embedded platform, which the reload may have started
   */
  readonly prepare: (config: ClonedConfig, localUrl: string | undefined) => Promise<void>;
  readonly commit: () => Promise<void>;
  readonly undo: () => Promise<void>;
  /** @param graceMs for attempts in flight */
  readonly stop: (graceMs: number) => Promise<void>;
}

export interface Settled {
  readonly entry: SettledEntry;
  readonly state: Outcome['state'];
}

/** What the thread calls. */
export interface DeliveryOwner {
  /** Fails with the kind `full` or `unavailable`. */
  readonly accept: (arrivals: readonly Arrival[]) => Promise<readonly Accepted[]>;
  readonly makeSpace: () => Promise<void>;
  readonly hasReply: ReadingParts['hasReply'];
  readonly settled: (settled: readonly Settled[]) => void;
}

interface LoadParts {
  readonly config: CompleteConfig;
  readonly stack: StopStack;
  readonly grace: { readonly ms: number };
  /** The thread has ended by itself, or hangs: the gateway cannot deliver any more. */
  readonly fail: (error: Error) => void;
  /** The thread's file, replaced in tests of a failing thread. */
  readonly worker?: URL;
  /** How often it is asked whether it answers; {@link UNANSWERED_AT_MOST} times without an answer are the end. */
  readonly pingEveryMs?: number;
}

export interface DeliveryThreadParts {
  readonly live: LiveConfig;
  readonly sharing: Sharing;
  readonly intake: Pick<Intake, 'accept'>;
  readonly localUrl: Current<string | undefined>;
  readonly hasReply: ReadingParts['hasReply'];
  readonly onSettled: OnSettled;
}

/** One or more threads while they load their modules. */
export interface LoadedDelivery {
  /** @throws what ended a thread at its start, which `fail` gets, too */
  deliver(parts: DeliveryThreadParts): Promise<ThreadedDelivery>;
}

export interface ThreadedDelivery extends Delivery {
  /** Those of each thread. */
  metrics(): Promise<readonly MetricValues[]>;
}

/** The young generation is small for the same reason as in the threads that read mail. */
const LIMITS = { maxYoungGenerationSizeMb: 12 };
const ANSWER_WITHIN_MS = 2000;
const PING_EVERY_MS = 30_000;
/** Counted rather than timed: when the whole process was suspended, only one question has had no time for its answer. */
const UNANSWERED_AT_MOST = 4;

/** Starts as many threads as `delivery.threads` says; each delivers for its share of the shops. */
export function loadDeliveryThreads(parts: LoadParts): LoadedDelivery {
  const threads = sharesOf(parts.config.delivery).map((share) => loadDeliveryThread(parts, share));
  return {
    async deliver(given) {
      // Pushed before any of them starts, as a failure of one unwinds all.
      parts.stack.push('delivery', async () => {
        await Promise.all(threads.map((thread) => thread.endAttempts()));
      });
      const started = await Promise.allSettled(threads.map((thread) => thread.deliver(given)));
      const all = started.map((each) => {
        if (each.status === 'rejected') throw each.reason;
        return each.value;
      });
      return {
        wake: () => {
          for (const each of all) each.wake();
        },
        tryNow: () => {
          for (const each of all) each.tryNow();
        },
        health: async () => {
          const known = await Promise.all(all.map((each) => each.health()));
          return new Map(known.flatMap((health) => [...health]));
        },
        metrics: async () => (await Promise.all(all.map((each) => each.metrics()))).flat(),
      };
    },
  };
}

/**
 * Starts a thread that delivers, so that the main thread has only connections and acknowledgements
 * to care for. It loads its modules while the main thread loads others. It is stopped with `stack`.
 */
function loadDeliveryThread(
  { config, stack, grace, fail, worker, pingEveryMs = PING_EVERY_MS }: LoadParts,
  share: Share,
): LoadedDelivery & {
  /** Before the store closes, unlike the thread itself. */
  endAttempts(): Promise<void>;
} {
  const data: DeliveryThreadData = { config: toClone(config), share };
  let parts: DeliveryThreadParts | undefined;
  // The thread calls nothing before it delivers.
  const known = (): DeliveryThreadParts => {
    if (parts === undefined) throw new Error('the thread does not deliver yet');
    return parts;
  };
  const owner: DeliveryOwner = {
    accept: (arrivals) => known().intake.accept(arrivals),
    makeSpace: () => known().sharing.makeSpace(),
    hasReply: (shopId, ids) => known().hasReply(shopId, ids),
    settled: (settled) => {
      for (const { entry, state } of settled) known().onSettled(entry, state);
    },
  };
  let death: Error | undefined;
  const die = (error: Error): void => {
    death ??= error;
    fail(error);
  };
  const thread = new RpcThread<DeliveryThread, DeliveryOwner>(
    worker ?? workerUrl(import.meta.url, './delivery-worker.ts'),
    {
      ...{ functions: owner, data, limits: LIMITS },
      // It connects to the same platforms and collectors as the main thread, in the same way.
      sharesEnvironment: true,
      kindOf: (error) => (error instanceof SpoolFull ? 'full' : 'unavailable'),
      onDeath: (_inFlight, error = new Error('the delivery thread ended')) => die(error),
    },
  );
  stack.push('delivery thread', () => thread.stop());
  return {
    async endAttempts() {
      if (death === undefined) await thread.call('stop', grace.ms);
    },
    async deliver(given) {
      parts = given;
      const shared = given.sharing.share();
      const { port } = shared;
      await thread
        .call('start', transferring(shared, [port]), given.localUrl.value)
        .catch((error: unknown) => {
          throw death ?? error;
        });
      takeChanges(thread, given, fail);
      const endPings = pinging(thread, pingEveryMs, () => {
        die(new Error('the delivery thread does not answer'));
        void thread.stop();
      });
      stack.push('pings of delivery', endPings);
      return deliveryOf(thread);
    },
  };
}

type Thread = RpcThread<DeliveryThread, DeliveryOwner>;

/** @returns ends it */
function pinging(thread: Thread, everyMs: number, onHang: () => void): () => void {
  let unanswered = 0;
  const end = everyInStep(everyMs, () => {
    if (unanswered === UNANSWERED_AT_MOST) {
      end();
      onHang();
      return;
    }
    unanswered += 1;
    thread.call('ping').then(
      () => (unanswered = 0),
      // Its end is reported by itself.
      () => undefined,
    );
  });
  return end;
}

function takeChanges(
  thread: Thread,
  { live, localUrl }: DeliveryThreadParts,
  fail: LoadParts['fail'],
): void {
  live.add({
    name: 'delivery thread',
    // The parts of the thread know which of them concern them.
    reads: RELOADABLE_PATHS,
    prepare: async (next) => {
      await thread.call('prepare', toClone(next), localUrl.value);
      let committed: Promise<void> | undefined;
      return {
        commit: () => {
          committed = thread.call('commit');
          // The main thread has changed already, so the two cannot go on.
          committed.catch(fail);
        },
        after: () => committed ?? Promise.resolve(),
        undo: () => thread.call('undo'),
      };
    },
  });
}

function deliveryOf(thread: Thread): ThreadedDelivery {
  let known: ReadonlyMap<ShopId, ShopHealth> = new Map();
  // After its end the gateway ends.
  const tell = (name: 'wake' | 'tryNow'): void => void thread.call(name).catch(() => undefined);
  return {
    wake: () => tell('wake'),
    tryNow: () => tell('tryNow'),
    // The status, its alerts and a scrape must not wait for a thread that does not answer.
    health: async () => {
      const asked = thread.call('health').then((health) => new Map(health));
      known = await withinMs(asked, ANSWER_WITHIN_MS, () => known).catch(() => known);
      return known;
    },
    metrics: async () => {
      const asked = thread.call('metrics').catch((): MetricValues => []);
      return [await withinMs(asked, ANSWER_WITHIN_MS, () => [])];
    },
  };
}
