import type {
  DatabaseStatus,
  FleetStatus,
  GatewayStatus,
  ShopStatus,
} from '../../observability/status.ts';
import { readDatabase } from '../doctor/database.ts';
import { type AlertRule, type Reading, type Verdict, verdictOf } from './alert.ts';
import {
  counted,
  dayInWords,
  durationInWords,
  minuteInWords,
  sizeInWords,
} from '../../runtime/amounts.ts';

/** The thresholds of alerts, as counts, milliseconds and bytes. */
export interface Thresholds {
  /** Number of dead entries of a shop. */
  readonly dead: number;
  /** Number of held entries of a shop. */
  readonly held: number;
  /** Time for which a breaker is open. */
  readonly breakerOpen: number;
  /** Number of messages of a shop that the platform refused with the same error. */
  readonly refusedAlike: number;
  /** Age of a shop's oldest queued entry. */
  readonly oldestQueued: number;
  /** Time until the certificate expires. */
  readonly certificate: number;
  /** Free bytes of the data folder's disk. */
  readonly diskBelow: number;
  readonly badSignaturesPer10min: number;
}

export interface RuleOptions {
  readonly thresholds: Thresholds;
  /** How long a condition must last before it fires, in milliseconds. */
  readonly forMs: number;
}

/** Values over a period of time, which `GatewayStatus` does not contain. */
export interface Recent {
  /** The number of webhooks with an invalid signature in the last ten minutes. */
  readonly badSignatures: number;
  /** Whether the process has run for ten minutes, so that the count is complete. */
  readonly isWhole: boolean;
}

/** A certificate that expires within this time is critical. */
const CERTIFICATE_URGENT_MS = 3 * 24 * 60 * 60 * 1000;
/** Refusals with the same error are critical from this multiple of the threshold. */
const ALIKE_URGENT = 5;
/** Hysteresis: the factors of the threshold at which a condition is resolved. */
const RESOLVED_AGE = 0.8;
const RESOLVED_SPACE = 1.1;

/** Rules about what the store contains: every gateway with the same store reads the same. */
export const RULES_OF_STORE: ReadonlySet<AlertRule> = new Set<AlertRule>([
  ...(['dead', 'held', 'oldest-queued'] as const),
  ...(['database', 'blobs'] as const),
]);

/** Evaluates all rules. Pure. */
export function readAll(status: GatewayStatus, recent: Recent, options: RuleOptions): Reading[] {
  const shops = [
    ...new Set([...status.shops.map(({ shop }) => shop), ...status.counts.map(({ shop }) => shop)]),
  ];
  return [
    ...shops.flatMap((shop) => [
      countReading('dead', shop, status, options),
      countReading('held', shop, status, options),
      oldestReading(shop, status, options),
    ]),
    ...breakerReadings(status, options.thresholds.breakerOpen),
    ...alikeReadings(status, options),
    ...unansweredReadings(status, options),
    ...answerReadings(status),
    ...certificateReading(status, options),
    diskReading(status, options),
    signatureReading(recent, options),
    ...(status.fleet === undefined ? [] : fleetReadings(status.fleet, options)),
  ];
}

/** What the doctor would say of the database, and whether large messages can be stored. */
function fleetReadings({ database, blobs }: FleetStatus, { forMs }: RuleOptions): Reading[] {
  // While the database cannot be reached, nothing of it is known, and readiness says so.
  const checks = database === undefined ? [] : readDatabase(database);
  return [
    ...checks.map(({ check, status, found, todo = '' }): Reading => {
      // One host alone is a decision; several are named so that another one can take over.
      const isWanted =
        check !== 'database.standby' || status === 'failed' || isReplicated(database);
      return {
        key: check,
        // Each gateway has a clock of its own.
        rule: check === 'database.clock' ? 'clock' : 'database',
        verdict: status !== 'ok' && isWanted ? 'bad' : 'good',
        forMs,
        severity: status === 'failed' ? 'critical' : 'warning',
        summary: `The database: ${found}`,
        todo: `${todo.charAt(0).toUpperCase()}${todo.slice(1)}. See docs/scaling.md.`,
      };
    }),
    {
      key: 'blobs',
      rule: 'blobs',
      verdict: blobs === 'unreachable' ? 'bad' : 'good',
      forMs,
      severity: 'critical',
      summary: 'S3 cannot be reached, so large messages and attachments are refused',
      todo: 'Check the bucket, its endpoint and the credentials (spool.blobs; sluice doctor --only database).',
    },
  ];
}

const isReplicated = (database: DatabaseStatus | undefined): boolean => (database?.hosts ?? 1) > 1;

