import type { Alert } from './alert.ts';
import { durationInWords } from '../../runtime/amounts.ts';

/** One message to one target. */
export interface Notice {
  /** The name of the gateway, since several may share a channel. */
  readonly source: string;
  readonly at: number;
  readonly fired: readonly Alert[];
  readonly worse: readonly Alert[];
  readonly resolved: readonly Alert[];
  /** Sent before and still firing. */
  readonly still: readonly Alert[];
  /** A test, requested by an operator. */
  readonly isTest: boolean;
}

/** Limit of alerts listed in one section. */
const MAX_LISTED = 20;

export interface Section {
  readonly title: string;
  readonly tone: 'critical' | 'warning' | 'good';
  readonly alerts: readonly Alert[];
  /** How many more there are. */
  readonly more: number;
}

/** The sections in order of importance: new, increased, still firing, resolved. */
export function sectionsOf(notice: Notice): Section[] {
  const { fired, worse, still, resolved } = notice;
  return [
    section('Alert', fired),
    section('Increased', worse),
    section('Still firing', still),
    { ...section('Resolved', resolved), tone: 'good' as const },
  ].filter(({ alerts }) => alerts.length > 0);
}

function section(title: string, alerts: readonly Alert[]): Section {
  const isCritical = alerts.some(({ severity }) => severity === 'critical');
  return {
    title,
    tone: isCritical ? 'critical' : 'warning',
    alerts: alerts.slice(0, MAX_LISTED),
    more: Math.max(0, alerts.length - MAX_LISTED),
  };
}

/** A summary in one line, for a subject or a notification. */
export function headline(notice: Notice): string {
  const { source, fired, worse, still, resolved, isTest } = notice;
  if (isTest) return `[Sluice ${source}] Test alert`;
  const parts = [
    part('alert', 'alerts', [...fired, ...worse]),
    part('alert still firing', 'alerts still firing', still),
    part('alert resolved', 'alerts resolved', resolved),
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

/** Shown beside an alert's summary: its severity, or its rule when it is resolved; its duration. */
export function remark(alert: Alert, at: number, tone: Section['tone']): string {
  const lasted = durationInWords(Math.max(0, at - alert.since));
  return tone === 'good' ? `${alert.rule}, after ${lasted}` : `${alert.severity}, for ${lasted}`;
}

export const TEST_TEXT =
  'This is a test alert, requested by an operator. Alerts of this gateway arrive here.';
