import type { Endpoint } from '../domain/endpoint.ts';
import type { FleetStatus, GatewayStatus, ShopStatus } from '../observability/status.ts';
import {
  counted,
  dayInWords,
  durationInWords,
  minuteInWords,
  sizeInWords,
} from '../runtime/amounts.ts';
import { ruleSchema, type Severity } from './alerts/alert.ts';
import { readDatabase } from './doctor/database.ts';

/** What can be wrong: what an alert is about, and what only those who look are told. */
export const CONDITION_KINDS = [
  ...ruleSchema.options,
  ...(['paused', 'some-fail', 'recovering', 'pages-refused'] as const),
] as const;
export type ConditionKind = (typeof CONDITION_KINDS)[number];

/**
 * Something that is wrong with the gateway, or with what it depends on. The overview, the alerts, the
 * commands and the doctor say it in these words. It contains shops, counts and times, but no person,
 * address, number or content; only `words` may quote a message.
 */
export interface Condition {
  /** Identifies the kind and its subject, also after a restart: `breaker-open/acme/messages`. */
  readonly id: string;
  readonly kind: ConditionKind;
  readonly severity: Severity;
  /** A configured name, or the id of a shop that is no longer configured. */
  readonly shop?: string;
  readonly part?: Endpoint;
  /** When it began, in milliseconds since the epoch. */
  readonly since?: number;
  /** One line, without an end mark and without `since`. */
  readonly sentence: string;
  /** What to do about it. */
  readonly remedy: string;
  /** What the platform says, for operators only. */
  readonly words?: string;
  /** This gateway refuses new messages meanwhile. */
  readonly stopsIntake: boolean;
  /** False: it is not that bad, but too close for an alert about it to end. */
  readonly holds: boolean;
  /** The count in the sentence, if any. */
  readonly figure?: number;
}

/** From where on something is a condition, as counts, milliseconds and bytes. */
export interface Limits {
  /** Number of dead entries of a shop. */
  readonly dead: number;
  /** Number of held entries of a shop. */
  readonly held: number;
  /** Number of messages of a shop that the platform refused with the same error. */
  readonly refusedAlike: number;
  /** Age of a shop's oldest queued entry. */
  readonly oldestQueued: number;
  /** Time until the certificate expires. */
  readonly certificate: number;
  /** Free bytes of the data folder's disk. */
  readonly diskBelow: number;
}

/** A certificate that expires within this time is critical. */
const CERTIFICATE_URGENT_MS = 3 * 24 * 60 * 60 * 1000;
/** Refusals with the same error are critical from this multiple of the limit. */
const ALIKE_URGENT = 5;
/** Most failures of single messages are over by then. */
const FAILING_FOR_MS = 15_000;
/** The factors of the limit between which a condition neither holds nor is over. */
const OVER_AT_AGE = 0.8;
const OVER_AT_SPACE = 1.1;

type Made = Omit<Condition, 'stopsIntake' | 'holds'> &
  Partial<Pick<Condition, 'stopsIntake' | 'holds'>>;

/** As the console and the commands show it. */
export type ShownCondition = Omit<Condition, 'holds' | 'figure'>;

/** What is wrong now, the most severe first. */
export function shownConditions(status: GatewayStatus, limits: Limits): ShownCondition[] {
  return conditionsOf(status, limits)
    .filter(({ holds }) => holds)
    .map(({ holds: _holds, figure: _figure, ...shown }) => shown)
    .toSorted((a, b) => Number(b.severity === 'critical') - Number(a.severity === 'critical'));
}

