import { errorFields, type Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Tracing } from '../observability/tracing.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Claimed, Entry, Outcome } from '../spool/entry.ts';
import { AttemptRecord } from './attempt-record.ts';
import { deliver, type DeliveryParts } from './deliver.ts';
import { ConfigurationFault, Later, Refused } from './failure.ts';
import { outcomeOf } from './outcome.ts';
import type { ShopPlatform } from './shop-platform.ts';
import { Steps } from './steps.ts';

export interface AttemptParts extends DeliveryParts {
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
  /** In [0, 1), for the jitter of the schedule. */
  readonly random: () => number;
  readonly giveUpAfterMs: number;
  readonly tracing?: Tracing | undefined;
  /** Called after an outcome is durable. */
  readonly onSettled: (entry: Entry, outcome: Outcome) => void;
}

/**
 * Makes one attempt, learns what it says about the shop, and settles the entry. `onOutcome` is called
 * before that is durable: the platform is done with it. Never throws.
 */
export async function attempt(
  claimed: Claimed,
  shop: ShopPlatform,
  parts: AttemptParts,
  signal: AbortSignal,
  onOutcome: () => void,
): Promise<void> {
  const { entry, lease } = claimed;
  const { name } = shop.settings;
  const log = parts.logger.with({ entry: entry.id, channel: entry.channel, shop: name });
  const trace = parts.tracing?.attempt({
    ...{ id: entry.id, shopId: entry.shopId, shop: name, channel: entry.channel },
    ...{ kind: entry.kind, claim: lease.generation },
  });
  const steps = new Steps(log, parts.clock, trace);
  const record = new AttemptRecord();
  let state = 'not_settled';
  let refusal: string | undefined;
  try {
    let outcome: Outcome;
    try {
      outcome = await deliver(claimed, shop, parts, steps, record, signal);
      if (outcome.state === 'delivered') shop.delivered();
      else shop.breakers.messages.releaseProbe();
    } catch (error) {
      log.warn('entry.attempt_failed', { ...errorFields(error), attempts: entry.attempts + 1 });
      const fault = await faultBehind(error, entry, shop, parts, log);
      if (fault instanceof Refused) refusal = wordsOf(fault);
      outcome = signal.aborted ? interrupted(parts.clock()) : failed(fault, entry, shop, parts);
    }
    steps.add(outcome.state, detailOf(outcome));
    onOutcome();
    // Waiting for a shop that is down changes nothing about what it will be sent.
    const made = outcome.state === 'queued' && !outcome.counts ? undefined : record.made;
    const settle = () => parts.spool.settle(lease, outcome, steps.all, made);
    if (!(await steps.timed('settle', settle))) {
      state = 'lease_lost';
      log.warn('entry.lease_lost', { generation: lease.generation });
      return;
    }
    state = outcome.state;
    // The fifth of them spoke for all while this one was being written.
    if (refusal !== undefined && outcome.state === 'dead' && shop.refusals.isSaidToAll(refusal)) {
      await parts.spool.requeue(entry.id);
    }
    parts.metrics.settled.inc({ shop: name, channel: entry.channel, outcome: outcome.state });
    if (outcome.state === 'delivered') {
      const seconds = (parts.clock() - entry.receivedAt) / 1000;
      parts.metrics.deliverySeconds.observe({ channel: entry.channel }, seconds);
    }
    parts.onSettled(entry, outcome);
  } catch (error) {
    // The spool itself failed: the lease runs out, or the process is about to end.
    log.error('entry.not_settled', errorFields(error));
  } finally {
    trace?.end(state);
  }
}

/** A stop or a lost lease is no fault of the entry's. */
function interrupted(now: number): Outcome {
  return {
    state: 'queued',
    nextAttemptAt: now,
    reason: 'interrupted',
    counts: false,
    failingMs: 0,
    detach: false,
  };
}

function failed(error: unknown, entry: Entry, shop: ShopPlatform, parts: AttemptParts): Outcome {
  const { messages, media } = shop.breakers;
  if (error instanceof Refused) messages.succeeded();
  else if (!(error instanceof Later && error.part === 'messages')) messages.releaseProbe();
  if (error instanceof ConfigurationFault) parts.metrics.alarms.inc({ alarm: 'platform_refuses' });
  return outcomeOf(error, entry, {
    now: parts.clock(),
    random: parts.random(),
    shopWorks: shop.lastSuccessAt > Math.max(entry.lastAttemptAt, entry.receivedAt),
    outage: error instanceof Later && (error.part === 'media' ? media : messages).isOpen,
    giveUpAfterMs: parts.giveUpAfterMs,
  });
}

/**
 * Five lanes refused with the same words: it was not their fault. They are tried again, and what
 * looked like a refusal of this entry is a fault of the configuration.
 */
async function faultBehind(
  error: unknown,
  entry: Entry,
  shop: ShopPlatform,
  { spool }: AttemptParts,
  log: Logger,
): Promise<unknown> {
  if (!(error instanceof Refused)) return error;
  const lane = `${entry.channel}/${entry.lane}`;
  const refused = shop.refusals.add(lane, entry.id, wordsOf(error));
  if (refused === undefined) return error;
  const { messages } = shop.breakers;
  // Those that were in flight say nothing new; a probe that hears the same has failed.
  if (messages.isOpen) messages.failed();
  else {
    log.error('platform.refuses_everything', { status: error.status, entries: refused.length });
    messages.trip();
  }
  for (const id of refused) if (id !== entry.id) await spool.requeue(id);
  return new ConfigurationFault('the platform refuses everything', { cause: error });
}

const wordsOf = ({ status, answer }: Refused): string => `${status} ${answer}`;

function detailOf(outcome: Outcome): Record<string, string | number | boolean> {
  switch (outcome.state) {
    case 'delivered':
      return {};
    case 'queued':
      return { nextAttemptAt: outcome.nextAttemptAt, counts: outcome.counts };
    case 'dead':
      // The reason may quote the platform's answer, which may quote the message: not for the log.
      return {};
    case 'held':
    case 'suppressed':
      return { reason: outcome.reason };
  }
}
