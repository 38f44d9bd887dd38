import type { Alert, Overview, ShopFigures } from '../../contract.ts';
import { plural, relative } from '../formats.ts';

/** A problem, and what to do about it. */
export interface Issue {
  readonly key: string;
  readonly tone: 'danger' | 'warning';
  readonly title: string;
  readonly todo: string;
  /** The platform's words: shown as they are. */
  readonly because?: string;
  readonly since?: number;
  readonly link?: { readonly href: string; readonly label: string };
}

const DOCTOR = { href: '/doctor', label: 'Run the doctor' };

/**
 * What is wrong, the worst first. Facts come before alerts of the same rule: they change at once,
 * while an alert waits until it is sure, and is written for a reader who is elsewhere.
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
      todo: 'Free space where the data folder lies; senders try again by themselves.',
    });
  }
  for (const shop of shops) {
    for (const breaker of shop.breakers) {
      if (breaker.state === 'closed') continue;
      add('breaker-open', breakerIssue(shop, breaker, now), shop.shop, breaker.part);
    }
    for (const refusal of shop.refusedAlike) {
      add('refused-alike', alikeIssue(shop.shop, refusal), shop.shop, refusal.words);
    }
  }
  if (queue.dead > 0) {
    add('dead', {
      tone: 'danger',
      title: `${plural(queue.dead, 'dead message')}: look at ${queue.dead === 1 ? 'it' : 'them'}`,
      todo: 'The platform refused them for good. Read its answer, put the cause right, and retry.',
      link: { href: '/messages?state=dead', label: 'Show the dead' },
    });
  }
  if (certificate !== undefined && certificate.endsAt <= now) {
    add('certificate', {
      tone: 'danger',
      title: 'The certificate has expired',
      todo: 'Senders may refuse to encrypt. Put a new one where smtp.tls names it: it is taken up without a restart.',
    });
  }
  if (queue.held > 0) {
    add('held', {
      tone: 'warning',
      title: `${plural(queue.held, 'held message')} ${queue.held === 1 ? 'waits' : 'wait'} for a person`,
      todo: 'Look at each, then release or discard it.',
      link: { href: '/messages?state=held', label: 'Show the held' },
    });
  }
  const said = new Set(issues.map(({ key }) => key.split(' ', 1)[0]));
  for (const alert of alerts) {
    if (said.has(alert.rule)) continue;
    issues.push({
      key: `${alert.rule} ${alert.shop ?? ''}`,
      tone: alert.severity === 'critical' ? 'danger' : 'warning',
      title: alert.summary,
      todo: alert.todo,
      since: alert.since,
      ...(alert.rule === 'oldest-queued'
        ? { link: { href: '/messages?state=queued', label: 'Show the queue' } }
        : { link: DOCTOR }),
    });
  }
  return [...issues].sort((a, b) => rank(a) - rank(b));
}

const rank = ({ tone }: Issue): number => (tone === 'danger' ? 0 : 1);

function alikeIssue(
  shop: string,
  { words, since, count }: ShopFigures['refusedAlike'][number],
): Omit<Issue, 'key'> {
  return {
    tone: 'danger',
    title: `${shop}: the platform refuses ${plural(count, 'message')} in the same words`,
    todo: 'They wait. One is tried each minute; when one is accepted, all are sent. Ask the platform’s operators what has changed.',
    because: words,
    since,
    link: { href: `/messages?shop=${encodeURIComponent(shop)}&state=queued`, label: 'Show them' },
  };
}

function breakerIssue(
  { shop, queued }: ShopFigures,
  { part, state, nextProbeAt, since, reason }: ShopFigures['breakers'][number],
  now: number,
): Omit<Issue, 'key'> {
  const next =
    state === 'probing'
      ? 'One message is being tried now.'
      : nextProbeAt === undefined
        ? 'It is tried again by itself.'
        : `The next try is ${nextProbeAt > now ? relative(nextProbeAt, now) : 'due'}.`;
  const told = {
    ...(since !== undefined && { since }),
    ...(reason !== undefined && { because: reason }),
    link: DOCTOR,
  };
  return part === 'messages'
    ? {
        ...told,
        tone: 'danger',
        title: `${shop}: the platform does not take messages`,
        todo: `${plural(queued, 'message')} ${queued === 1 ? 'waits' : 'wait'}, none is lost. ${next} See whether the platform is up, and whether the key is right.`,
      }
    : {
        ...told,
        tone: 'warning',
        title: `${shop}: the platform does not take attachments`,
        todo: `Messages with attachments wait. ${next}`,
      };
}
