import { isDoubtfulAddress } from '../../src/domain/strict-addresses.ts';
import { LIES } from './platform-faults.ts';
import { acceptabilityOf } from './platform-markers.ts';
import type { ScheduledFault } from './platform-traits.ts';
import type { Fate, Outage } from './history.ts';
import { EPOCH, type Run } from './run.ts';
import { oddAddresses, SILENT } from './scenario.ts';

/** Checks delivery's guarantees against the messages that the platform has. */
export function violationsOf(run: Run): string[] {
  const checks = [
    ...[nothingLost, nothingTwice, nothingTwiceUnread, inOrder, progress, fewPosts, noRepeats],
    ...[submittedByHolder, probesInTurn, noHotLoop, fairShares, overWhenDelivered, oneAttemptEach],
  ];
  return [...checks.flatMap((check) => check(run)), ...run.alarms.flatMap(bugs)];
}

const PROGRESS_MS = 60_000;
const ALLOWED_ERRORS = [
  'platform.refuses_alike',
  'platform.unconfirmed_answers',
  // Caused by simulated store failures.
  'entry.not_settled',
  'dispatcher.claim_failed',
  'dispatcher.renew_failed',
  'dispatcher.probe_failed',
  'dispatcher.probing_failed',
  'dispatcher.watchdog_failed',
];

/** Errors that the process logged and that are not expected. */
function bugs({ event, detail, at }: Run['alarms'][number]): string[] {
  return ALLOWED_ERRORS.includes(event) ? [] : [`it says ${event} ${detail} at ${at - EPOCH} ms`];
}

/** How often the platform stored a message, by its tag. */
function stored(run: Run): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { shopId } of run.scenario.shops) {
    for (const { content } of run.platform.messages(shopId)) {
      const tag = /#[^#]*#/.exec(content)?.[0] ?? '';
      counts.set(tag, (counts.get(tag) ?? 0) + 1);
    }
  }
  return counts;
}

function nothingLost(run: Run): string[] {
  const counts = stored(run);
  return run.fates.flatMap((fate) => {
    const { tag } = fate.message;
    if (fate.acceptedAt === undefined) return [];
    const entry = run.entries.get(tag);
    if (entry === undefined) {
      return fate.isMeddledWith ? [] : [`${tag} was acknowledged and is not in the store`];
    }
    if (entry.state !== 'delivered' || (counts.get(tag) ?? 0) > 0) return [];
    const { keepsRemoteId, scopes, faults } = run.scenario.traits;
    // An id that nothing confirms or denies counts, with an alarm.
    const isBare = faults.some(({ kind }) => kind === 'status 200');
    if (isBare && !scopes.readMessages) return [];
    // The platform answered with another sender's message and does not show its remote_id.
    if (!keepsRemoteId && fate.message.wanted.content.includes('[[dup-other]]')) return [];
    return [`${tag} is delivered, and the platform does not have it`];
  });
}

/** No message is stored twice; only checked for platforms that match duplicates by remote_id. */
function nothingTwice(run: Run): string[] {
  if (run.scenario.traits.dedup === 'none') return [];
  return [...stored(run)].flatMap(([tag, count]) =>
    count > 1 && run.scenario.traits.dedup === 'remote_id'
      ? [`${tag} is ${count} times on the platform`]
      : [],
  );
}

