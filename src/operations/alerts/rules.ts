import type { Facts, ShopFacts } from '../../observability/facts.ts';
import { type Reading, type Verdict, verdictOf } from './alert.ts';
import {
  counted,
  dayInWords,
  durationInWords,
  minuteInWords,
  sizeInWords,
} from '../../runtime/amounts.ts';

/** From when something is an alert. Counts, milliseconds and bytes. */
export interface Thresholds {
  /** So many dead entries of a shop. */
  readonly dead: number;
  /** So many held entries of a shop. */
  readonly held: number;
  /** A breaker that is open for this long. */
  readonly breakerOpen: number;
  /** So many messages of a shop that the platform refuses in the same words. */
  readonly refusedAlike: number;
  /** Age of a shop's oldest queued entry. */
  readonly oldestQueued: number;
  /** Time left to the certificate. */
  readonly certificate: number;
  /** Free bytes of the data folder's disk. */
  readonly diskBelow: number;
  readonly badSignaturesPer10min: number;
}

export interface RuleOptions {
  readonly thresholds: Thresholds;
  /** How long a thing must be bad before it is told, in milliseconds. */
  readonly forMs: number;
}

/** What the facts alone do not say. */
export interface Recent {
  /** Webhooks whose signature did not match, of the last ten minutes. */
  readonly badSignatures: number;
  /** This process has run for ten minutes, so that the count above is whole. */
  readonly isWhole: boolean;
}

/** Once a certificate has less than this left it is urgent. */
const CERTIFICATE_URGENT_MS = 3 * 24 * 60 * 60 * 1000;
/** From so many times the threshold on, refusals in the same words are critical. */
const ALIKE_URGENT = 5;
/** An age has to fall well below its threshold to be well again; free space to rise above it. */
const WELL_AGE = 0.8;
const WELL_SPACE = 1.1;

/** What every rule says about everything that it looks at. Pure. */
export function readAll(facts: Facts, recent: Recent, options: RuleOptions): Reading[] {
  const shops = [
    ...new Set([...facts.shops.map(({ shop }) => shop), ...facts.counts.map(({ shop }) => shop)]),
  ];
  return [
    ...shops.flatMap((shop) => [
      deadReading(shop, facts, options),
      heldReading(shop, facts, options),
      oldestReading(shop, facts, options),
    ]),
    ...breakerReadings(facts, options.thresholds.breakerOpen),
    ...alikeReadings(facts, options),
    ...certificateReading(facts, options),
    diskReading(facts, options),
    signatureReading(recent, options),
  ];
}

function deadReading(shop: string, facts: Facts, { thresholds, forMs }: RuleOptions): Reading {
  const count = countOf(facts, shop, 'dead');
  return {
    key: `dead/${shop}`,
    rule: 'dead',
    shop,
    verdict: verdictOf(count, thresholds.dead, thresholds.dead),
    forMs,
    severity: 'critical',
    summary: `${counted(count, 'message')} of ${shop} could not be delivered`,
    todo: 'See the reason (console: Messages, state dead; or: sluice queue list --state dead), put it right, and retry them.',
    figure: count,
  };
}

function heldReading(shop: string, facts: Facts, { thresholds, forMs }: RuleOptions): Reading {
  const count = countOf(facts, shop, 'held');
  return {
    key: `held/${shop}`,
    rule: 'held',
    shop,
    verdict: verdictOf(count, thresholds.held, thresholds.held),
    forMs,
    severity: 'warning',
    summary: `${counted(count, 'message')} of ${shop} ${count === 1 ? 'waits' : 'wait'} for a person's decision`,
    todo: 'Release or discard them (console: Messages, state held; or: sluice queue list --state held).',
    figure: count,
  };
}

function oldestReading(shop: string, facts: Facts, { thresholds, forMs }: RuleOptions): Reading {
  const oldest = facts.counts
    .filter((count) => count.shop === shop && count.state === 'queued')
    .reduce((least, { oldestAt }) => Math.min(least, oldestAt), facts.at);
  const age = facts.at - oldest;
  const isServed = facts.shops.some((each) => each.shop === shop);
  return {
    key: `oldest-queued/${shop}`,
    rule: 'oldest-queued',
    shop,
    verdict: verdictOf(age, thresholds.oldestQueued, WELL_AGE * thresholds.oldestQueued),
    forMs,
    severity: 'critical',
    summary: isServed
      ? `The oldest queued message of ${shop} has waited for ${durationInWords(age)}`
      : `Messages have waited for ${durationInWords(age)} for the shop ${shop}, which is not configured`,
    todo: !isServed
      ? 'Put the shop back into the configuration and reload it, or discard what waits.'
      : 'Look whether the platform answers and whether delivery.paused is set; the timeline of the oldest queued message has its last failure.',
  };
}

/**
 * One reading for each refusal that many messages of a shop got in the same words. When the refusal
 * is over there is no reading, which ends the alert.
 */