function countReading(
  state: 'dead' | 'held',
  shop: string,
  status: GatewayStatus,
  { thresholds, forMs }: RuleOptions,
): Reading {
  const count = countOf(status, shop, state);
  const messages = `${counted(count, 'message')} of ${shop}`;
  return {
    key: `${state}/${shop}`,
    rule: state,
    shop,
    verdict: verdictOf(count, thresholds[state], thresholds[state]),
    forMs,
    ...(state === 'dead'
      ? {
          severity: 'critical',
          summary: `${messages} could not be delivered`,
          todo: 'See the reason (console: Messages, state dead; or: sluice queue list --state dead), fix the cause, and retry them.',
        }
      : {
          severity: 'warning',
          summary: `${messages} ${count === 1 ? 'is' : 'are'} held for a decision`,
          todo: 'Release or discard them (console: Messages, state held; or: sluice queue list --state held).',
        }),
    figure: count,
  };
}

function oldestReading(
  shop: string,
  status: GatewayStatus,
  { thresholds, forMs }: RuleOptions,
): Reading {
  const oldest = status.counts
    .filter((count) => count.shop === shop && count.state === 'queued')
    .reduce((least, { oldestAt }) => Math.min(least, oldestAt), status.at);
  const age = status.at - oldest;
  const isServed = status.shops.some((each) => each.shop === shop);
  return {
    key: `oldest-queued/${shop}`,
    rule: 'oldest-queued',
    shop,
    verdict: verdictOf(age, thresholds.oldestQueued, RESOLVED_AGE * thresholds.oldestQueued),
    forMs,
    severity: 'critical',
    summary: isServed
      ? `The oldest queued message of ${shop} has waited for ${durationInWords(age)}`
      : `Messages have waited for ${durationInWords(age)} for the shop ${shop}, which is not configured`,
    todo: !isServed
      ? 'Add the shop to the configuration again and reload it, or discard the messages.'
      : 'Check that the platform responds and that delivery.paused is not set. The timeline of the oldest queued message shows its last failure.',
  };
}

/** One reading for each shop on the local platform that limits how long a customer waits for a person. */
function unansweredReadings(
  { at, waitingTickets }: GatewayStatus,
  { forMs }: RuleOptions,
): Reading[] {
  return waitingTickets.flatMap(({ shop, waiting, oldestAt = at, answerWithinMs }): Reading[] => {
    if (answerWithinMs === undefined) return [];
    const age = at - oldestAt;
    return [
      {
        key: `unanswered/${shop}`,
        rule: 'unanswered',
        shop,
        verdict:
          waiting === 0 ? 'good' : verdictOf(age, answerWithinMs, RESOLVED_AGE * answerWithinMs),
        forMs,
        severity: 'warning',
        summary: `A customer of ${shop} has waited for a person for ${durationInWords(age)}; ${counted(waiting, 'ticket')} ${waiting === 1 ? 'waits' : 'wait'}`,
        todo: `Answer it, or complete it (console: Platform, Queue). The limit is shops[].desk.answerWithin.`,
        figure: waiting,
      },
    ];
  });
}

/**
 * One reading for each shop that has reached a limit in the last hour. `figure` is left out, so a
 * growing count is not sent again.
 */
function answerReadings({ waitingTickets }: GatewayStatus): Reading[] {
  return waitingTickets.flatMap(({ shop, overLimits }): Reading[] => {
    if (overLimits === undefined) return [];
    const { unverified, shopBudget, network } = overLimits;
    const causes = [
      ...(unverified > 0
        ? [`${unverified} above the limits for senders whom nothing confirms`]
        : []),
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
        ...{ key: `answers/${shop}`, rule: 'answers', shop, verdict: 'bad', severity: 'warning' },
        // The count covers an hour already.
        forMs: 0,
        summary: `In the last hour ${counted(unverified + shopBudget, 'message')} of ${shop} got no automatic answer: ${causes.join(', ')}`,
        todo: `Answer them, or let the agent answer (console: Platform, Queue).${forwarder} ${limits}. See docs/agent.md.`,
      },
    ];
  });
}

/**
 * One reading for each refusal of many messages. When a refusal ends its reading is missing, which
 * resolves the alert.
 */
function alikeReadings({ shops }: GatewayStatus, { thresholds }: RuleOptions): Reading[] {
  return shops.flatMap(({ shop, refusedAlike }) =>
    refusedAlike.map(({ words, since, count }) => ({
      key: `refused-alike/${shop}/${words}`,
      rule: 'refused-alike' as const,
      shop,
      verdict: count >= thresholds.refusedAlike ? ('bad' as const) : ('between' as const),
      // A refusal is reported only after five messages within ten minutes.
      forMs: 0,
      severity:
        count >= ALIKE_URGENT * thresholds.refusedAlike
          ? ('critical' as const)
          : ('warning' as const),
      summary: `The platform has refused ${counted(count, 'message')} of ${shop} with the same error since ${minuteInWords(since)}: ${words}`,
      todo: `The messages stay queued. One is retried every minute; once it is accepted, all are sent. Read the platform's full answer (console: Messages, state queued) and contact its operators. To retry: sluice shops try ${shop}`,
      figure: count,
    })),
  );
}

