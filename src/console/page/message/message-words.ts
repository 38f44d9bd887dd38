import type { EntryDetail } from '../../contract.ts';
import { explain, isCaveat, STATE_MEANING } from '../messages/reasons.ts';
import type { Tone } from './timeline.ts';

/** Where a message stands, as the person on call needs it. */
interface Situation {
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

/** One line of the verdict about the sender. */
interface CheckWords {
  readonly name: string;
  readonly result: string;
  readonly meaning: string;
  readonly tone: Tone;
}

/** What each method asks, in plain words; RFC 7208, 6376, 7489, 8617. */
const METHODS = [
  {
    key: 'spf',
    name: 'SPF',
    subject: 'The server that sent it',
    pass: 'may send for the domain of its envelope',
    fail: 'may not send for the domain of its envelope',
  },
  {
    key: 'dkim',
    name: 'DKIM',
    subject: 'The signature of the sending domain',
    pass: 'is right: nobody has changed the message',
    fail: 'is wrong: the message was changed, or forged',
  },
  {
    key: 'dmarc',
    name: 'DMARC',
    subject: 'The address in From',
    pass: 'is proven by SPF or DKIM',
    fail: 'is proven by neither SPF nor DKIM',
  },
  {
    key: 'arc',
    name: 'ARC',
    subject: 'What forwarders say they saw',
    pass: 'is sealed and whole',
    fail: 'is not to be relied on',
  },
] as const;

const RESULTS: Readonly<Record<string, { readonly meaning: string; readonly tone: Tone }>> = {
  softfail: { meaning: 'is probably not allowed to send for its domain', tone: 'warning' },
  neutral: { meaning: 'is neither allowed nor forbidden', tone: 'plain' },
  none: { meaning: 'is not there to be checked', tone: 'plain' },
  policy: { meaning: 'is valid, but not acceptable here', tone: 'warning' },
  temperror: { meaning: 'could not be checked: DNS did not answer', tone: 'warning' },
  permerror: { meaning: 'cannot be checked: what the domain publishes is wrong', tone: 'warning' },
  skipped: { meaning: 'was not asked: it came through a trusted relay', tone: 'plain' },
  unrelated: { meaning: 'says nothing of the domain in From', tone: 'plain' },
};
/** SPF and DMARC that nobody publishes, a signature that nobody made. */
const NONE: Readonly<Record<string, string>> = {
  spf: 'The domain does not say which servers may send for it.',
  dkim: 'Nobody has signed the message.',
  dmarc: 'The domain in From does not say what to do with forged mail.',
  arc: 'No forwarder has sealed it.',
};

const POLICIES: Readonly<Record<string, string>> = {
  none: 'asks for nothing when mail fails',
  quarantine: 'asks to set failing mail aside',
  reject: 'asks to refuse failing mail',
};
const ALIGNED: Readonly<Record<string, string>> = {
  none: 'Nothing vouches for the address in From',
  spf: 'SPF vouches for the domain in From',
  dkim: 'DKIM vouches for the domain in From',
  arc: 'A trusted forwarder vouches for the domain in From',
  relay: 'A trusted relay vouches for it',
};

/** Of the person whom the message names outside From. */
const CLAIMED: Readonly<Record<string, { readonly meaning: string; readonly tone: Tone }>> = {
  verified: { meaning: 'a trusted forwarder vouches for the sender', tone: 'good' },
  none: { meaning: 'nothing vouches for the sender, whose domain asks for nothing', tone: 'plain' },
  quarantine: {
    meaning: 'nothing vouches for the sender, whose domain asks to set such mail aside',
    tone: 'warning',
  },
  reject: {
    meaning: 'nothing vouches for the sender, whose domain asks to refuse such mail',
    tone: 'warning',
  },
  temperror: { meaning: 'nothing vouches for the sender, and DNS did not answer', tone: 'warning' },
};

/** The verdict line by line, the methods in the order in which people know them. */
export function checkWords(verdict: Readonly<Record<string, string>>): readonly CheckWords[] {
  const lines = METHODS.flatMap((method): CheckWords[] => {
    const result = verdict[method.key];
    return result === undefined ? [] : [{ name: method.name, result, ...said(method, result) }];
  });
  const { policy, aligned, claimed } = verdict;
  if (policy !== undefined) {
    const asks = Object.hasOwn(POLICIES, policy) ? POLICIES[policy] : undefined;
    lines.push({
      name: 'Policy',
      result: policy,
      meaning: asks === undefined ? '' : `The domain ${asks}.`,
      tone: 'plain',
    });
  }
  if (aligned !== undefined) {
    const vouches = Object.hasOwn(ALIGNED, aligned) ? ALIGNED[aligned] : undefined;
    lines.push({
      name: 'Vouched for by',
      result: aligned,
      meaning: vouches === undefined ? '' : `${vouches}.`,
      tone: aligned === 'none' ? 'warning' : 'good',
    });
  }
  if (claimed !== undefined) {
    const known = Object.hasOwn(CLAIMED, claimed) ? CLAIMED[claimed] : undefined;
    lines.push({
      name: 'Named outside From',
      result: claimed,
      meaning:
        known === undefined
          ? ''
          : `The message is taken from Reply-To or a header like it: ${known.meaning}.`,
      tone: known?.tone ?? 'plain',
    });
  }
  return lines;
}

function said(
  { key, subject, pass, fail }: (typeof METHODS)[number],
  result: string,
): Pick<CheckWords, 'meaning' | 'tone'> {
  if (result === 'pass') return { meaning: `${subject} ${pass}.`, tone: 'good' };
  if (result === 'fail') return { meaning: `${subject} ${fail}.`, tone: 'bad' };
  if (result === 'none') return { meaning: NONE[key] ?? '', tone: 'plain' };
  const known = Object.hasOwn(RESULTS, result) ? RESULTS[result] : undefined;
  if (known === undefined) return { meaning: '', tone: 'plain' };
  return { meaning: `${subject} ${known.meaning}.`, tone: known.tone };
}
