import type { Alert, Overview, ShopFigures } from '../../contract.ts';
import { QUEUE } from '../platform/addresses.ts';
import { bytes, plural, sinceWhen, span } from '../formats.ts';

/** A problem, and what to do about it. */
export interface Issue {
  readonly key: string;
  readonly tone: 'danger' | 'warning';
  readonly title: string;
  readonly todo: string;
  /** What the platform itself says. */
  readonly words?: string;
  /** When it started, unless the title says so. */
  readonly since?: number;
  readonly link?: { readonly href: string; readonly label: string };
  /** The shop of which a message can be tried at once. */
  readonly tryShop?: string;
}

const DOCTOR = { href: '/doctor', label: 'Run Doctor' };

/**
 * The current issues, the most severe first. An issue found in the overview replaces the alert of
 * the same rule: it appears at once, while an alert fires only after a delay and is worded for
 * readers outside the console.
 */
export function issuesOf(overview: Overview, now: number): readonly Issue[] {
  // What is over is no issue any more, although its alert fires until that has lasted.
  const alerts = overview.alerts.filter(({ wellSince }) => wellSince === undefined);
  const found = foundIn(overview, now).map(({ rule, shop, what = '', ...issue }): Issue => {
    const alert = alerts.find((each) => each.rule === rule && (!shop || each.shop === shop));
    const key = `${rule} ${shop ?? ''} ${what}`;
    const isDated = rule === 'breaker-open' || alert === undefined;
    return { key, ...(!isDated && { since: alert.since }), ...issue };
  });
  const shownRules = new Set(found.map(({ key }) => key.split(' ', 1)[0]));
  const alerted = alerts.filter(({ rule }) => !shownRules.has(rule)).map(alertIssue);
  return [...found, ...alerted].sort((a, b) => rank(a) - rank(b));
}

const alertIssue = ({ rule, shop, severity, summary, todo, since }: Alert): Issue => ({
  key: `${rule} ${shop ?? ''}`,
  tone: severity === 'critical' ? 'danger' : 'warning',
  title: summary,
  todo,
  since,
  link: ALERT_LINKS[rule] ?? DOCTOR,
});

const ALERT_LINKS: Partial<Readonly<Record<Alert['rule'], Issue['link']>>> = {
  'oldest-queued': { href: '/messages?state=queued', label: 'Show queued messages' },
  unanswered: { href: QUEUE, label: 'Show the queue' },
  answers: { href: QUEUE, label: 'Show the queue' },
};

const rank = ({ tone }: Issue): number => (tone === 'danger' ? 0 : 1);

/** Most failures of single messages are over by then. */
const FAILING_FOR_MS = 15_000;

/** Why messages of this shop, or of all with an empty name, are not delivered now. */
export const stopsOf = (
  { shops }: Pick<Overview, 'shops'>,
  shop: string,
  now: number,
): readonly { readonly shop: string; readonly title: string }[] =>
  shops
    .filter((each) => shop === '' || each.shop === shop)
    .flatMap((each) =>
      each.breakers
        .filter(({ part, state }) => part === 'messages' && state !== 'closed')
        .map((breaker) => ({ shop: each.shop, title: breakerIssue(each, breaker, now).title })),
    );

/** Since when a shop sends what waited during an outage; undefined once nothing waits. */
export const recoveringSince = ({ breakers, queued }: ShopFigures): number | undefined =>
  queued === 0 ? undefined : breakers.find(({ part }) => part === 'messages')?.recoveringSince;

/** An issue of the overview, and the rule of the alert that it replaces. */
interface FoundIssue extends Omit<Issue, 'key'> {
  readonly rule: string;
  readonly shop?: string;
  /** Tells apart several issues of one rule and shop. */
  readonly what?: string;
}

