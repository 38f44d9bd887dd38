import type { EntryDetail, ShownReason } from '../../contract.ts';
import { platformWords, reasonOf } from '../../../domain/reasons.ts';
import { exact, listed, own } from '../formats.ts';
import { explanationOf, isCaveat, STATE_MEANING } from '../messages/reasons.ts';
import type { Tone } from './timeline.ts';

/** The explanation of a message's state for an operator. */
interface StateExplanation {
  readonly meaning: string;
  /** The stored reason, and what the platform itself says in it. */
  readonly quotedReason?: string;
  readonly platformWords?: string;
  readonly todo: string;
}

/** The attempts of the timeline. The retry schedule leaves out those that failed with the shop. */
export const attemptsOf = ({ timeline }: Pick<EntryDetail, 'timeline'>): number =>
  Math.max(0, ...timeline.map(({ attempt = 0 }) => attempt));

type ExplainedEntry = Pick<
  EntryDetail,
  'state' | 'detached' | 'rawKept' | 'keptUntil' | 'attempts' | 'waitsFor'
> &
  ShownReason;

export function explainState(entry: ExplainedEntry): StateExplanation {
  const { state, reason, detached, rawKept, keptUntil, attempts, waitsFor } = entry;
  const known = explanationOf(entry);
  const shown = state === 'delivered' && !isCaveat(entry) ? undefined : known;
  const sentences = listed(
    STATE_MEANING[state],
    state === 'delivering' && INTERRUPTION,
    waitsFor !== undefined && WAITS[waitsFor],
    shown?.meaning,
    detached && DETACHED,
    state === 'discarded' &&
      keptUntil !== undefined &&
      `It can be restored until ${exact(keptUntil)}.`,
    !rawKept && state !== 'delivered' && SWEPT,
  );
  const quoted = reason !== undefined && reason !== '' && isWorthQuoting(entry);
  return {
    meaning: sentences.join(' '),
    ...(quoted && { quotedReason: reason, ...wordsIn(entry) }),
    todo: rawKept || state === 'delivered' ? (shown?.todo ?? fallback(state, attempts)) : '',
  };
}

function wordsIn({ reasonCode, reasonParams }: ShownReason): { readonly platformWords?: string } {
  const known = reasonOf(reasonCode, reasonParams);
  const words = known && platformWords(known);
  return words === undefined ? {} : { platformWords: words };
}

const INTERRUPTION =
  'If the gateway stops during the attempt, the message is retried within a minute.';
const WAITS: Readonly<Record<NonNullable<EntryDetail['waitsFor']>, string>> = {
  shop: 'Deliveries of its shop are stopped. One message is retried every 5 to 25 seconds; once it is accepted, all are sent.',
  media:
    'Attachment uploads of its shop are stopped. One is retried every 5 to 25 seconds; once it is accepted, all are sent.',
  refusal:
    'The platform refused many messages with the same error. One is retried every minute; once it is accepted, all are sent.',
};
const DETACHED = 'Later messages from the same person may be delivered before it.';
const SWEPT = 'Its original has been deleted, so no action is possible.';

/** Names of rules are explained in words; messages of the platform or the network are quoted. */
const isWorthQuoting = ({ state, reasonCode, reasonParams }: ExplainedEntry): boolean => {
  const isRule = reasonCode === 'rate_limit' || (reasonCode !== undefined && !reasonParams);
  return state !== 'delivered' && !isRule;
};

function fallback(state: EntryDetail['state'], attempts: number): string {
  if (state === 'dead') return 'Check the last attempt in the timeline, fix its cause, then retry.';
  if (state === 'held') return 'Release it to submit it, or discard it.';
  return state === 'queued' && attempts > 0 ? 'It is retried automatically.' : '';
}

/** One line of the sender's authentication results. */
interface CheckWords {
  readonly name: string;
  readonly result: string;
  readonly meaning: string;
  readonly tone: Tone;
}

/** What each method checks; RFC 7208, 6376, 9989, 8617. */
const METHODS = [
  {
    key: 'spf',
    name: 'SPF',
    subject: 'The sending server',
    pass: 'is authorized by the envelope domain',
    fail: 'is not authorized by the envelope domain',
  },
  {
    key: 'dkim',
    name: 'DKIM',
    subject: 'The signature of the sending domain',
    pass: 'is valid',
    fail: 'is invalid: the message was changed or forged',
  },
  {
    key: 'dmarc',
    name: 'DMARC',
    subject: 'The address in From',
    pass: 'is confirmed by SPF or DKIM',
    fail: 'is confirmed by neither SPF nor DKIM',
  },
  {
    key: 'arc',
    name: 'ARC',
    subject: 'The chain of forwarders',
    pass: 'is valid',
    fail: 'is invalid',
  },
] as const;