/** Everything that is wrong, also what neither holds nor is over. Pure. */
export function conditionsOf(status: GatewayStatus, limits: Limits): Condition[] {
  const { shops, fleet } = status;
  const named = new Set([...shops, ...status.counts].map(({ shop }) => shop));
  const made: readonly Made[] = [
    ...diskConditions(status.disk, limits),
    ...(status.deliveryPaused ? [PAUSED] : []),
    ...shops.flatMap((shop) => [
      ...shop.breakers.flatMap((breaker) => stopped(shop, breaker, status)),
      ...refusedAlike(shop, limits),
    ]),
    ...[...named].flatMap((shop) => [
      ...unsettled(shop, status, limits),
      // Of a shop whose deliveries are stopped, that is said.
      ...(isStopped(shop, status) ? [] : oldestQueued(shop, status, limits)),
    ]),
    ...status.waitingTickets.flatMap((tickets) => [
      ...unanswered(tickets, status.at),
      ...overLimits(tickets),
    ]),
    ...refusedPages(status),
    ...certificate(status, limits),
    ...(fleet === undefined ? [] : ofFleet(fleet)),
  ];
  return made.map((each) => ({ stopsIntake: false, holds: true, ...each }));
}

const isStopped = (name: string, { shops }: GatewayStatus): boolean =>
  shops.some(
    ({ shop, breakers }) =>
      shop === name &&
      breakers.some(({ part, state }) => part === 'messages' && state !== 'closed'),
  );

/** The sentence with its beginning, where nothing else shows when it began. */
export const datedSentence = ({ sentence, since }: Pick<Condition, 'sentence' | 'since'>): string =>
  since === undefined ? sentence : `${sentence}, since ${minuteInWords(since)}`;

/** Less free space than is kept for what was accepted, or than the limit. */
export function diskConditions(
  { freeBytes, totalBytes, reserveBytes }: GatewayStatus['disk'],
  { diskBelow }: Pick<Limits, 'diskBelow'>,
): Condition[] {
  // A disk whose file system does not say how much is free raises no alarm: doctor warns of it.
  if (freeBytes === undefined) return [];
  const badBelow = Math.max(diskBelow, reserveBytes);
  const holds = freeBytes < badBelow;
  const isOver = freeBytes >= Math.min(OVER_AT_SPACE * badBelow, totalBytes ?? Infinity);
  if (!holds && isOver) return [];
  const isFull = freeBytes < reserveBytes;
  const all = totalBytes === undefined ? '' : ` of ${sizeInWords(totalBytes)}`;
  return [
    {
      ...{ id: 'disk', kind: 'disk', severity: isFull ? 'critical' : 'warning' },
      holds,
      stopsIntake: isFull,
      sentence: isFull
        ? `The disk of the data folder is full (${sizeInWords(freeBytes)}${all} free): new messages are refused`
        : `The disk of the data folder is almost full (${sizeInWords(freeBytes)}${all} free)`,
      remedy: isFull
        ? `Free space on this disk until ${sizeInWords(reserveBytes)} are free, or reduce spool.retain. Senders retry automatically; deliveries go on.`
        : 'Free space on this disk, or reduce spool.retain.',
    },
  ];
}

/** `delivery.paused` is set. */
export const PAUSED = {
  id: 'paused',
  kind: 'paused',
  severity: 'warning',
  sentence: 'Delivery is paused',
  remedy:
    'Messages are accepted and stay queued. To resume, set delivery.paused: false and reload the configuration.',
} as const;

type Breaker = ShopStatus['breakers'][number];