/** Nor on a platform that stores every message, where its list shows what it has. */
function nothingTwiceUnread(run: Run): string[] {
  const { traits, happenings } = run.scenario;
  const { dedup, keepsRemoteId, scopes, listOrder, proxyEmptyRate, faults } = traits;
  const isShown =
    keepsRemoteId && scopes.readMessages && listOrder === 'newest first' && proxyEmptyRate === 0;
  if (dedup !== 'none' || !isShown || faults.some(hidesReads)) return [];
  // A request of a gateway that was stopped may arrive after another one has looked.
  const mayArriveLate =
    faults.some(({ kind }) => kind === 'slow') ||
    happenings.some(({ kind }) => kind === 'leases lost' || kind === 'pause');
  if (mayArriveLate) return [];
  // To learn its conversation, the same payload is sent once more.
  const most = ['empty', 'ok', 'no-conversation-id', 'id-only'].includes(traits.newMessageAnswer)
    ? 2
    : 1;
  return [...stored(run)].flatMap(([tag, count]) => {
    const fate = run.fates.find(({ message }) => message.tag === tag);
    if (count <= most || fate?.message.wanted.content.includes('[[') === true) return [];
    return [`${tag} is ${count} times on a platform that listed it`];
  });
}

/** Whether a look may fail for as long as it takes to be given up. */
const hidesReads = ({ kind, paths }: ScheduledFault): boolean =>
  kind !== 'patience' && !LIES.includes(kind) && !['posts', 'media'].includes(paths);

function inOrder(run: Run): string[] {
  const violations: string[] = [];
  for (const { shopId } of run.scenario.shops) {
    const first = new Map<string, number>();
    for (const [index, { content }] of run.platform.messages(shopId).entries()) {
      const tag = /#[^#]*#/.exec(content)?.[0] ?? '';
      if (!first.has(tag)) first.set(tag, index);
    }
    const lanes = groupBy(
      run.fates.filter(
        ({ message, isMeddledWith, hasLeftLane, entryId }) =>
          message.shopId === shopId && !isMeddledWith && !hasLeftLane && entryId !== undefined,
      ),
      ({ message }) => `${message.channel} ${message.lane}`,
    );
    for (const [lane, fates] of lanes) {
      const accepted = fates.toSorted((a, b) => (seqOf(run, a) < seqOf(run, b) ? -1 : 1));
      let last = -1;
      for (const { message } of accepted) {
        const index = first.get(message.tag);
        if (index === undefined) continue;
        if (index < last) violations.push(`${message.tag} came out of order in ${lane}`);
        last = Math.max(last, index);
      }
    }
  }
  return violations;
}

const seqOf = (run: Run, { message }: Fate): number =>
  run.entries.get(message.tag)?.seq ?? Number.MAX_SAFE_INTEGER;

/** Whether the platform accepts it, unchanged or by the ladder, and this can be detected. */
function isDeliverable(run: Run, fate: Fate): boolean {
  const { traits } = run.scenario;
  const { message } = fate;
  const { contact, content, format, cc, attachments } = message.wanted;
  if (!traits.scopes.write || fate.isMeddledWith) return false;
  const marked = acceptabilityOf({
    contact,
    message: { content, format, attachments, email: { cc } },
  });
  // The ladder never removes the sender's name.
  if (marked === 'never' || content.includes('[[422:contact.name]]')) return false;
  // A well-formed address is left out only when the answer names it.
  const namesFields = ['django', 'pointer'].includes(traits.errorBodies);
  const email = contact.email ?? '';
  if (content.includes('[[422:contact.email]]') && email !== '') {
    if (!namesFields && !isDoubtfulAddress(email)) return false;
  }
  // The ladder does not combine two changes, of which one is to upload files again that are gone.
  // Its files expire while others are tried, and all at once are more than the platform takes.
  const { maxPerSecond = Infinity, mediaLifetimeMs = Infinity } = traits;
  if (attachments.length >= maxPerSecond && mediaLifetimeMs < 60_000) return false;
  const odd = traits.emails === 'none' ? 0 : oddAddresses(message);
  if (odd > 0 && attachments.length > 0 && traits.mediaLifetimeMs !== undefined) return false;
  if (odd > 1 || (marked === 'ladder' && odd > 0)) return false;
  const unclear = ['empty', 'ok'].includes(traits.newMessageAnswer);
  const canBeSeen = traits.scopes.readMessages && traits.keepsRemoteId;
  // Three proxy answers in a row look like the platform's own.
  if (unclear && traits.proxyEmptyRate > 0) return false;
  if (unclear || traits.proxyEmptyRate > 0 || traits.duplicateAnswer === 'empty') {
    // The list's order is not documented, and only its first pages are read.
    if (!canBeSeen || traits.listOrder === 'oldest first') return false;
  }
  return true;
}