function foundIn(overview: Overview, now: number): readonly FoundIssue[] {
  const { queue, disk, certificate, shops } = overview;
  const issues: FoundIssue[] = shops.flatMap((shop) => [
    ...shop.breakers
      .filter(({ state, since = now }) => state !== 'closed' || now - since > FAILING_FOR_MS)
      .map((breaker) => breakerIssue(shop, breaker, now)),
    ...shop.refusedAlike.map((refusal) => refusalIssue(shop.shop, refusal)),
    ...recoveryIssue(shop, now),
  ]);
  if (disk.freeBytes !== undefined && disk.freeBytes < disk.reserveBytes) {
    issues.unshift({
      rule: 'disk',
      tone: 'danger',
      title: `The disk is full (${bytes(disk.freeBytes)} free): new messages are refused`,
      todo: `Free space on the disk of the data folder until ${bytes(disk.reserveBytes)} are free. Senders retry automatically; deliveries go on.`,
      link: DOCTOR,
    });
  }
  if (queue.dead > 0) {
    issues.push({
      rule: 'dead',
      tone: 'danger',
      title: plural(queue.dead, 'dead message'),
      todo: 'Delivery failed permanently. Read the platform’s answer, fix the cause, then retry.',
      link: { href: '/messages?state=dead', label: 'Show dead messages' },
    });
  }
  if (certificate !== undefined && certificate.endsAt <= now) {
    issues.push({
      rule: 'certificate',
      tone: 'danger',
      title: 'The certificate has expired',
      todo: 'Senders may refuse to use TLS. Replace the files named in smtp.tls; they are reloaded without a restart.',
    });
  }
  if (queue.held > 0) {
    issues.push({
      rule: 'held',
      tone: 'warning',
      title: plural(queue.held, 'held message'),
      todo: 'Review each message, then release or discard it.',
      link: { href: '/messages?state=held', label: 'Show held messages' },
    });
  }
  return issues;
}

function recoveryIssue(shop: ShopFigures, now: number): readonly FoundIssue[] {
  const since = recoveringSince(shop);
  if (since === undefined) return [];
  return [
    {
      ...{ rule: 'breaker-open', shop: shop.shop, what: 'recovering', tone: 'warning' },
      title: `${shop.shop}: recovering since ${sinceWhen(since, now)}; ${plural(shop.queued, 'message')} left`,
      todo: 'Deliveries work again. What waited is sent step by step; nothing has to be done.',
      link: {
        href: `/messages?shop=${encodeURIComponent(shop.shop)}&state=queued`,
        label: 'Show messages',
      },
    },
  ];
}

function refusalIssue(
  shop: string,
  { words, since, count }: ShopFigures['refusedAlike'][number],
): FoundIssue {
  return {
    rule: 'refused-alike',
    shop,
    what: words,
    tone: 'danger',
    title: `${shop}: the platform refused ${plural(count, 'message')} with the same error`,
    todo: 'The messages stay queued. One is retried every minute; once it is accepted, all are sent. Contact the platform’s operators.',
    words,
    since,
    tryShop: shop,
    link: {
      href: `/messages?shop=${encodeURIComponent(shop)}&state=queued`,
      label: 'Show messages',
    },
  };
}

function breakerIssue(
  { shop, queued }: ShopFigures,
  { part, state, nextProbeAt, since, cause, todo, words }: ShopFigures['breakers'][number],
  now: number,
): FoundIssue {
  const isMessages = part === 'messages';
  const isStopped = state !== 'closed';
  const what = cause ?? `the platform does not accept ${isMessages ? 'messages' : 'attachments'}`;
  const title = [
    `${shop}: ${isMessages || cause === undefined ? '' : 'attachments: '}${what}`,
    since === undefined ? '' : ` since ${sinceWhen(since, now)}`,
    `; ${nextTry(state, nextProbeAt, now)}`,
  ].join('');
  const kept = isMessages
    ? `${plural(queued, 'message')} queued; none is lost.`
    : 'Messages with attachments stay queued.';
  return {
    ...{ rule: 'breaker-open', shop, what: part, title },
    tone: isMessages && isStopped ? 'danger' : 'warning',
    todo: `${kept} ${isStopped ? '' : 'New ones are still sent. '}${todo ?? 'Check that the platform is up and that the API key is valid.'}`,
    ...(words !== undefined && { words }),
    ...{ link: DOCTOR, tryShop: shop },
  };
}

function nextTry(
  state: ShopFigures['breakers'][number]['state'],
  at: number | undefined,
  now: number,
): string {
  if (state === 'probing') return 'one message is being tried now';
  if (at === undefined) return 'it is tried again by itself';
  return at > now ? `next try in ${span(at - now + 999)}` : 'next try is due';
}