/** What the platform of a shop does not accept. */
function stopped(shop: ShopStatus, breaker: Breaker, status: GatewayStatus): Made[] {
  const { part, state, since, cause, todo, words } = breaker;
  const { shop: name } = shop;
  const id = `breaker-open/${name}/${part}`;
  const of = { shop: name, part, ...(since !== undefined && { since }) };
  if (state !== 'closed') {
    const stop = stopCondition({ shop: name, part, since, cause, todo });
    return [{ ...stop, ...(words !== undefined && { words }) }];
  }
  if (since !== undefined && status.at - since > FAILING_FOR_MS) {
    return [
      {
        ...{ id: `some-fail/${name}/${part}`, kind: 'some-fail', severity: 'warning' },
        ...{ ...of, ...(words !== undefined && { words }) },
        sentence: `Some ${part === 'messages' ? 'deliveries' : 'attachments'} of ${name} fail${cause === undefined ? '' : `: ${cause}`}`,
        remedy: `${todo ?? CHECK_PLATFORM} The messages are kept, and new ones are still sent.`,
      },
    ];
  }
  const waiting = countOf(status, name, 'queued');
  const { recoveringSince } = breaker;
  if (part === 'messages' && recoveringSince !== undefined && waiting > 0) {
    return [
      {
        ...{ id: `recovering/${name}`, kind: 'recovering', severity: 'warning' },
        ...{ shop: name, since: recoveringSince },
        sentence: `Deliveries of ${name} are recovering; ${counted(waiting, 'message')} left`,
        remedy:
          'What waited is sent step by step, because deliveries work again; nothing has to be done.',
      },
    ];
  }
  // Breakers are closed when the process starts, and when the platform or its key has changed. While messages
  // wait and none has been delivered since, that does not mean that the platform has recovered.
  const isUnknown = shop.untried === true && waiting + countOf(status, name, 'delivering') > 0;
  return isUnknown
    ? [
        {
          ...{ id, kind: 'breaker-open', severity: 'critical', ...of, holds: false },
          sentence: `Nothing of ${name} was delivered since the start, or since its platform changed`,
          remedy: CHECK_PLATFORM,
        },
      ]
    : [];
}

/** Nothing of a shop's messages, or of its attachments, is sent. */
export function stopCondition(of: {
  readonly shop: string;
  readonly part: Endpoint;
  readonly since?: number | undefined;
  readonly cause?: string | undefined;
  readonly todo?: string | undefined;
}): Made {
  const { shop, part, since, cause = unknownCause(part), todo = CHECK_PLATFORM } = of;
  const what =
    part === 'messages' ? `Deliveries of ${shop} are stopped` : `Attachments of ${shop} wait`;
  return {
    ...{ id: `breaker-open/${shop}/${part}`, kind: 'breaker-open', severity: 'critical' },
    ...{ shop, part, ...(since !== undefined && { since }) },
    sentence: `${what}: ${cause}`,
    remedy: `${todo} The messages are kept. One is tried every 5 to 25 seconds, or at once with \`sluice shops try ${shop}\`; once it is accepted, all are sent.`,
  };
}

const unknownCause = (part: Endpoint): string =>
  part === 'messages'
    ? 'the platform fails or refuses all of them'
    : 'the platform does not accept uploads';

const CHECK_PLATFORM = 'Check that the platform is up and that the shop’s key is valid.';

/** A refusal of many messages. It is known only after five of them within ten minutes. */
function refusedAlike({ shop, refusedAlike: all }: ShopStatus, limits: Limits): Made[] {
  return all.map(({ words, since, count }) => ({
    ...{ id: `refused-alike/${shop}/${words}`, kind: 'refused-alike', shop, since, figure: count },
    holds: count >= limits.refusedAlike,
    severity: count >= ALIKE_URGENT * limits.refusedAlike ? 'critical' : 'warning',
    sentence: `The platform has refused ${counted(count, 'message')} of ${shop} with the same error (${words})`,
    remedy: `The messages stay queued. One is tried every minute, or at once with \`sluice shops try ${shop}\`; once it is accepted, all are sent. Read the platform's full answer (console: Messages, state queued) and contact its operators.`,
  }));
}