/** Messages are delivered in time in all lanes that contain no undeliverable message. */
function progress(run: Run): string[] {
  const { duplicateAnswer, faults, maxPerSecond, newMessageAnswer, proxyEmptyRate } =
    run.scenario.traits;
  // Three answers in a row whose meaning nothing could show.
  const mayBeHeld =
    proxyEmptyRate > 0 ||
    (['empty', 'ok'].includes(newMessageAnswer) && faults.some(({ paths }) => paths === 'reads'));
  // If only the list can show what an empty answer meant, the message follows its retry schedule.
  if (duplicateAnswer === 'empty' && faults.some(({ paths }) => paths === 'reads')) return [];
  const spoiled = new Set(
    run.fates.filter((fate) => !isDeliverable(run, fate)).map(({ message }) => laneOf(message)),
  );
  return run.fates.flatMap((fate) => {
    const { message, acceptedAt, deliveredAt } = fate;
    // A message that is forbidden while others are delivered has three attempts within an hour.
    if (fate.hasLeftLane && someAreForbidden(run)) return [];
    // Each gateway finds the platform's rate by itself, so one message may be refused again and again.
    if (fate.hasLeftLane && run.gateways > 1 && maxPerSecond !== undefined) return [];
    if (acceptedAt === undefined || spoiled.has(laneOf(message))) return [];
    // For the same reason, requests that are refused take the place of others: each gateway's share takes as long.
    const shares = maxPerSecond === undefined ? 1 : run.gateways;
    const bound =
      shares * (PROGRESS_MS + backlogMs(run, message.shopId)) + scheduleMs(run, message.shopId);
    const from = wellFrom(run, message.shopId, acceptedAt, bound);
    if (from === undefined || (deliveredAt !== undefined && deliveredAt <= from + bound)) return [];
    const entry = run.entries.get(message.tag);
    if (entry?.state === 'held' && mayBeHeld) return [];
    // A 409 that shows nothing of ours is a refusal, once the ladder has ended.
    if (entry?.state === 'dead' && faults.some(({ kind }) => kind === 'stranger 409')) return [];
    const now =
      deliveredAt === undefined
        ? `is ${entry?.state ?? 'gone'} (${entry?.reason ?? ''}; waits ${entry?.waits ?? ''})`
        : `was delivered ${deliveredAt - from} ms later`;
    return [
      `${message.tag} was accepted at ${acceptedAt - EPOCH}, all was well from ${from - EPOCH} for ${bound} ms, and it ${now}`,
    ];
  });
}

/** The time of one message's own schedule, which does not end with the trouble of the shop. */
function scheduleMs({ scenario: { traits } }: Run, shopId: string): number {
  const faults = traits.faults.filter(({ scope }) => scope === 'all' || scope === shopId);
  // An id alone is read for ten minutes where all reads are refused.
  const isUnread = traits.newMessageAnswer === 'id-only' && !traits.scopes.readMessages;
  // A message that was lied about for this long is tried again after up to ten minutes.
  const isLiedAbout = faults.some(
    ({ kind, fromMs, toMs }) => LIES.includes(kind) && toMs - fromMs > 36_000,
  );
  if (isUnread || isLiedAbout) return 600_000;
  // Messages that were refused alike wait for one that is tried each minute, and are then sent within a minute.
  return faults.some(({ kind }) => kind === 'stranger 409') ? 120_000 : 0;
}

const someAreForbidden = ({ scenario }: Run): boolean =>
  scenario.traits.faults.some(
    ({ kind, rate }) => rate < 1 && ['401', '403', '404 all', 'redirect'].includes(kind),
  );

