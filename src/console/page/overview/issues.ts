import type { Alert, Condition, Overview } from '../../contract.ts';
import { QUEUE } from '../platform/addresses.ts';
import { span } from '../formats.ts';

/** A problem, and what to do about it. */
export interface Issue {
  readonly key: string;
  readonly tone: 'danger' | 'warning';
  readonly title: string;
  readonly todo: string;
  readonly isPause?: boolean;
  /** What the platform itself says. */
  readonly words?: string;
  readonly since?: number;
  readonly link?: { readonly href: string; readonly label: string };
  /** The shop of which a message can be tried at once. */
  readonly tryShop?: string;
}

type Found = Pick<Overview, 'conditions' | 'shops'>;

/**
 * The current issues, the most severe first. A condition appears at once, its alert only after a
 * delay. The alerts of what the overview does not know follow.
 */
export function issuesOf(
  overview: Found & Pick<Overview, 'alerts'>,
  now: number,
): readonly Issue[] {
  // That delivery is paused, every page says above.
  const conditions = overview.conditions.filter(
    ({ kind }) => kind !== 'paused' || overview.conditions.length === 1,
  );
  // What is over is no issue any more, although its alert fires until that has lasted.
  const alerts = overview.alerts.filter(({ wellSince }) => wellSince === undefined);
  const isOf = (alert: Alert, { kind, shop }: Condition) =>
    alert.rule === kind && alert.shop === shop;
  const others = alerts.filter((alert) => !conditions.some((each) => isOf(alert, each)));
  return [
    ...conditions.map((each) => {
      const since = each.since ?? alerts.find((alert) => isOf(alert, each))?.since;
      return issueOf(each, since, overview, now);
    }),
    ...others.map(alertIssue),
  ].toSorted((a, b) => Number(b.tone === 'danger') - Number(a.tone === 'danger'));
}

function issueOf(
  condition: Condition,
  since: number | undefined,
  { shops }: Found,
  now: number,
): Issue {
  const { id, kind, shop, severity, remedy, words } = condition;
  return {
    ...{ key: id, tone: toneOf(severity), title: titleOf(condition, shops, now), todo: remedy },
    ...(kind === 'paused' && { isPause: true }),
    ...(words !== undefined && { words }),
    ...(since !== undefined && { since }),
    ...(canBeTried(kind) && shop !== undefined && { tryShop: shop }),
    ...(kind !== 'paused' && { link: linkOf(kind, shop) }),
  };
}

/** Whether a message of the shop can be tried at once. */
export const canBeTried = (kind: Condition['kind']): boolean =>
  kind === 'breaker-open' || kind === 'some-fail' || kind === 'refused-alike';

const alertIssue = ({ rule, shop, severity, summary, todo, since }: Alert): Issue => ({
  ...{ key: `${rule} ${shop ?? ''}`, tone: toneOf(severity), title: summary, todo, since },
  link: linkOf(rule, shop),
});

const toneOf = (severity: Alert['severity']) => (severity === 'critical' ? 'danger' : 'warning');

const MESSAGES = {
  dead: 'dead',
  held: 'held',
  'oldest-queued': 'queued',
  'refused-alike': 'queued',
  recovering: 'queued',
} as const;

function linkOf(kind: Condition['kind'], shop: string | undefined): NonNullable<Issue['link']> {
  if (kind in MESSAGES) {
    const state = MESSAGES[kind as keyof typeof MESSAGES];
    const of = shop === undefined ? '' : `shop=${encodeURIComponent(shop)}&`;
    return { href: `/messages?${of}state=${state}`, label: `Show ${state} messages` };
  }
  const isOfQueue = kind === 'unanswered' || kind === 'answers';
  return isOfQueue
    ? { href: QUEUE, label: 'Show the queue' }
    : { href: '/doctor', label: 'Run Doctor' };
}

/** Why messages of this shop, or of all with an empty name, are not delivered now. */
export const stopsOf = (
  { conditions, shops }: Found,
  shop: string,
  now: number,
): readonly { readonly shop: string; readonly title: string }[] =>
  conditions
    .filter(({ kind, part }) => kind === 'breaker-open' && part === 'messages')
    .filter((each) => shop === '' || each.shop === shop)
    .map((each) => ({ shop: each.shop ?? '', title: titleOf(each, shops, now) }));

/** The sentence, and of a shop that is stopped, when it is tried again. */
function titleOf(
  { kind, shop, part, sentence }: Condition,
  shops: Overview['shops'],
  now: number,
): string {
  const breaker = shops
    .find((each) => each.shop === shop)
    ?.breakers.find((each) => each.part === part);
  if (kind !== 'breaker-open' || breaker === undefined) return sentence;
  const { state, nextProbeAt: at } = breaker;
  if (state === 'probing') return `${sentence}; one message is being tried now`;
  if (at === undefined) return `${sentence}; it is tried again by itself`;
  return `${sentence}; ${at > now ? `next try in ${span(at - now + 999)}` : 'next try is due'}`;
}