/** What waits for an operator. */
function unsettled(shop: string, status: GatewayStatus, limits: Limits): Made[] {
  const dead = countOf(status, shop, 'dead');
  const held = countOf(status, shop, 'held');
  const found: Made[] = [
    {
      ...{ id: `dead/${shop}`, kind: 'dead', shop, severity: 'critical', figure: dead },
      sentence: `${counted(dead, 'message')} of ${shop} could not be delivered`,
      remedy:
        'See the reason (console: Messages, state dead; or: sluice queue list --state dead), fix the cause, and retry them.',
    },
    {
      ...{ id: `held/${shop}`, kind: 'held', shop, severity: 'warning', figure: held },
      sentence: `${counted(held, 'message')} of ${shop} ${held === 1 ? 'is' : 'are'} held for a decision`,
      remedy:
        'See why (console: Messages, state held; or: sluice queue list --state held), then release or discard them.',
    },
  ];
  return found.filter(({ kind, figure = 0 }) => figure >= limits[kind as 'dead' | 'held']);
}

function oldestQueued(shop: string, status: GatewayStatus, limits: Limits): Made[] {
  const oldest = status.counts
    .filter((count) => count.shop === shop && count.state === 'queued')
    .reduce((least, { oldestAt }) => Math.min(least, oldestAt), status.at);
  const age = status.at - oldest;
  if (age < OVER_AT_AGE * limits.oldestQueued) return [];
  const isServed = status.shops.some((each) => each.shop === shop);
  const todo = status.deliveryPaused
    ? PAUSED.remedy
    : 'Check that the platform responds. The timeline of the oldest queued message shows its last failure.';
  return [
    {
      ...{ id: `oldest-queued/${shop}`, kind: 'oldest-queued', shop, severity: 'critical' },
      holds: age >= limits.oldestQueued,
      sentence: isServed
        ? `The oldest queued message of ${shop} has waited for ${durationInWords(age)}${status.deliveryPaused ? ', while delivery is paused' : ''}`
        : `Messages have waited for ${durationInWords(age)} for the shop ${shop}, which is not configured`,
      remedy: isServed
        ? todo
        : 'Add the shop to the configuration again and reload it, or discard the messages.',
    },
  ];
}

type Tickets = GatewayStatus['waitingTickets'][number];

/** A shop on the local platform that limits how long a customer waits for a person. */
function unanswered({ shop, waiting, oldestAt, answerWithinMs }: Tickets, now: number): Made[] {
  if (answerWithinMs === undefined || waiting === 0) return [];
  const age = now - (oldestAt ?? now);
  if (age < OVER_AT_AGE * answerWithinMs) return [];
  return [
    {
      ...{ id: `unanswered/${shop}`, kind: 'unanswered', shop, severity: 'warning' },
      ...{ figure: waiting, holds: age >= answerWithinMs },
      sentence: `A customer of ${shop} has waited for a person for ${durationInWords(age)}; ${counted(waiting, 'ticket')} ${waiting === 1 ? 'waits' : 'wait'}`,
      remedy:
        'Answer it, or complete it (console: Platform, Queue). The limit is shops[].desk.answerWithin.',
    },
  ];
}

/** Without `figure`, so an alert with a growing count is not sent again. */
function overLimits({ shop, overLimits: over }: Tickets): Made[] {
  if (over === undefined) return [];
  const { unverified, shopBudget, network } = over;
  const causes = [
    ...(unverified > 0 ? [`${unverified} above the limits for senders whom nothing confirms`] : []),
    ...(shopBudget > 0 ? [`${shopBudget} above the limit of the shop or of a domain`] : []),
  ];
  const limits =
    unverified > 0
      ? 'The limits are shops[].email.unverifiedAnswers and localPlatform.agent.answersPerHour'
      : 'The limit is localPlatform.agent.answersPerHour';
  const forwarder =
    network === undefined
      ? ''
      : ` Most came from ${network}: if that network forwards your mail, add it to shops[].email.forwarders.`;
  return [
    {
      ...{ id: `answers/${shop}`, kind: 'answers', shop, severity: 'warning' },
      sentence: `In the last hour ${counted(unverified + shopBudget, 'message')} of ${shop} got no automatic answer: ${causes.join(', ')}`,
      remedy: `Answer them, or let the agent answer (console: Platform, Queue).${forwarder} ${limits}. See docs/agent.md.`,
    },
  ];
}