/** The time that the messages before this one may take on this platform. */
function backlogMs({ scenario, fates, gateways }: Run, shopId: string): number {
  const { traits } = scenario;
  const { latencyMs, maxPerSecond = 1000, faults } = traits;
  const messages = fates.filter(({ message }) => message.shopId === shopId);
  const lanes = groupBy(messages, ({ message }) => laneOf(message));
  const longest = Math.max(...[...lanes.values()].map(({ length }) => length));
  const inTurn = Math.max(longest, messages.length / scenario.concurrency);
  const requests = gateways > 1 ? 6 : 4;
  const asked = faults.some(({ kind }) => kind === '503 retry-after' || kind === '429');
  // A date in Retry-After is compared with a clock that may be wrong.
  const misread =
    gateways > 1 || scenario.happenings.some((each) => each.kind === 'crash' && each.skewMs !== 0);
  // An upload that was in flight when the trouble ended may use its whole timeout.
  const waits = faults.some(({ kind }) => SILENT.includes(kind));
  // Heads that are always refused or never answered occupy a probe or a slot from time to time.
  const strange = messages.filter(({ message }) => message.isStrange).length;
  const silent = fates.filter(({ message }) => message.wanted.content.includes('[[hang]]')).length;
  return (
    inTurn * requests * latencyMs[1] +
    (messages.length * requests * 1000) / maxPerSecond +
    (asked ? (misread ? 3_600_000 : 60_000) : 0) +
    strange * 30_000 +
    // A probe counts as failed if a proxy replaces its answer.
    (traits.proxyEmptyRate > 0 ? 60_000 : 0) +
    (waits ? 4 * scenario.requestTimeoutMs : 0) +
    (silent * 6 * scenario.requestTimeoutMs) / scenario.concurrency
  );
}

/** The first time from which there is no trouble for `forMs`; undefined if the run ends before. */
function wellFrom(run: Run, shopId: string, at: number, forMs: number): number | undefined {
  const troubles = [
    ...run.outages,
    ...run.scenario.traits.faults
      .filter(({ scope }) => scope === 'all' || scope === shopId)
      .map(({ fromMs, toMs }) => ({ from: EPOCH + fromMs, to: EPOCH + toMs })),
  ].toSorted((a, b) => a.from - b.from);
  let from = at;
  for (const trouble of troubles) {
    if (trouble.to <= from) continue;
    if (trouble.from >= from + forMs) break;
    from = trouble.to;
  }
  return from + forMs > run.endedAt ? undefined : from;
}

/** Whether nothing is wrong: no faults, and a platform that tells what it has stored. */
export function isCalm({ scenario: { traits, happenings, messages } }: Run): boolean {
  // Otherwise the conversation of a text message is looked up by submitting the payload again.
  const tells = traits.newMessageAnswer !== 'id-only' || traits.scopes.readMessages;
  const answersWell =
    tells &&
    !['empty', 'ok', 'no-conversation-id'].includes(traits.newMessageAnswer) &&
    (traits.keepsRemoteId || traits.dedup !== 'content');
  return (
    traits.faults.length === 0 &&
    traits.proxyEmptyRate === 0 &&
    traits.maxPerSecond === undefined &&
    traits.mediaLifetimeMs === undefined &&
    traits.scopes.write &&
    answersWell &&
    happenings.every(({ kind }) => kind === 'pause' || kind === 'reload') &&
    messages.every(({ wanted, isStrange }) => !isStrange && !wanted.content.includes('[['))
  );
}

/** What a run cost the platform. A calm shop's first message is read back, and no other. */
export function requestsOf(run: Run): Record<'shops' | 'delivered' | 'posts' | 'reads', number> {
  return {
    shops: run.scenario.shops.length,
    delivered: run.fates.filter(({ deliveredAt }) => deliveredAt !== undefined).length,
    posts: run.platform.posts.filter(({ path }) => path === 'messages').length,
    reads: run.platform.reads,
  };
}

