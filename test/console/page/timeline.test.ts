import { expect, test } from '@jest/globals';
import type { TimelineStep } from '../../../src/console/contract.ts';
import { stepWords, timelineGroups } from '../../../src/console/page/message/timeline.ts';

/** Steps as the server shows them: the first step of an attempt took `tookMs`, the others since the one before. */
function steps(
  ...all: readonly (readonly [
    at: number,
    step: string,
    attempt?: number | undefined,
    detail?: TimelineStep['detail'],
    tookMs?: number,
  ])[]
): TimelineStep[] {
  return all.map(([at, step, attempt, detail, tookMs], index) => ({
    at,
    step,
    tookMs: tookMs ?? (attempt === undefined ? 0 : at - (all[index - 1]?.[0] ?? at)),
    ...(attempt !== undefined && { attempt }),
    ...(detail !== undefined && { detail }),
  }));
}

test('steps of an attempt are one group, with its duration', () => {
  const [accepted, attempt] = timelineGroups(
    steps(
      [1000, 'accepted', undefined, { bytes: 2000 }],
      [1040, 'normalized', 1],
      [1240, 'submitted', 1, { status: 201 }],
      [1241, 'delivered', 1],
    ),
  );
  expect(accepted).toMatchObject({ kind: 'event', line: { title: 'Accepted' } });
  expect(attempt).toMatchObject({ kind: 'attempt', number: 1, startedAt: 1000, tookMs: 241 });
  if (attempt?.kind !== 'attempt') throw new Error('no attempt');
  expect(attempt.lines.map(({ tookMs }) => tookMs)).toEqual([40, 200, 1]);
  expect(attempt.lines[1]?.share).toBe(1);
});

test('the wait for an attempt is apart from its first step', () => {
  const groups = timelineGroups(
    steps(
      [1000, 'accepted'],
      [1500, 'queued', 1, { nextAttemptAt: 60_000, counts: true }, 300],
      [60_100, 'normalized', 2, undefined, 40],
      [60_300, 'delivered', 2],
    ),
  );
  expect(groups[1]).toMatchObject({ startedAt: 1200, waitedMs: 200 });
  expect(groups[2]).toMatchObject({
    ...{ kind: 'attempt', number: 2, startedAt: 60_060, tookMs: 240, waitedMs: 58_560 },
    lines: [{ tookMs: 40 }, { tookMs: 200 }],
  });
});

test('a move names the operator, if one is known', () => {
  expect(stepWords({ at: 1, step: 'requeued', tookMs: 0, detail: { by: 'ann' } })).toMatchObject({
    ...{ title: 'Queued again', more: 'by ann' },
  });
  expect(stepWords({ at: 1, step: 'discarded', tookMs: 0 })).toEqual({
    ...{ title: 'Discarded', tone: 'plain' },
  });
});

test('nothing is a timeline of nothing', () => {
  expect(timelineGroups([])).toEqual([]);
});

test.each<[string, TimelineStep['detail'], string, string | undefined]>([
  [
    'refused',
    { status: 422 },
    'Refused by the platform',
    'the platform answered 422 (validation failed)',
  ],
  [
    'retried_otherwise',
    { rung: 'plain_text' },
    'Submitted in another form',
    'as plain text, without attachments',
  ],
  [
    'retried_otherwise',
    { rung: 'copies+references' },
    'Submitted in another form',
    'without Cc and Bcc addresses; without references to earlier emails',
  ],
  ['retried_otherwise', { rung: 'toString' }, 'Submitted in another form', 'toString'],
  [
    'unclear_answer',
    { form: '200 empty' },
    'The answer does not confirm the message',
    'the platform answered 200 without content; the platform’s messages are searched for it',
  ],
  [
    'unclear_answer',
    { form: '202 queued status' },
    'The answer does not confirm the message',
    'the platform answered 202 with queued, status; the platform’s messages are searched for it',
  ],
  [
    'unclear_answer',
    { form: 'other' },
    'The answer does not confirm the message',
    'the platform returned another message; the platform’s messages are searched for it',
  ],
  [
    'attachment_late',
    undefined,
    'Attachment not available yet',
    'the message is sent without it; the attachment follows in a second message',
  ],
  ['conversation_gone', { status: 404 }, 'Conversation no longer exists', 'a new one is started'],
  ['submitted', { status: 201 }, 'Submitted', 'the platform answered 201 (created)'],
  ['submitted', { status: 299 }, 'Submitted', 'the platform answered 299'],
  ['upload_refused', { bytes: 1, type: 'image/png', status: 413 }, 'Attachment refused', '413'],
  ['normalized', { body: 'html', attachments: 1, trimmedLines: 2 }, 'Parsed', 'HTML, 1 attachment'],
  ['normalized', { body: 'plain', bounce: 'delayed' }, 'Parsed', 'a delay, not a failure'],
  ['normalized', { transport: 'whatsapp', media: 0, attachments: 0 }, 'Parsed', 'WhatsApp'],
  [
    'normalized',
    { body: 'plain', recovered: 'other_boundary new_one' },
    'Parsed',
    'sender unverified: another boundary than declared, new_one',
  ],
  ['authenticated', { spf: 'pass', dmarc: 'fail' }, 'Sender authenticated', 'SPF pass, DMARC fail'],
  ['some_new_step', { tries: 3, ok: true }, 'Some new step', 'tries 3, ok true'],
  ['constructor', undefined, 'Constructor', undefined],
])('%s %j is told in words', (step, detail, title, more) => {
  const words = stepWords({ at: 0, step, tookMs: 0, ...(detail && { detail }) });
  expect(words.title).toContain(title);
  if (more === undefined) expect(words.more).toBeUndefined();
  else expect(words.more).toContain(more);
});
