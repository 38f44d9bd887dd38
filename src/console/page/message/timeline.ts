import type { TimelineStep } from '../../contract.ts';
import { bytes, exact, plural } from '../formats.ts';

/** One line of a timeline. */
export interface TimelineLine extends StepWords {
  readonly at: number;
  readonly step: string;
  /** How long it took; for the first line of an attempt without the wait before it. */
  readonly tookMs: number;
  /** In [0, 1]: of the longest line of its attempt. */
  readonly share: number;
}

/** The steps of one attempt, or those outside of attempts. */
export type TimelineGroup =
  | { readonly kind: 'event'; readonly line: TimelineLine; readonly waitedMs: number }
  | {
      readonly kind: 'attempt';
      readonly number: number;
      readonly lines: readonly TimelineLine[];
      readonly startedAt: number;
      readonly tookMs: number;
      /** Between the step before and the time when this one was due. */
      readonly waitedMs: number;
    };

/**
 * Groups steps by attempt. When an attempt began is not written down; it was not before the step
 * that came before it, nor before it was due.
 */
export function timelineGroups(steps: readonly TimelineStep[]): readonly TimelineGroup[] {
  const groups: TimelineGroup[] = [];
  let before: TimelineStep | undefined;
  for (let index = 0; index < steps.length;) {
    const first = steps[index];
    if (first === undefined) break;
    if (first.attempt === undefined) {
      const waitedMs = before === undefined ? 0 : Math.max(0, first.at - before.at);
      groups.push({ kind: 'event', line: lineOf(first, 0, 0), waitedMs });
      before = first;
      index += 1;
      continue;
    }
    const last = steps.findIndex(({ attempt }, at) => at > index && attempt !== first.attempt);
    const own = steps.slice(index, last < 0 ? undefined : last);
    const group = attemptGroup(first.attempt, own, before);
    groups.push(group);
    before = own.at(-1);
    index += own.length;
  }
  return groups;
}

function attemptGroup(
  number: number,
  steps: readonly TimelineStep[],
  before: TimelineStep | undefined,
): TimelineGroup {
  const first = steps[0]?.at ?? 0;
  const startedAt = Math.min(first, Math.max(before?.at ?? first, dueAt(before)));
  const took = steps.map(({ at }, index) =>
    Math.max(0, at - (index === 0 ? startedAt : (steps[index - 1]?.at ?? at))),
  );
  const longest = Math.max(1, ...took);
  return {
    kind: 'attempt',
    number,
    lines: steps.map((step, index) => lineOf(step, took[index] ?? 0, longest)),
    startedAt,
    tookMs: Math.max(0, (steps.at(-1)?.at ?? startedAt) - startedAt),
    waitedMs: before === undefined ? 0 : Math.max(0, startedAt - before.at),
  };
}

function dueAt(before: TimelineStep | undefined): number {
  const due = before?.detail?.['nextAttemptAt'];
  return typeof due === 'number' ? due : 0;
}

const lineOf = (step: TimelineStep, tookMs: number, longest: number): TimelineLine => ({
  ...stepWords(step),
  at: step.at,
  step: step.step,
  tookMs,
  share: longest === 0 ? 0 : tookMs / longest,
});

export type Tone = 'plain' | 'good' | 'warning' | 'bad';

/** A step as an operator reads it. */
interface StepWords {
  readonly title: string;
  readonly more?: string;
  readonly tone: Tone;
}

type Detail = NonNullable<TimelineStep['detail']>;
type Words = (detail: Detail) => StepWords;

const plain = (title: string, more = ''): StepWords => ({
  title,
  ...(more !== '' && { more }),
  tone: 'plain',
});
const number = (detail: Detail, name: string): number => {
  const value = detail[name];
  return typeof value === 'number' ? value : 0;
};
const text = (detail: Detail, name: string): string => String(detail[name] ?? '');
const has = (detail: Detail, name: string): boolean => detail[name] === true;

