import type { Alert } from './alert.ts';
import { durationInWords } from '../../runtime/amounts.ts';

/** One message to one target. */
export interface Notice {
  /** Which gateway speaks: several may share a channel. */
  readonly source: string;
  readonly at: number;
  readonly fired: readonly Alert[];
  readonly worse: readonly Alert[];
  readonly resolved: readonly Alert[];
  /** Told before, and not over. */
  readonly still: readonly Alert[];
  /** Asked for by an operator; there is nothing wrong. */
  readonly isTest: boolean;
}

/** Of each kind at most so many are told one by one. */
const SHOWN = 20;

export interface Section {
  readonly title: string;
  readonly tone: 'critical' | 'warning' | 'good';
  readonly alerts: readonly Alert[];
  /** How many more there are. */
  readonly more: number;
}

/** What came first in importance first: what begins, what grew, what goes on, what is over. */
export function sectionsOf(notice: Notice): Section[] {
  const { fired, worse, still, resolved } = notice;
  return [
    section('Alert', fired),
    section('Worse', worse),
    section('Still not well', still),
    { ...section('Over', resolved), tone: 'good' as const },
  ].filter(({ alerts }) => alerts.length > 0);
}

function section(title: string, alerts: readonly Alert[]): Section {
  const isCritical = alerts.some(({ severity }) => severity === 'critical');
  return {
    title,
    tone: isCritical ? 'critical' : 'warning',
    alerts: alerts.slice(0, SHOWN),
    more: Math.max(0, alerts.length - SHOWN),
  };
}

/** One line that says the most: a subject, a line of a notification. */
export function headline(notice: Notice): string {
  const { source, fired, worse, still, resolved, isTest } = notice;
  if (isTest) return `[Sluice ${source}] Test alert`;
  const parts = [
    part('alert', 'alerts', [...fired, ...worse]),
    part('alert goes on', 'alerts go on', still),
    part('is over', 'are over', resolved),
  ].filter((part) => part !== '');
  return `[Sluice ${source}] ${parts.join('; ')}`;
}

function part(one: string, many: string, alerts: readonly Alert[]): string {
  if (alerts.length === 0) return '';
  const names = alerts.map(({ rule, shop }) => (shop === undefined ? rule : `${rule} ${shop}`));
  const shown = [...new Set(names)].slice(0, 3).join(', ');
  const rest = new Set(names).size > 3 ? ', ...' : '';
  return `${alerts.length} ${alerts.length === 1 ? one : many}: ${shown}${rest}`;
}

/** Beside its summary: how bad, how long. */
export function remark(alert: Alert, at: number, tone: Section['tone']): string {
  const lasted = durationInWords(Math.max(0, at - alert.since));
  return tone === 'good' ? `${alert.rule}, after ${lasted}` : `${alert.severity}, for ${lasted}`;
}

export const TEST_TEXT =
  'This is a test that an operator asked for. Nothing is wrong: alerts of this gateway arrive here.';
