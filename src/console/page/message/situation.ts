import type { EntryDetail } from '../../contract.ts';
import { explain, isCaveat, STATE_MEANING } from '../messages/reasons.ts';

/** Where a message stands, as the person on call needs it. */
export interface Situation {
  readonly meaning: string;
  /** The reason as the gateway wrote it down: the platform's own words, when it spoke. */
  readonly because?: string;
  readonly todo: string;
}

type Stands = Pick<
  EntryDetail,
  'state' | 'reason' | 'detached' | 'rawKept' | 'attempts' | 'waitsFor'
>;

export function situation(stands: Stands): Situation {
  const { state, reason, detached, rawKept, attempts, waitsFor } = stands;
  const known = explain(reason);
  const told = state === 'delivered' && !isCaveat(reason) ? undefined : known;
  const sentences = [
    STATE_MEANING[state],
    ...(state === 'delivering' ? [LEASE] : []),
    ...(waitsFor === undefined ? [] : [WAITS[waitsFor]]),
    ...(told === undefined ? [] : [told.meaning]),
    ...(detached ? [DETACHED] : []),
    ...(rawKept || state === 'delivered' ? [] : [SWEPT]),
  ];
  const quoted = reason !== undefined && reason !== '' && isWorthQuoting(reason, state);
  return {
    meaning: sentences.join(' '),
    ...(quoted && { because: reason }),
    todo: rawKept || state === 'delivered' ? (told?.todo ?? fallback(state, attempts)) : '',
  };
}

const LEASE =
  'The attempt holds a lease that it renews; if the process ends, the lease runs out within a minute and the message is tried again.';
const WAITS: Readonly<Record<NonNullable<EntryDetail['waitsFor']>, string>> = {
  shop: 'It is sent when its shop takes messages again; one waiting message is tried every 5 to 25 seconds.',
  media: 'It is sent when its shop takes attachments again; one is tried every 5 to 25 seconds.',
  refusal:
    'Many messages were refused in the same words. One is tried each minute; when one is accepted, all are sent.',
};
const DETACHED =
  'It does not hold its lane back: later messages of the same person may be delivered before it.';
const SWEPT = 'Its original has been swept, so nothing can be done with it any more.';

/** A rule's name is explained already; what the platform or a network said is not. */
const isWorthQuoting = (reason: string, state: EntryDetail['state']): boolean =>
  state !== 'delivered' && (reason.length > 24 || explain(reason) === undefined);

function fallback(state: EntryDetail['state'], attempts: number): string {
  switch (state) {
    case 'dead':
      return 'See the last attempt below; once its cause is gone, retry.';
    case 'held':
      return 'Release it to have it submitted, or discard it.';
    case 'queued':
      return attempts > 0 ? 'It is tried again by itself.' : '';
    case 'delivering':
    case 'delivered':
    case 'suppressed':
    case 'discarded':
      return '';
  }
}
