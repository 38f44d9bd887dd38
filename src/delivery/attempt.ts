import type { Endpoint } from '../domain/endpoint.ts';
import { NotYet } from '../intake/normalizer.ts';
import { errorFields, type Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { AttemptTrace, Tracing } from '../observability/tracing.ts';
import type { Clock } from '../runtime/clock.ts';
import { type Claimed, type Entry, FIRST_REFUSAL_NUMBER, type Outcome } from '../spool/entry.ts';
import { refusalNumber } from '../spool/refusals.ts';
import { reasonDetail } from '../domain/reasons.ts';
import { RawDamaged, RawUnreadable } from '../spool/blobs.ts';
import type { Damage } from './damage.ts';
import { Forbidden, Later, Refused, Unclear } from './answer.ts';
import type { KeptOutcome } from './kept-outcome.ts';
import { AttemptRecord, Steps, type Work } from './work.ts';
import { deliver, type Delivered, type DeliveryParts } from './deliver.ts';
import { Notes } from './notes.ts';
import { interrupted, isThrottledAlone, outcomeOf } from './outcome.ts';
import { Requests } from './requests.ts';
import type { ShopPlatform } from './shop-platform.ts';

export interface AttemptParts extends DeliveryParts {
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
  /** In [0, 1), for the jitter of the schedule. */
  readonly random: () => number;
  readonly giveUpAfterMs: number;
  readonly damage: Damage;
  readonly tracing?: Tracing | undefined;
  /** Called after an outcome is durable. */
  readonly onSettled: (entry: Entry, outcome: Outcome) => void;
}

/** What differs from one attempt to the next. */
export interface AttemptOptions {
  readonly signal: AbortSignal;
  /**
   * Called before each request. Renews the lease if it may have ended: another gateway may have the
   * entry now. Aborts the attempt if the lease is lost.
   */
  readonly confirmLease: () => Promise<void>;
  /** Called before the outcome is durable, when no more requests to the platform follow. */
  readonly onOutcome: () => void;
  /** Writes the outcome. */
  readonly kept: KeptOutcome;
  /** Set for a probe of this endpoint, with the probe's timeout. */
  readonly probe?: { readonly endpoint: Endpoint; readonly timeoutMs: number };
}

/** After this many failures while others were delivered, requests are tried only once. */
const ONE_TRY_AFTER_ATTEMPTS = 6;

/** Makes one attempt, updates the shop's health and settles the entry. Never throws. */
export async function attempt(
  claimed: Claimed,
  shop: ShopPlatform,
  parts: AttemptParts,
  options: AttemptOptions,
): Promise<void> {
  const { entry, lease } = claimed;
  const { name } = shop.settings;
  const log = parts.logger.with({ entry: entry.id, channel: entry.channel, shop: name });
  const trace = parts.tracing?.attempt({
    ...{ id: entry.id, shopId: entry.shopId, shop: name, channel: entry.channel },
    ...{ kind: entry.kind, claim: lease.generation },
  });
  const work = workOf(claimed, shop, parts, options, { log, trace });
  const { steps, record, notes } = work;
  let state = 'not_settled';
  try {
    const { outcome, followUps } = await outcomeOfWork(work, parts, log);
    steps.end(outcome.state, detailOf(outcome, parts.clock));
    options.onOutcome();
    // While a shop is down the request stays the same, so it is not stored again.
    const made = outcome.state === 'queued' && !outcome.counts ? undefined : record.made;
    const settlement = {
      steps: steps.all,
      ...(notes.changed && { notes: notes.changed }),
      ...(followUps && { followUps }),
    };
    if (!(await steps.timed('settle', () => options.kept.settle(outcome, settlement, made)))) {
      state = 'lease_lost';
      log.warn('entry.lease_lost', { generation: lease.generation });
      return;
    }
    state = outcome.state;
    steps.log(outcome.state);
    parts.metrics.settled.inc({ shop: name, channel: entry.channel, outcome: outcome.state });
    if (outcome.state === 'delivered') {
      const seconds = (parts.clock() - entry.receivedAt) / 1000;
      parts.metrics.deliverySeconds.observe({ channel: entry.channel }, seconds);
    }
    parts.onSettled(entry, outcome);
    if (outcome.state === 'delivered') await releaseAlike(entry, parts);
  } catch (error) {
    // The process is about to end, or the store refuses the outcome for good.
    log.error('entry.not_settled', errorFields(error));
  } finally {
    trace?.end(state);
  }
}

function workOf(
  claimed: Claimed,
  shop: ShopPlatform,
  { spool, clock, metrics }: AttemptParts,
  { signal, probe, confirmLease }: AttemptOptions,
  { log, trace }: { readonly log: Logger; readonly trace: AttemptTrace | undefined },
): Work {
  const client = probe === undefined ? shop.client : clientFor(probe, shop);
  const once = probe !== undefined || claimed.entry.attempts >= ONE_TRY_AFTER_ATTEMPTS;
  const notes = new Notes(claimed.notes, claimed.isUnended);
  return {
    ...{ claimed, shop, spool, signal, notes },
    steps: new Steps(log, clock, trace),
    startedAt: clock(),
    requests: new Requests(client, signal, { once, confirmLease }),
    alarm: (alarm) => {
      metrics.alarms.inc({ alarm });
      log.error(`platform.${alarm}`);
    },
    record: new AttemptRecord(),
    probes: probe?.endpoint,
  };
}

/** A probe of messages may upload files, so only the other requests get the short timeout. */
function clientFor(
  { endpoint, timeoutMs }: NonNullable<AttemptOptions['probe']>,
  { client }: ShopPlatform,
): ShopPlatform['client'] {
  return endpoint === 'media' ? client.within(timeoutMs, timeoutMs) : client.within(timeoutMs);
}

async function outcomeOfWork(work: Work, parts: AttemptParts, log: Logger): Promise<Delivered> {
  const { entry } = work.claimed;
  try {
    return await deliver(work, parts);
  } catch (error) {
    log.warn('entry.attempt_failed', { ...errorFields(error), attempts: entry.attempts + 1 });
    if (work.signal.aborted) return { outcome: interrupted };
    const alike =
      error instanceof Refused ? await refusedAlike(error, work, parts, log) : undefined;
    return { outcome: failed(error, work, parts, { log, alike }) };
  }
}

/** Updates the shop's health after a failure and returns the entry's outcome. */
function failed(
  error: unknown,
  work: Work,
  { clock, random, giveUpAfterMs, metrics, spool, damage }: AttemptParts,
  { log, alike }: { readonly log: Logger; readonly alike: number | undefined },
): Outcome {
  const { shop, notes, startedAt } = work;
  const { entry } = work.claimed;
  const endpoint: Endpoint =
    error instanceof Later || error instanceof Forbidden ? error.endpoint : 'messages';
  const since = entry.lastAttemptAt === 0 ? startedAt : entry.lastAttemptAt;
  const health = shop.health[endpoint];
  // Events have their own endpoint, so its answers say nothing about messages.
  const isEvent = entry.kind === 'event';
  const alone = isEvent ? health.state === 'steady' : health.lastDeliveredAt > since;
  const first = entry.failures === 0;
  let isWidespread = false;
  if (error instanceof Later) {
    const { timedOut, retryAfterMs } = error;
    if (error.isThrottled) {
      notes.set({ throttled: notes.value.throttled + 1 });
      // The allowance limits the slots of messages, so media throttling reduces that one, too.
      if (!isThrottledAlone({ alone, notes })) {
        shop.health.messages.slowDown(retryAfterMs ?? 1000, startedAt);
      }
    } else if (!isEvent && (!entry.detached || !alone)) {
      // A detached entry that fails while others are delivered is not evidence about the shop.
      const patience = retryAfterMs !== undefined && { retryAfterMs };
      health.failed(entry.lane, error.reason, { first, timedOut, ...patience });
    }
    // A read would be refused alike.
    if (!alone && !error.isThrottled) void shop.checkReads();
  } else if (error instanceof Forbidden) {
    metrics.alarms.inc({ alarm: 'platform_refuses' });
    if (!alone && !isEvent) health.failed(entry.lane, error.reason, { forbidden: true, first });
    if (alone && !error.isTheShop) {
      const { forbidden } = notes.value;
      notes.set({ forbidden: { ...forbidden, [endpoint]: forbidden[endpoint] + 1 } });
    }
  } else if (error instanceof RawUnreadable) {
    metrics.alarms.inc({ alarm: 'raw_unreadable' });
    log.error('spool.raw_unreadable', errorFields(error.cause));
  } else if (error instanceof RawDamaged) {
    isWidespread = damage.add(entry.id);
    metrics.alarms.inc({ alarm: isWidespread ? 'raw_damaged_widely' : 'raw_damaged' });
    log.error('spool.raw_damaged');
    if (!isWidespread) notes.set({ damaged: notes.value.damaged + 1 });
  } else if (error instanceof Unclear) {
    notes.set({ unclear: notes.value.unclear + 1 });
  } else if (error instanceof NotYet && error.memo !== undefined) {
    notes.set({ channel: error.memo });
  }
  const now = clock();
  const when = {
    ...{ now, random: random(), alone, giveUpAfterMs, notes, alike },
    damage: { isRemote: spool.blobs.isRemote, isWidespread },
  };
  const outcome = outcomeOf(error, entry, when);
  if (outcome.state === 'held') metrics.alarms.inc({ alarm: 'unclear_answers' });
  return outcome;
}

/** The number of the refusal that the entry waits for; undefined: the refusal is about it alone. */
async function refusedAlike(
  { words }: Refused,
  { claimed: { entry }, notes }: Work,
  { spool, metrics }: AttemptParts,
  log: Logger,
): Promise<number | undefined> {
  const { shopId, id } = entry;
  const number = refusalNumber(words);
  const waited = notes.value.waitedAlike;
  const { waits, isNew } = await spool.countRefusal({
    ...{ shopId, number, words, lane: entry, id, waited },
  });
  if (isNew) {
    metrics.alarms.inc({ alarm: 'refused_alike' });
    log.error('platform.refuses_alike', { words });
  }
  if (!waits) return undefined;
  notes.set({ waitedAlike: true });
  return number;
}

/** Releases the entries that wait for the same refusal after one of them was delivered. */
async function releaseAlike({ shopId, waitsFor }: Entry, { spool }: AttemptParts): Promise<void> {
  if (waitsFor < FIRST_REFUSAL_NUMBER) return;
  for (const id of await spool.refusedBefore(shopId, waitsFor)) await spool.requeue(id);
  await spool.endRefusal(shopId, waitsFor);
}

function detailOf(outcome: Outcome, clock: Clock): Record<string, string | number | boolean> {
  switch (outcome.state) {
    case 'delivered':
      return {};
    case 'queued':
      return { nextAttemptAt: clock() + outcome.retryInMs, counts: outcome.counts };
    case 'dead':
    case 'held':
    case 'suppressed':
      return reasonDetail(outcome.reason);
  }
}
