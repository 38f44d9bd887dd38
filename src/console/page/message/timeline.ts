import { reasonOf, sentence } from '../../../domain/reasons.ts';
import type { TimelineStep } from '../../contract.ts';
import { bytes, exact, listed, own, plural } from '../formats.ts';

/** One line of a timeline. */
export interface TimelineLine extends StepWords {
  readonly at: number;
  readonly step: string;
  readonly tookMs: number;
  /** Its duration relative to the longest line of the attempt, in [0, 1]. */
  readonly share: number;
}

/** The steps of one attempt, or one step outside attempts. */
export type TimelineGroup =
  | { readonly kind: 'event'; readonly line: TimelineLine; readonly waitedMs: number }
  | {
      readonly kind: 'attempt';
      readonly number: number;
      readonly lines: readonly TimelineLine[];
      readonly startedAt: number;
      readonly tookMs: number;
      /** From the preceding step to the start of this attempt. */
      readonly waitedMs: number;
    };

/** Groups steps by attempt. */
export function timelineGroups(steps: readonly TimelineStep[]): readonly TimelineGroup[] {
  const groups: TimelineGroup[] = [];
  let before: TimelineStep | undefined;
  for (let index = 0; index < steps.length;) {
    const first = steps[index];
    if (first === undefined) break;
    if (first.attempt === undefined) {
      const waitedMs = before === undefined ? 0 : Math.max(0, first.at - before.at);
      groups.push({ kind: 'event', line: lineOf(first, 1), waitedMs });
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
  const [first] = steps;
  const startedAt = first === undefined ? 0 : first.at - first.tookMs;
  const longest = Math.max(1, ...steps.map(({ tookMs }) => tookMs));
  return {
    kind: 'attempt',
    number,
    lines: steps.map((step) => lineOf(step, longest)),
    startedAt,
    tookMs: Math.max(0, (steps.at(-1)?.at ?? startedAt) - startedAt),
    waitedMs: before === undefined ? 0 : Math.max(0, startedAt - before.at),
  };
}

const lineOf = (step: TimelineStep, longest: number): TimelineLine => ({
  ...stepWords(step),
  at: step.at,
  step: step.step,
  tookMs: step.tookMs,
  share: step.tookMs / longest,
});

export type Tone = 'plain' | 'good' | 'warning' | 'bad';

/** The text of a step. */
interface StepWords {
  readonly title: string;
  readonly more?: string;
  readonly tone: Tone;
}

type Detail = NonNullable<TimelineStep['detail']>;
type Words = (detail: Detail) => StepWords;

const words =
  (tone: Tone) =>
  (title: string, more = ''): StepWords => ({ title, ...(more !== '' && { more }), tone });
const plain = words('plain');
const good = words('good');
const warning = words('warning');
const bad = words('bad');
const number = (detail: Detail, name: string): number => {
  const value = detail[name];
  return typeof value === 'number' ? value : 0;
};
const text = (detail: Detail, name: string): string => String(detail[name] ?? '');
const has = (detail: Detail, name: string): boolean => detail[name] === true;
const reasonWords = ({ reason: code = '', ...params }: Detail): string => {
  const reason = reasonOf(code, params);
  return reason === undefined ? String(code) : sentence(reason);
};

/** Who moved the message. The gateway is not named. */
const by = (detail: Detail): string => {
  const name = text(detail, 'by');
  return name === '' ? '' : `by ${name}`;
};

/** The text of each known step; other steps are shown by their names. */
const WORDS: Readonly<Record<string, Words>> = {
  accepted: (detail) => plain('Accepted', `${bytes(number(detail, 'bytes'))} stored`),
  authenticated: (detail) =>
    (detail['dmarc'] === 'fail' ? warning : plain)(
      'Sender authenticated',
      ['spf', 'dkim', 'dmarc']
        .filter((method) => detail[method] !== undefined)
        .map((method) => `${method.toUpperCase()} ${text(detail, method)}`)
        .join(', '),
    ),
  normalized: (detail) => plain('Parsed', notes(detail)),
  uploaded: (detail) =>
    plain('Attachment uploaded', `${bytes(number(detail, 'bytes'))}, ${text(detail, 'type')}`),
  upload_refused: (detail) =>
    warning('Attachment refused by the platform', `${answer(detail)}; replaced by a line of text`),
  attachment_unavailable: () => warning('Attachment unavailable', 'replaced by a line of text'),
  attachment_late: () =>
    warning(
      'Attachment not available yet',
      'the message is sent without it; the attachment follows in a second message',
    ),
  conversation_gone: () => warning('Conversation no longer exists', 'a new one is started'),
  submitted: (detail) => good('Submitted', answer(detail)),
  refused: (detail) => bad('Refused by the platform', answer(detail)),
  retried_otherwise: (detail) => {
    const changes = text(detail, 'rung').split('+');
    return plain(
      'Submitted in another form',
      changes.map((rung) => own(RUNGS, rung) ?? rung).join('; '),
    );
  },
  unclear_answer: (detail) =>
    warning(
      'The answer does not confirm the message',
      `${answerForm(text(detail, 'form'))}; the platform’s messages are searched for it`,
    ),
  delivered: () => good('Delivered'),
  queued: (detail) =>
    warning(
      'Queued for a retry',
      listed(
        detail['nextAttemptAt'] !== undefined &&
          `not before ${exact(number(detail, 'nextAttemptAt'))}`,
        detail['counts'] === false && 'the time to give up does not run',
      ).join('; '),
    ),
  dead: () => bad('Dead', 'no automatic retry'),
  held: (detail) => warning('Held', reasonWords(detail)),
  suppressed: (detail) => plain('Suppressed', reasonWords(detail)),
  requeued: (detail) => plain('Queued again', by(detail)),
  discarded: (detail) => plain('Discarded', by(detail)),
  restored: (detail) => plain('Restored', by(detail)),
  taken_back: (detail) => plain('Undone', by(detail)),
};

export function stepWords({ step, detail = {} }: TimelineStep): StepWords {
  const wordsOf = own(WORDS, step);
  if (wordsOf !== undefined) return wordsOf(detail);
  const title = step.charAt(0).toUpperCase() + step.slice(1).replace(/[_-]/g, ' ');
  return plain(
    title,
    Object.entries(detail)
      .map(([name, value]) => `${name} ${String(value)}`)
      .join(', '),
  );
}

/** What a repeated request changes (`delivery/compose.ts`). */
const RUNGS: Readonly<Record<string, string>> = {
  address: 'without the sender’s address, which is added to the name; replies are not possible',
  attachments_anew: 'with newly uploaded attachments',
  conversation: 'without the conversation id, which starts a new conversation',
  plain_text: 'as plain text, without attachments',
  copies: 'without Cc and Bcc addresses',
  references: 'without references to earlier emails',
};

/**
 * Describes `200 empty`, `200 id status` (a status and the keys of its JSON), or `other`: another
 * message.
 */
function answerForm(recorded: string): string {
  if (recorded === 'other') return 'the platform returned another message';
  const [, status = '', keys = ''] = /^(\d{3})(?: (.*))?$/.exec(recorded) ?? [];
  if (status === '') return `the platform answered ${recorded}`;
  if (keys === '' || keys === 'empty') return `the platform answered ${status} without content`;
  return `the platform answered ${status} with ${keys.split(' ').join(', ')}`;
}

const BODIES: Readonly<Record<string, string>> = {
  plain: 'plain text',
  html: 'HTML',
  none: 'no readable text',
};

/** The results of parsing: counts, without content. */
function notes(detail: Detail): string {
  const body = text(detail, 'body');
  const counted = (name: string, one: string, after = '') =>
    number(detail, name) > 0 && `${plural(number(detail, name), one)}${after}`;
  return listed(
    has(detail, 'unreadable') && 'unreadable; submitted as a file',
    body !== '' && (own(BODIES, body) ?? body),
    has(detail, 'reaction') && 'a reaction',
    detail['transport'] === 'whatsapp' && 'WhatsApp',
    counted('characters', 'character'),
    counted('attachments', 'attachment'),
    counted('trimmedLines', 'line', ' of quote or signature trimmed'),
    counted('copiesLeftOut', 'copy recipient', ' left out: not confirmed'),
    counted('attachmentsLeftOut', 'attachment', ' left out'),
    counted('mediaRefused', 'media file', ' of another message refused'),
    has(detail, 'longText') && 'full text attached',
    has(detail, 'brokenMime') && 'damaged; original attached',
    text(detail, 'recovered') !== '' && `sender unverified: ${faults(text(detail, 'recovered'))}`,
    detail['bounce'] === 'delayed' && 'a delay, not a failure',
  ).join(', ');
}

/** The faults of an email's structure in spite of which it was read. */
const FAULTS: Readonly<Record<string, string>> = {
  repeated_field: 'a field of the structure twice',
  unindented_parameter: 'a parameter that is not indented',
  no_empty_line: 'no empty line after a header',
  inner_not_closed: 'a multipart that is not closed',
  early_end: 'an end before the first part',
  other_boundary: 'another boundary than declared',
  no_type: 'a multipart without a type',
  no_boundary: 'a multipart without boundaries, read as text',
  text_outside_parts: 'text outside of all parts',
  bare_cr: 'lines that end in CR',
};

function faults(codes: string): string {
  return codes
    .split(' ')
    .map((code) => own(FAULTS, code) ?? code)
    .join(', ');
}

const ANSWERS: Readonly<Record<number, string>> = {
  200: 'already exists',
  201: 'created',
  202: 'accepted',
  400: 'bad request',
  401: 'key refused',
  403: 'forbidden',
  404: 'not found',
  409: 'already exists',
  413: 'too large',
  415: 'unsupported type',
  422: 'validation failed',
  429: 'too many requests',
};

function answer(detail: Detail): string {
  const status = number(detail, 'status');
  if (status === 0) return '';
  const words = ANSWERS[status];
  return `the platform answered ${status}${words === undefined ? '' : ` (${words})`}`;
}