/** Few requests per message without faults; within the budget with them. */
function fewPosts(run: Run): string[] {
  const { delivered, posts: total } = requestsOf(run);
  if (isCalm(run) && total > Math.ceil(delivered * 1.05)) {
    return [`${total} requests for ${delivered} messages, and nothing was wrong`];
  }
  const posts = new Map<string, number>();
  for (const { path, remoteId = '' } of run.platform.posts) {
    if (path === 'messages') posts.set(remoteId, (posts.get(remoteId) ?? 0) + 1);
  }
  const troubleMs = run.endedAt - EPOCH;
  const probes = troubleMs / 5000;
  return [...posts].flatMap(([remoteId, count]) =>
    count > 45 + probes ? [`${count} requests for ${remoteId}`] : [],
  );
}

/**
 * A message that the platform has confirmed is not submitted again, except once to learn its
 * conversation. A process that dies or pauses before it stores the confirmation may submit again.
 */
function noRepeats(run: Run): string[] {
  const { traits, requestTimeoutMs } = run.scenario;
  const answersLate = traits.faults.some(({ kind }) => kind === 'slow');
  if (['empty', 'ok'].includes(traits.newMessageAnswer) || answersLate) return [];
  // Otherwise nothing identifies the message; nor if a proxy answers the lookups.
  const isListed =
    traits.keepsRemoteId && traits.scopes.readMessages && traits.listOrder === 'newest first';
  const canBeTold = isListed && traits.proxyEmptyRate === 0;
  if (traits.duplicateAnswer === 'empty' && !canBeTold) return [];
  if (traits.latencyMs[1] * 2 > Math.min(5000, requestTimeoutMs)) return [];
  const known =
    ['message', 'data', 'message-envelope'].includes(traits.newMessageAnswer) &&
    traits.faults.every(({ kind }) => kind !== 'commit then bare 200');
  const posts = groupBy(
    run.platform.posts.filter(({ path }) => path === 'messages'),
    ({ remoteId = '' }) => remoteId,
  );
  return [...posts].flatMap(([remoteId, all]) => {
    const first = all.findIndex(({ outcome }) => outcome === 'created' || outcome === 'duplicate');
    const { at = Infinity } = all[first] ?? {};
    const fate = run.fates.find(({ message }) => remoteId.includes(message.tag));
    const strange = fate?.message.wanted.content.includes('[[') === true;
    // Another gateway may submit what a stopped one has not confirmed.
    const isAlone = run.gateways === 1;
    const pauses = run.outages.filter(({ kind }) => kind === 'pause');
    const until = pauses.reduce(
      (time, { from, to }) => (from <= time ? Math.max(time, to) : time),
      at + 10_000,
    );
    const hindered = run.outages.some(
      ({ from, to, kind }) => !(isAlone && kind === 'pause') && from <= until && to >= at - 1000,
    );
    if (run.scenario.happenings.some(({ kind }) => kind === 'leases lost')) return [];
    if (first < 0 || strange || hindered || fate?.isMeddledWith === true) return [];
    const again = all.slice(first + 1).filter((post) => post.at > at);
    return again.length > (known ? 0 : 3)
      ? [`${remoteId} was submitted ${again.length} times more after it was answered`]
      : [];
  });
}

/** An entry that is delivered stays delivered and is never claimed again. */
function overWhenDelivered(run: Run): string[] {
  return run.fates.flatMap(({ message, claims, deliveredAt, isMeddledWith }) => {
    if (isMeddledWith || deliveredAt === undefined) return [];
    const { state } = run.entries.get(message.tag) ?? {};
    if (state !== 'delivered') return [`${message.tag} was delivered, and is ${state ?? 'gone'}`];
    return claims.some((at) => at > deliveredAt)
      ? [`${message.tag} was claimed after it was delivered`]
      : [];
  });
}

/** The time after which a lease ends that is not renewed. */
const LEASE_MS = 45_000;

