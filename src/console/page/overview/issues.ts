import type { Alert, Overview, ShopFigures } from '../../contract.ts';
import { plural, relative } from '../formats.ts';

/** A problem, and what to do about it. */
export interface Issue {
  readonly key: string;
  readonly tone: 'danger' | 'warning';
  readonly title: string;
  readonly todo: string;
  /** The platform's own message, shown unchanged. */
  readonly reason?: string;
  readonly since?: number;
  readonly link?: { readonly href: string; readonly label: string };
}

const DOCTOR = { href: '/doctor', label: 'Run Doctor' };

/**
 * The current issues, the most severe first. An issue found in the overview replaces the alert of
 * the same rule: it appears at once, while an alert fires only after a delay and is worded for
 * readers outside the console.
 */
export function issuesOf(overview: Overview, now: number): readonly Issue[] {
  const { alerts } = overview;
  const found = foundIn(overview, now).map(({ rule, shop, what = '', ...issue }): Issue => {
    const alert = alerts.find((each) => each.rule === rule && (!shop || each.shop === shop));
    const key = `${rule} ${shop ?? ''} ${what}`;
    return { key, ...(alert !== undefined && { since: alert.since }), ...issue };
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
  link:
    rule === 'oldest-queued'
      ? { href: '/messages?state=queued', label: 'Show queued messages' }
      : DOCTOR,
});

const rank = ({ tone }: Issue): number => (tone === 'danger' ? 0 : 1);

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
      .filter(({ state }) => state !== 'closed')
      .map((breaker) => breakerIssue(shop, breaker, now)),
    ...shop.refusedAlike.map((refusal) => refusalIssue(shop.shop, refusal)),
  ]);
  if (disk.freeBytes < disk.reserveBytes) {
    issues.unshift({
      rule: 'disk',
      tone: 'danger',
      title: 'The disk is full: new messages are refused',
      todo: 'Free space on the disk of the data folder. Senders retry automatically.',
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
    reason: words,
    since,
    link: {
      href: `/messages?shop=${encodeURIComponent(shop)}&state=queued`,
      label: 'Show messages',
    },
  };
}

function breakerIssue(
  { shop, queued }: ShopFigures,
  { part, state, nextProbeAt, since, reason }: ShopFigures['breakers'][number],
  now: number,
): FoundIssue {
  const next =
    state === 'probing'
      ? 'One message is being retried now.'
      : nextProbeAt === undefined
        ? 'It is retried automatically.'
        : `Next attempt: ${nextProbeAt > now ? relative(nextProbeAt, now) : 'due'}.`;
  const common = {
    rule: 'breaker-open',
    shop,
    what: part,
    ...(since !== undefined && { since }),
    ...(reason !== undefined && { reason }),
    link: DOCTOR,
  };
  return part === 'messages'
    ? {
        ...common,
        tone: 'danger',
        title: `${shop}: the platform does not accept messages`,
        todo: `${plural(queued, 'message')} queued; none is lost. ${next} Check that the platform is up and that the API key is valid.`,
      }
    : {
        ...common,
        tone: 'warning',
        title: `${shop}: the platform does not accept attachments`,
        todo: `Messages with attachments stay queued. ${next}`,
      };
}