function alikeReadings({ shops }: Facts, { thresholds }: RuleOptions): Reading[] {
  return shops.flatMap(({ shop, refusedAlike }) =>
    refusedAlike.map(({ words, since, count }) => ({
      key: `refused-alike/${shop}/${words}`,
      rule: 'refused-alike' as const,
      shop,
      verdict: count >= thresholds.refusedAlike ? ('bad' as const) : ('between' as const),
      // They are only seen after five within ten minutes.
      forMs: 0,
      severity:
        count >= ALIKE_URGENT * thresholds.refusedAlike
          ? ('critical' as const)
          : ('warning' as const),
      summary: `The platform has refused ${counted(count, 'message')} of ${shop} in the same words since ${minuteInWords(since)}: ${words}`,
      todo: `They wait, one is tried each minute, and all are sent once one is accepted. Read the platform's whole answer (console: Messages, state queued), and ask its operators what has changed; then: sluice shops try ${shop}`,
      figure: count,
    })),
  );
}

function certificateReading(facts: Facts, { thresholds, forMs }: RuleOptions): Reading[] {
  if (facts.certificate === undefined) return [];
  const { endsAt, subject, selfSigned } = facts.certificate;
  const left = endsAt - facts.at;
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
          ? `The certificate of ${name} ended on ${dayInWords(endsAt)}`
          : `The certificate of ${name} ends in ${durationInWords(left)}, on ${dayInWords(endsAt)}`,
      todo: selfSigned
        ? 'Restart the gateway: a self-signed certificate is made anew at the start.'
        : 'Renew it and put the files where smtp.tls says; they are taken up without a restart.',
    },
  ];
}

function diskReading({ disk }: Facts, { thresholds, forMs }: RuleOptions): Reading {
  const { freeBytes, totalBytes, reserveBytes } = disk;
  const isFull = freeBytes < reserveBytes;
  const badBelow = Math.max(thresholds.diskBelow, reserveBytes);
  const isWell = freeBytes >= Math.min(WELL_SPACE * badBelow, totalBytes);
  return {
    key: 'disk',
    rule: 'disk',
    verdict: freeBytes < badBelow ? 'bad' : isWell ? 'good' : 'between',
    forMs,
    severity: isFull ? 'critical' : 'warning',
    summary: `${sizeInWords(freeBytes)} of ${sizeInWords(totalBytes)} are free on the disk of the data folder${
      isFull ? ': new messages are refused' : ''
    }`,
    todo: 'Make room on this disk, or keep entries for less time (spool.retain).',
  };
}

function signatureReading(recent: Recent, { thresholds }: RuleOptions): Reading {
  const limit = thresholds.badSignaturesPer10min;
  const verdict = verdictOf(recent.badSignatures, limit, Math.max(1, limit / 2));
  return {
    key: 'bad-signatures',
    rule: 'bad-signatures',
    // A young process has not seen enough to say that it is over.
    verdict: verdict === 'good' && !recent.isWhole ? 'between' : verdict,
    // The ten minutes are its duration.
    forMs: 0,
    severity: 'warning',
    summary: `${counted(recent.badSignatures, 'webhook')} in 10 minutes had a signature that does not match`,
    todo: "Compare http.publicUrl and the shops' authTokens with Twilio's settings (sluice doctor --only twilio); when both are right, somebody is trying.",
    figure: recent.badSignatures,
  };
}

const countOf = (facts: Facts, shop: string, state: string): number =>
  facts.counts
    .filter((count) => count.shop === shop && count.state === state)
    .reduce((sum, { count }) => sum + count, 0);

/** One reading for each breaker of each shop. */
export function breakerReadings(facts: Facts, openForMs: number): Reading[] {
  return facts.shops.flatMap((shop) =>
    shop.breakers.map(({ part, state, since }) => ({
      key: `breaker-open/${shop.shop}/${part}`,
      rule: 'breaker-open' as const,
      shop: shop.shop,
      verdict: state === 'closed' ? closed(shop, facts) : ('bad' as const),
      forMs: openForMs,
      severity: 'critical' as const,
      summary:
        part === 'messages'
          ? `Deliveries of ${shop.shop} ${since === undefined ? 'are' : 'have been'} stopped${sinceWords(since)}: its platform fails or refuses them`
          : `Attachments of ${shop.shop} ${since === undefined ? 'wait' : 'have waited'}${sinceWords(since)}: the platform does not take uploads`,
      todo: `Messages are kept, one is tried every 5 to 25 seconds, and all are sent once the platform answers again. See why (sluice shops), check the platform and the key of the shop (sluice doctor --only platform), then: sluice shops try ${shop.shop}`,
    })),
  );
}

const sinceWords = (since: number | undefined): string =>
  since === undefined ? '' : ` since ${minuteInWords(since)}`;

/**
 * Breakers start closed with the process. As long as something waits and nothing has gone through
 * since, that does not say that the platform is back.
 */
function closed({ shop, lastDeliveredAt }: ShopFacts, { counts }: Facts): Verdict {
  if (lastDeliveredAt !== undefined) return 'good';
  const waits = counts.some(
    (count) => count.shop === shop && (count.state === 'queued' || count.state === 'delivering'),
  );
  return waits ? 'between' : 'good';
}