const RESULTS: Readonly<Record<string, { readonly meaning: string; readonly tone: Tone }>> = {
  softfail: { meaning: 'is probably not authorized', tone: 'warning' },
  neutral: { meaning: 'has no definite result', tone: 'plain' },
  none: { meaning: 'is missing', tone: 'plain' },
  policy: { meaning: 'is valid but not accepted by policy', tone: 'warning' },
  temperror: { meaning: 'could not be checked: the DNS lookup failed', tone: 'warning' },
  permerror: {
    meaning: 'could not be checked: the domain’s DNS record is invalid',
    tone: 'warning',
  },
  skipped: { meaning: 'was not checked: the message came through a trusted relay', tone: 'plain' },
  unrelated: { meaning: 'belongs to another domain than From', tone: 'plain' },
};
/** The meaning of the result `none`. */
const NONE: Readonly<Record<string, string>> = {
  spf: 'The domain publishes no SPF record.',
  dkim: 'The message is not signed.',
  dmarc: 'The domain in From publishes no DMARC policy.',
  arc: 'The message has no ARC seal.',
};

const POLICIES: Readonly<Record<string, string>> = {
  none: 'requests no action for failing mail',
  quarantine: 'requests quarantine for failing mail',
  reject: 'requests rejection of failing mail',
};
const ALIGNED: Readonly<Record<string, string>> = {
  none: 'The address in From is not confirmed',
  spf: 'SPF confirms the domain in From',
  dkim: 'DKIM confirms the domain in From',
  arc: 'A trusted forwarder confirms the domain in From',
  relay: 'A trusted relay confirms the sender',
};

/** What the confirmation of the domain leaves open. */
const GAPS = [
  ['repeated', 'Repeated', 'No signature covers all fields of this name: not confirmed.'],
  ['uncovered', 'Not signed', 'Anyone can have written these: no copies to their addresses.'],
  ['unfinished', 'Not ended', 'The machine was too busy for the check, or the check failed.'],
] as const;

/** Results for a sender named outside From. */
const CLAIMED: Readonly<Record<string, { readonly meaning: string; readonly tone: Tone }>> = {
  verified: { meaning: 'a trusted forwarder confirms the sender', tone: 'good' },
  none: { meaning: 'the sender is not confirmed; their domain requests no action', tone: 'plain' },
  quarantine: {
    meaning: 'the sender is not confirmed; their domain requests quarantine',
    tone: 'warning',
  },
  reject: {
    meaning: 'the sender is not confirmed; their domain requests rejection',
    tone: 'warning',
  },
  temperror: { meaning: 'the sender is not confirmed, and the DNS lookup failed', tone: 'warning' },
};

/** The authentication results as lines: SPF, DKIM, DMARC, ARC, then the conclusions. */
export function checkWords(verdict: Readonly<Record<string, string>>): readonly CheckWords[] {
  const lines = METHODS.flatMap((method): CheckWords[] => {
    const result = verdict[method.key];
    return result === undefined
      ? []
      : [{ name: method.name, result, ...resultWords(method, result) }];
  });
  const { policy, aligned, claimed } = verdict;
  for (const [key, name, meaning] of GAPS) {
    const result = verdict[key];
    if (result !== undefined) lines.push({ name, result, meaning, tone: 'warning' });
  }
  if (policy !== undefined) {
    const meaning = sentence('The domain ', own(POLICIES, policy));
    lines.push({ name: 'Policy', result: policy, meaning, tone: 'plain' });
  }
  if (aligned !== undefined) {
    const meaning = sentence('', own(ALIGNED, aligned));
    const tone = aligned === 'none' ? 'warning' : 'good';
    lines.push({ name: 'Confirmed by', result: aligned, meaning, tone });
  }
  if (claimed !== undefined) {
    const { meaning: what, tone = 'plain' } = own(CLAIMED, claimed) ?? {};
    const meaning = sentence('The sender is taken from Reply-To or a similar header: ', what);
    lines.push({ name: 'Sender outside From', result: claimed, meaning, tone });
  }
  return lines;
}

/** The same, with all that have the result `none` in one line. */
export function checkLines(verdict: Readonly<Record<string, string>>): readonly CheckWords[] {
  const lines = checkWords(verdict);
  const none = lines.filter(({ result }) => result === 'none');
  const [first] = none;
  if (first === undefined || none.length === 1) return lines;
  const merged: CheckWords = {
    ...first,
    name: none.map(({ name }) => name).join(', '),
    meaning: none.map(({ meaning }) => meaning).join(' '),
    tone: none.some(({ tone }) => tone === 'warning') ? 'warning' : 'plain',
  };
  return [...lines.filter((line) => !none.includes(line)), merged];
}

/** Empty for an unknown result, of which only the name is shown. */
const sentence = (start: string, end: string | undefined): string =>
  end === undefined ? '' : `${start}${end}.`;

function resultWords(
  { key, subject, pass, fail }: (typeof METHODS)[number],
  result: string,
): Pick<CheckWords, 'meaning' | 'tone'> {
  if (result === 'pass') return { meaning: `${subject} ${pass}.`, tone: 'good' };
  if (result === 'fail') return { meaning: `${subject} ${fail}.`, tone: 'bad' };
  if (result === 'none') return { meaning: NONE[key] ?? '', tone: 'plain' };
  const { meaning, tone = 'plain' } = own(RESULTS, result) ?? {};
  return { meaning: sentence(`${subject} `, meaning), tone };
}
