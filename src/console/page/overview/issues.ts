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
  const { queue, disk, certificate, shops, alerts } = overview;
  const alertOf = (rule: string, shop?: string): Alert | undefined =>
    alerts.find((alert) => alert.rule === rule && (shop === undefined || alert.shop === shop));
  const issues: Issue[] = [];
  const add = (rule: string, issue: Omit<Issue, 'key'>, shop?: string, what = '') => {
    const alert = alertOf(rule, shop);
    issues.push({
      key: `${rule} ${shop ?? ''} ${what}`,
      ...(alert !== undefined && { since: alert.since }),
      ...issue,
    });
  };

  if (disk.freeBytes < disk.reserveBytes) {
    add('disk', {
      tone: 'danger',
      title: 'The disk is full: new messages are refused',
      todo: 'Free space on the disk of the data folder. Senders retry automatically.',
    });
  }
  for (const shop of shops) {
    for (const breaker of shop.breakers) {
      if (breaker.state === 'closed') continue;
      add('breaker-open', breakerIssue(shop, breaker, now), shop.shop, breaker.part);
    }
    for (const refusal of shop.refusedAlike) {
      add('refused-alike', refusalIssue(shop.shop, refusal), shop.shop, refusal.words);
    }
  }
  if (queue.dead > 0) {
    add('dead', {
      tone: 'danger',
      title: plural(queue.dead, 'dead message'),
      todo: 'Delivery failed permanently. Read the platform’s answer, fix the cause, then retry.',
      link: { href: '/messages?state=dead', label: 'Show dead messages' },
    });
  }
  if (certificate !== undefined && certificate.endsAt <= now) {
    add('certificate', {
      tone: 'danger',
      title: 'The certificate has expired',
      todo: 'Senders may refuse to use TLS. Replace the files named in smtp.tls; they are reloaded without a restart.',
    });
  }
  if (queue.held > 0) {
    add('held', {
      tone: 'warning',
      title: plural(queue.held, 'held message'),
      todo: 'Review each message, then release or discard it.',
      link: { href: '/messages?state=held', label: 'Show held messages' },
    });
  }
  const shownRules = new Set(issues.map(({ key }) => key.split(' ', 1)[0]));
  for (const alert of alerts) {
    if (shownRules.has(alert.rule)) continue;
    issues.push({
      key: `${alert.rule} ${alert.shop ?? ''}`,
      tone: alert.severity === 'critical' ? 'danger' : 'warning',
      title: alert.summary,
      todo: alert.todo,
      since: alert.since,
      ...(alert.rule === 'oldest-queued'
        ? { link: { href: '/messages?state=queued', label: 'Show queued messages' } }
        : { link: DOCTOR }),
    });
  }
  return [...issues].sort((a, b) => rank(a) - rank(b));
}

const rank = ({ tone }: Issue): number => (tone === 'danger' ? 0 : 1);

function refusalIssue(
  shop: string,
  { words, since, count }: ShopFigures['refusedAlike'][number],
): Omit<Issue, 'key'> {
  return {
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
): Omit<Issue, 'key'> {
  const next =
    state === 'probing'
      ? 'One message is being retried now.'
      : nextProbeAt === undefined
        ? 'It is retried automatically.'
        : `Next attempt: ${nextProbeAt > now ? relative(nextProbeAt, now) : 'due'}.`;
  const common = {
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