/** What intake, delivery and operators write; anything else is shown by its own name. */
const WORDS: Readonly<Record<string, Words>> = {
  accepted: (detail) => plain('Accepted', `${bytes(number(detail, 'bytes'))}, safe on disk`),
  authenticated: (detail) => ({
    title: 'Sender checked',
    more: ['spf', 'dkim', 'dmarc']
      .filter((method) => detail[method] !== undefined)
      .map((method) => `${method.toUpperCase()} ${text(detail, method)}`)
      .join(', '),
    tone: detail['dmarc'] === 'fail' ? 'warning' : 'plain',
  }),
  normalized: (detail) => plain('Read', notes(detail)),
  uploaded: (detail) =>
    plain('Attachment uploaded', `${bytes(number(detail, 'bytes'))}, ${text(detail, 'type')}`),
  upload_refused: (detail) => ({
    title: 'Attachment refused by the platform',
    more: `${answer(detail)}; a line in the text stands for it`,
    tone: 'warning',
  }),
  attachment_unavailable: () => ({
    title: 'Attachment could not be had',
    more: 'a line in the text stands for it',
    tone: 'warning',
  }),
  attachment_late: () => ({
    title: 'Attachment is not there yet',
    more: 'the message is sent without it; a second message brings it',
    tone: 'warning',
  }),
  conversation_gone: () => ({
    title: 'Its conversation is gone',
    more: 'a new one is begun',
    tone: 'warning',
  }),
  submitted: (detail) => ({ title: 'Submitted', more: answer(detail), tone: 'good' }),
  refused: (detail) => ({ title: 'Refused by the platform', more: answer(detail), tone: 'bad' }),
  retried_otherwise: (detail) => {
    const rung = text(detail, 'rung');
    const how = Object.hasOwn(RUNGS, rung) ? RUNGS[rung] : undefined;
    return plain('Submitted in another form', how ?? rung);
  },
  unclear_answer: (detail) => ({
    title: 'The answer does not say whether it was taken',
    more: `${form(text(detail, 'form'))}; it is looked for among the platform’s messages`,
    tone: 'warning',
  }),
  delivered: () => ({ title: 'Delivered', tone: 'good' }),
  queued: (detail) => ({
    title: 'To be tried again',
    more: [
      ...(detail['nextAttemptAt'] === undefined
        ? []
        : [`not before ${exact(number(detail, 'nextAttemptAt'))}`]),
      ...(detail['counts'] === false ? ['uses up no attempt'] : []),
    ].join('; '),
    tone: 'warning',
  }),
  dead: () => ({ title: 'Dead', more: 'not tried again by itself', tone: 'bad' }),
  held: (detail) => ({ title: 'Held', more: text(detail, 'reason'), tone: 'warning' }),
  suppressed: (detail) => plain('Suppressed', text(detail, 'reason')),
  requeued: () => plain('Put back into the queue', 'by an operator, or as not its own fault'),
  discarded: () => plain('Discarded', 'by an operator'),
  restored: () => plain('Restored', 'by an operator'),
  taken_back: () => plain('Taken back', 'by an operator'),
};

export function stepWords({ step, detail = {} }: TimelineStep): StepWords {
  // The step's name is data: it must not find what every object has.
  const words = Object.hasOwn(WORDS, step) ? WORDS[step] : undefined;
  if (words !== undefined) return words(detail);
  const title = step.charAt(0).toUpperCase() + step.slice(1).replace(/[_-]/g, ' ');
  return plain(
    title,
    Object.entries(detail)
      .map(([name, value]) => `${name} ${String(value)}`)
      .join(', '),
  );
}

/** What a further request leaves out or uploads again (`delivery/ladder.ts`). */
const RUNGS: Readonly<Record<string, string>> = {
  address: 'without the sender’s address, which is added to the name; it cannot be answered',
  attachments_anew: 'with its attachments uploaded again',
  conversation: 'without its conversation, so that it begins a new one',
  plain_text: 'as plain text, without attachments',
  copies: 'without the addresses in Cc and Bcc',
  references: 'without references to earlier mails',
};

/** `200 empty`, `200 id status` (the keys of its JSON), or `other`: another message than ours. */
function form(told: string): string {
  if (told === 'other') return 'the platform answered with another message';
  const [, status = '', keys = ''] = /^(\d{3})(?: (.*))?$/.exec(told) ?? [];
  if (status === '') return `the platform answered ${told}`;
  if (keys === '' || keys === 'empty') return `the platform answered ${status} and nothing more`;
  return `the platform answered ${status} with ${keys.split(' ').join(', ')}`;
}

const BODIES: Readonly<Record<string, string>> = {
  plain: 'plain text',
  html: 'HTML',
  none: 'no readable text',
};

/** What reading it found out: counts, never content. */
function notes(detail: Detail): string {
  const body = text(detail, 'body');
  const attachments = number(detail, 'attachments');
  return [
    ...(has(detail, 'unreadable') ? ['unreadable, submitted as a file'] : []),
    ...(body === '' ? [] : [Object.hasOwn(BODIES, body) ? (BODIES[body] ?? body) : body]),
    ...(detail['transport'] === 'whatsapp' ? ['WhatsApp'] : []),
    ...(number(detail, 'characters') > 0
      ? [plural(number(detail, 'characters'), 'character')]
      : []),
    ...(attachments > 0 ? [plural(attachments, 'attachment')] : []),
    ...(number(detail, 'trimmedLines') > 0
      ? [`${plural(number(detail, 'trimmedLines'), 'line')} of quote or signature trimmed`]
      : []),
    ...(number(detail, 'attachmentsLeftOut') > 0
      ? [`${plural(number(detail, 'attachmentsLeftOut'), 'attachment')} left out`]
      : []),
    ...(number(detail, 'mediaRefused') > 0
      ? [`${plural(number(detail, 'mediaRefused'), 'medium', 'media')} not this message’s`]
      : []),
    ...(has(detail, 'longText') ? ['the whole text is attached'] : []),
    ...(has(detail, 'brokenMime') ? ['damaged; the original is attached'] : []),
  ].join(', ');
}

const ANSWERS: Readonly<Record<number, string>> = {
  200: 'had it already',
  201: 'created',
  202: 'accepted',
  400: 'bad request',
  401: 'key not accepted',
  403: 'forbidden',
  404: 'not found',
  409: 'had it already',
  413: 'too large',
  415: 'type not accepted',
  422: 'not accepted as it is',
  429: 'too many requests',
};

function answer(detail: Detail): string {
  const status = number(detail, 'status');
  if (status === 0) return '';
  const words = ANSWERS[status];
  return `the platform answered ${status}${words === undefined ? '' : ` (${words})`}`;
}
