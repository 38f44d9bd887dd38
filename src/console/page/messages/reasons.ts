import {
  explain,
  type Explanation,
  PLAIN_EXPLANATIONS,
} from '../../../domain/reason-explanations.ts';
import { reasonOf } from '../../../domain/reasons.ts';
import type { EntryState, ShownReason } from '../../contract.ts';

/** Undefined without a reason, and for an erased one, which is shown unchanged. */
export function explanationOf({ reasonCode, reasonParams }: ShownReason): Explanation | undefined {
  const reason = reasonOf(reasonCode, reasonParams);
  return reason && explain(reason);
}

/** Whether the reason applies to a delivered message; other reasons are of earlier attempts. */
export const isCaveat = ({ reasonCode }: ShownReason): boolean =>
  reasonCode === 'cannot_be_answered';

/** The short form for a row of the list. */
export const shortReason = (shown: ShownReason): string =>
  explanationOf(shown)?.short ?? shown.reason ?? '';

/** The reasons suggested in the filter, common ones first. */
export const OFFERED_REASONS: readonly { readonly reason: string; readonly words: string }[] = [
  { reason: 'platform_answered', words: 'The platform’s answer' },
  { reason: 'gave_up', words: 'Gave up' },
  { reason: 'rate_limit', words: 'Rate limit per sender' },
  ...Object.entries(PLAIN_EXPLANATIONS).map(([reason, { short }]) => ({ reason, words: short })),
];

/** The meaning of each state, in one sentence. */
export const STATE_MEANING: Readonly<Record<EntryState, string>> = {
  queued: 'It is stored and waits for delivery.',
  delivering: 'A delivery attempt is in progress.',
  delivered: 'The platform has accepted it.',
  dead: 'Delivery failed permanently. It is not retried unless you retry it.',
  held: 'A rule requires your decision. It has not been submitted.',
  suppressed: 'A rule excludes it from delivery. It is stored but not submitted.',
  discarded: 'An operator discarded it.',
};