/** While an attempt at an entry is in flight and its lease is renewed, no other one begins. */
function oneAttemptEach({ overlaps, outages, gateways, fates }: Run): string[] {
  const moved = movedOf(fates);
  // One that was stopped for longer than its lease finds the entry free again, if another has freed it.
  const mayBeFreed = ({ from, to, kind }: Outage) =>
    gateways > 1 && kind === 'pause' && to - from > LEASE_MS;
  return (
    overlaps
      // An operator's retry frees it, too, once its lease has ended.
      .filter(({ tag }) => !moved.has(tag) || outages.every(({ kind }) => kind !== 'pause'))
      .filter(({ begunAt, at, isOthers }) =>
        // A failing store does not renew leases, nor does another gateway that is stopped.
        outages.every(
          (outage) =>
            !(isOthers || outage.kind === 'store' || mayBeFreed(outage)) ||
            outage.to < begunAt ||
            outage.from > at,
        ),
      )
      .map(({ tag, at }) => `${tag} was claimed at ${at - EPOCH}, while an attempt was under way`)
  );
}

/** The messages that an operator moved or erased. */
const movedOf = (fates: readonly Fate[]): ReadonlySet<string> =>
  new Set(fates.filter(({ isMeddledWith }) => isMeddledWith).map(({ message }) => message.tag));

/** A gateway whose lease may have ended, because it was stopped or cut off, submits nothing. */
function submittedByHolder({ stale, scenario, fates }: Run): string[] {
  if (scenario.happenings.some(({ kind }) => kind === 'leases lost')) return [];
  const moved = movedOf(fates);
  return stale
    .filter(({ tag }) => !moved.has(tag))
    .map(({ tag, at }) => `${tag} was submitted at ${at - EPOCH} by a gateway without its lease`);
}

/** Of three equal backlogs each gets a third. */
function fairShares(run: Run): string[] {
  if (run.scenario.isBacklog !== true) return [];
  const delivered = run.fates
    .filter(({ deliveredAt }) => deliveredAt !== undefined)
    .toSorted((a, b) => (a.deliveredAt ?? 0) - (b.deliveredAt ?? 0));
  const half = delivered.slice(0, Math.floor(delivered.length / 2));
  const shares = [...groupBy(half, ({ message }) => message.shopId).values()].map(
    (of) => of.length,
  );
  const fair = half.length / 3;
  // Requests in flight count for one shop or another. Each gateway is fair among its own slots; the differences of
  // several may add up.
  const tolerance = run.gateways === 1 ? fair / 8 : fair / 5;
  const isFair =
    shares.length === 3 && shares.every((share) => Math.abs(share - fair) <= tolerance);
  return isFair ? [] : [`shares of ${shares.join(', ')} where ${Math.round(fair)} each are fair`];
}

function probesInTurn(run: Run): string[] {
  return [...run.probes].flatMap(([shop, times]) =>
    times.flatMap((at, index) => {
      const before = times[index - 1];
      if (before === undefined || at - before >= 5000) return [];
      // A new process does not know the previous one's probes.
      const between = run.outages.some(({ from, to }) => from <= at && to >= before);
      return between ? [] : [`two probes of ${shop} within ${at - before} ms at ${at - EPOCH}`];
    }),
  );
}

/** No entry is claimed more than 12 times within ten seconds. */
function noHotLoop(run: Run): string[] {
  return run.fates.flatMap(({ message, claims }) => {
    const hot = claims.findIndex((at, index) => (claims[index + 12] ?? Infinity) - at < 10_000);
    return hot < 0 ? [] : [`${message.tag} was claimed 12 times in ten seconds`];
  });
}

const laneOf = ({ shopId, channel, lane }: Fate['message']): string =>
  `${shopId} ${channel} ${lane}`;

/** Map.groupBy, which Node 20 does not have. */
function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    groups.set(key, [...(groups.get(key) ?? []), item]);
  }
  return groups;
}
