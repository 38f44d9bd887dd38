import type { AlertRule, Severity } from './alert.ts';

/** What one rule says about one thing now: a shop, a part of a shop, or the whole gateway. */
export interface Reading {
  /** The same for the same rule and thing, also after a restart. */
  readonly key: string;
  readonly rule: AlertRule;
  readonly shop?: string;
  /**
   * `between` is neither bad enough to begin an alert nor good enough to end one, or nobody can tell
   * yet: whatever was before stays.
   */
  readonly verdict: 'bad' | 'between' | 'good';
  /** It must be bad for this long before it is told. */
  readonly forMs: number;
  readonly severity: Severity;
  readonly summary: string;
  readonly todo: string;
  /** The count that the summary tells, where there is one: ten times as many are news. */
  readonly figure?: number;
}

export type Verdict = Reading['verdict'];

/** Bad from one threshold, good from another: what lies around one alone would flap. */
export function verdictOf(value: number, badFrom: number, goodBelow: number): Verdict {
  if (value >= badFrom) return 'bad';
  return value < goodBelow ? 'good' : 'between';
}
