import type { ReloadResult } from '../console/contract.ts';
import { loadDeliveryThreads } from './delivery/delivery-thread.ts';
import { errorFields } from '../observability/logger.ts';
import { StopStack } from '../runtime/stop-stack.ts';
import type { Addresses, Failure, GatewayOptions, Running } from './start.ts';

export interface Gateway {
  /** Resolves when all listeners are open. A start that fails undoes what it has started. */
  start(): Promise<Addresses>;
  /**
   * Says that it is not ready, closes the doors after `stopDelay`, finishes the work in flight, then stops
   * everything else.
   */
  stop(): Promise<void>;
  /** Resolves when the gateway cannot continue. */
  readonly failed: Promise<Failure>;
  /**
   * Applies the current configuration, as far as that is possible without a restart. If it contains
   * a mistake, nothing changes. Never rejects.
   * @param who requested it: an operator's name, or `signal`
   */
  reload(who: string): Promise<ReloadResult>;
}

/** The time that work in flight gets at a stop; the whole stop has 30 s. */
const GRACE_MS = 10_000;
/**
 * The same after the store has failed: waiting clients have been refused and only need the reply.
 */
const GRACE_AFTER_FAILURE_MS = 500;

/** What a gateway is between its start and its stop, whatever it consists of (`start.ts`). */
export function createGateway(options: GatewayOptions): Gateway {
  const { logger } = options;
  const stack = new StopStack();
  let resolveFailed: (failure: Failure) => void = () => undefined;
  const failed = new Promise<Failure>((resolve) => {
    resolveFailed = resolve;
  });
  const grace = { ms: GRACE_MS };
  const onError = (part: string, error: unknown): void =>
    logger.error('gateway.stop_failed', { part, ...errorFields(error) });
  let closed: Promise<void> | undefined;
  const onStoreFailed = (error: Error): void => {
    grace.ms = GRACE_AFTER_FAILURE_MS;
    // All at once, since none of them can acknowledge anything any more.
    closed ??= stack.closeDoors(onError);
    resolveFailed({ part: 'store', error });
  };
  const unwind = async (): Promise<void> => {
    await closed;
    await stack.unwind(onError);
  };
  let running: Running | undefined;
  return {
    failed,
    async start() {
      const fail = {
        store: onStoreFailed,
        delivery: (error: Error) => resolveFailed({ part: 'delivery', error }),
      };
      try {
        const threads = deliversInThreads(options)
          ? loadDeliveryThreads({
              ...{ config: options.config, stack, grace },
              fail: fail.delivery,
            })
          : undefined;
        // Most modules are loaded here, while the threads of delivery and of the store load theirs.
        const { createBase, openStore } = await import('./parts.ts');
        const base = await createBase(options, stack, grace);
        const [store, { start }] = await Promise.all([
          openStore(base, fail.store),
          import('./start.ts'),
        ]);
        running = await start({ options, base, store, threads });
        return running.addresses;
      } catch (error) {
        await unwind();
        throw error;
      }
    },
    stop: unwind,
    reload: (who) =>
      running?.reload(who) ?? Promise.resolve({ ok: false, mistakes: ['It has not started yet.'] }),
  };
}

/** A gateway with a database delivers in its main thread: more gateways use more cores. */
const deliversInThreads = ({ config, deliversHere }: GatewayOptions): boolean =>
  deliversHere !== true && config.spool.url === 'sqlite';