function certificateReading(status: GatewayStatus, { thresholds, forMs }: RuleOptions): Reading[] {
  if (status.certificate === undefined) return [];
  const { endsAt, subject, selfSigned } = status.certificate;
  const left = endsAt - status.at;
  const name = subject === '' ? 'SMTP' : `SMTP (${subject})`;
  return [
    {
      key: 'certificate',
      rule: 'certificate',
      verdict: left < thresholds.certificate ? 'bad' : 'good',
      forMs,
      severity: left < CERTIFICATE_URGENT_MS ? 'critical' : 'warning',
      summary:
        left <= 0
          ? `The certificate of ${name} expired on ${dayInWords(endsAt)}`
          : `The certificate of ${name} expires in ${durationInWords(left)}, on ${dayInWords(endsAt)}`,
      todo: selfSigned
        ? 'Restart the gateway, which generates a new self-signed certificate.'
        : 'Renew it and replace the files named in smtp.tls; they are loaded without a restart.',
    },
  ];
}

function diskReading({ disk }: GatewayStatus, { thresholds, forMs }: RuleOptions): Reading {
  // A disk whose file system does not say how much is free raises no alarm: doctor warns of it.
  const { freeBytes = Infinity, totalBytes = Infinity, reserveBytes } = disk;
  const isFull = freeBytes < reserveBytes;
  const badBelow = Math.max(thresholds.diskBelow, reserveBytes);
  const isWell = freeBytes >= Math.min(RESOLVED_SPACE * badBelow, totalBytes);
  return {
    key: 'disk',
    rule: 'disk',
    verdict: freeBytes < badBelow ? 'bad' : isWell ? 'good' : 'between',
    forMs,
    severity: isFull ? 'critical' : 'warning',
    summary: `${sizeInWords(freeBytes)} of ${sizeInWords(totalBytes)} are free on the disk of the data folder${
      isFull ? ': new messages are refused' : ''
    }`,
    todo: 'Free space on this disk, or reduce spool.retain.',
  };
}

function signatureReading(recent: Recent, { thresholds }: RuleOptions): Reading {
  const limit = thresholds.badSignaturesPer10min;
  const verdict = verdictOf(recent.badSignatures, limit, Math.max(1, limit / 2));
  return {
    key: 'bad-signatures',
    rule: 'bad-signatures',
    // Without ten minutes of data the alert cannot be resolved.
    verdict: verdict === 'good' && !recent.isWhole ? 'between' : verdict,
    // The count covers ten minutes already.
    forMs: 0,
    severity: 'warning',
    summary: `${counted(recent.badSignatures, 'webhook')} in 10 minutes had an invalid signature`,
    todo: "Compare http.publicUrl and the shops' authTokens with Twilio's settings (sluice doctor --only twilio), or their publicKey with that of the Telnyx account, or their appSecrets with those of the apps at Meta; if they match, the requests are forged.",
    figure: recent.badSignatures,
  };
}

const countOf = (status: GatewayStatus, shop: string, state: string): number =>
  status.counts
    .filter((count) => count.shop === shop && count.state === state)
    .reduce((sum, { count }) => sum + count, 0);

/** One reading for each breaker of each shop. */
export function breakerReadings(status: GatewayStatus, openForMs: number): Reading[] {
  return status.shops.flatMap((shop) =>
    shop.breakers.map(({ part, state, since }) => ({
      key: `breaker-open/${shop.shop}/${part}`,
      rule: 'breaker-open' as const,
      shop: shop.shop,
      verdict: state === 'closed' ? closed(shop, status) : ('bad' as const),
      forMs: openForMs,
      severity: 'critical' as const,
      summary:
        part === 'messages'
          ? `Deliveries of ${shop.shop} ${since === undefined ? 'are' : 'have been'} stopped${sinceWords(since)}: the platform fails or refuses all of them`
          : `Attachments of ${shop.shop} ${since === undefined ? 'wait' : 'have waited'}${sinceWords(since)}: the platform does not accept uploads`,
      todo: `The messages are kept. One is retried every 5 to 25 seconds; once it is accepted, all are sent. Read the reason (sluice shops), and check the platform and the shop's key (sluice doctor --only platform). To retry: sluice shops try ${shop.shop}`,
    })),
  );
}

const sinceWords = (since: number | undefined): string =>
  since === undefined ? '' : ` since ${minuteInWords(since)}`;

/**
 * Breakers are closed when the process starts. While messages wait and none has been delivered
 * since, that does not mean that the platform has recovered.
 */
function closed({ shop, lastDeliveredAt }: ShopStatus, { counts }: GatewayStatus): Verdict {
  if (lastDeliveredAt !== undefined) return 'good';
  const waits = counts.some(
    (count) => count.shop === shop && (count.state === 'queued' || count.state === 'delivering'),
  );
  return waits ? 'between' : 'good';
}