/** Of the company's own sites only: anyone can put the chat on a page. */
function refusedPages({ shops, refusedPages: all }: GatewayStatus): Made[] {
  return shops.flatMap(({ shop }) => {
    const own = all.filter((page) => page.shop === shop && page.isOwn);
    const origins = own.map(({ origin }) => origin).join(', ');
    if (own.length === 0) return [];
    return [
      {
        ...{ id: `pages-refused/${shop}`, kind: 'pages-refused', shop, severity: 'warning' },
        sentence: `Pages of ${origins} show the chat of ${shop}, and are not in its origins`,
        remedy: pagesRemedy(origins),
      },
    ];
  });
}

/** @param origins those that are the shop's own, with commas between them */
export const pagesRemedy = (origins: string): string =>
  `Add ${origins} to shops[].chat.origins and reload the configuration, or take the script tag from these pages.`;

function certificate({ at, certificate: found }: GatewayStatus, limits: Limits): Made[] {
  if (found === undefined) return [];
  const { endsAt, subject, selfSigned, unusable } = found;
  const left = endsAt - at;
  if (unusable !== undefined) {
    return [
      {
        ...{ id: 'certificate-files', kind: 'certificate', severity: 'critical' },
        sentence: `The certificate cannot be renewed: ${unusable.found}`,
        remedy: `${capitalized(unusable.todo)}. The previous one stays in use until the gateway stops, which does not start with these files.`,
      },
    ];
  }
  if (left >= limits.certificate) return [];
  const name = subject === '' ? 'SMTP' : `SMTP (${subject})`;
  return [
    {
      ...{ id: 'certificate', kind: 'certificate' },
      severity: left < CERTIFICATE_URGENT_MS ? 'critical' : 'warning',
      sentence:
        left <= 0
          ? `The certificate of ${name} expired on ${dayInWords(endsAt)}`
          : `The certificate of ${name} expires in ${durationInWords(left)}, on ${dayInWords(endsAt)}`,
      remedy: selfSigned
        ? 'Restart the gateway, which generates a new self-signed certificate.'
        : 'Renew it and replace the files named in smtp.tls; they are loaded without a restart.',
    },
  ];
}

/** What the doctor would say of the database, and whether large messages can be stored. */
function ofFleet({ database, blobs }: FleetStatus): Made[] {
  // While the database cannot be reached, nothing of it is known, and readiness says so.
  const checks = database === undefined ? [] : readDatabase(database);
  const ofDatabase = checks.flatMap(({ check, status, found, todo = '' }): Made[] => {
    // One host alone is a decision; several are named so that another one can take over.
    const isWanted =
      check !== 'database.standby' || status === 'failed' || (database?.hosts ?? 1) > 1;
    if (status === 'ok' || !isWanted) return [];
    return [
      {
        // Each gateway has a clock of its own.
        ...{ id: check, kind: check === 'database.clock' ? 'clock' : 'database' },
        severity: status === 'failed' ? 'critical' : 'warning',
        sentence: `The database: ${found}`,
        remedy: `${capitalized(todo)}. See docs/scaling.md.`,
      },
    ];
  });
  if (blobs === 'reachable') return ofDatabase;
  return [
    ...ofDatabase,
    {
      ...{ id: 'blobs', kind: 'blobs', severity: 'critical' },
      sentence: 'S3 cannot be reached, so large messages and attachments are refused',
      remedy:
        'Check the bucket, its endpoint and the credentials (spool.blobs; sluice doctor --only database).',
    },
  ];
}

const countOf = (status: GatewayStatus, shop: string, state: string): number =>
  status.counts
    .filter((count) => count.shop === shop && count.state === state)
    .reduce((sum, { count }) => sum + count, 0);

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
