import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import { DeskRefused, type DeskTicket, type TicketAsSeen } from '../../../src/domain/desk.ts';
import { PlatformEraser } from '../../../src/local-platform/erase.ts';
import type { Agent, AgentContext } from '../../../src/local-platform/agent/agent.ts';
import type {
  LocalPlatform,
  LocalPlatformOptions,
} from '../../../src/local-platform/local-platform.ts';
import type { Conversation, Message } from '../../../src/platform-api/resources.ts';
import { ends } from '../../support/ends.ts';
import { startMailRelay } from '../../support/mail-relay.ts';
import { waitFor } from '../../support/wait-for.ts';
import {
  anEmail,
  call,
  create,
  KNOWLEDGE,
  messagesOf,
  newFolder,
  OTHER,
  SHOP,
  startPlatform,
  ticketOf,
} from '../harness.ts';

/** Answers everything, and hands over what has "human" in it. */
const agent: Agent = {
  answer: ({ text }) =>
    Promise.resolve({ text: `You said: ${text}`, escalate: text.includes('human') }),
};

const withAgent = (more: Partial<LocalPlatformOptions> = {}) =>
  startPlatform({ agent: { kind: 'custom', agent }, withoutAgent: [OTHER.shopId], ...more });

const seen = (
  { desk }: LocalPlatform,
  { ticket_id: id }: Pick<Message, 'ticket_id'>,
  who = 'ann',
): TicketAsSeen => {
  const ticket = desk.ticket(SHOP.shopId, String(id));
  return { shopId: SHOP.shopId, id: ticket.id, version: ticket.version, who };
};

const say = (text: string, files: readonly string[] = []) =>
  ({ text, format: 'TEXT', files }) as const;

const shown = (platform: LocalPlatform, { ticket_id: id }: Message): DeskTicket =>
  platform.desk.ticket(SHOP.shopId, String(id));

const aText = (content: string) => ({
  contact: { phone: '+15550002222' },
  conversation: { direction: 'inbound', type: 'sms', agent_contact: '+15550001111' },
  message: { content },
});

const statusIs = (platform: LocalPlatform, message: Message, status: string) =>
  waitFor(status, async () => (await ticketOf(platform, message)).status === status);

/** A ticket that the agent has handed over. */
async function escalated(platform: LocalPlatform, change = {}): Promise<Message> {
  const { body } = await create(
    platform,
    anEmail({ message: { content: 'A human, please', ...change } }),
  );
  await statusIs(platform, body, 'WaitingUser');
  return body;
}

const next = (platform: LocalPlatform, { conversation_id: id }: Message, content: string) =>
  create(platform, anEmail({ conversation: { id }, message: { content } }));

async function refusalOf(work: Promise<unknown>): Promise<DeskRefused> {
  const error: unknown = await work.catch((thrown: unknown) => thrown);
  if (error instanceof DeskRefused) return error;
  throw new Error('it was not refused', { cause: error });
}

describe('the queue', () => {
  test('has what the agent handed over, and all of a shop without agent; the longest waiting first', async () => {
    let now = Date.parse('2026-04-01T08:00:00Z');
    const platform = await withAgent({ clock: () => now });
    const first = await escalated(platform);
    now += 60_000;
    const answered = await create(platform, anEmail());
    await statusIs(platform, answered.body, 'WaitingContact');
    const second = await escalated(platform);
    const alone = await create(platform, anEmail({ message: { content: 'Hello' } }), OTHER);
    now += 60_000;
    await next(platform, first, 'Are you there?');
    expect(platform.desk.queue(SHOP.shopId, 10)).toMatchObject([
      { id: first.ticket_id, customer: 'Ann Lee', channel: 'email', excerpt: 'Are you there?' },
      { id: second.ticket_id, waitingSince: Date.parse('2026-04-01T08:01:00Z') },
    ]);
    expect(platform.desk.queue(SHOP.shopId, 1)).toHaveLength(1);
    expect(platform.desk.count(SHOP.shopId)).toEqual({
      waiting: 2,
      oldestAt: Date.parse('2026-04-01T08:00:00Z'),
    });
    expect(platform.desk.queue(OTHER.shopId.toUpperCase(), 10)).toMatchObject([
      { id: alone.body.ticket_id, status: 'New' },
    ]);
    await platform.desk.reply(seen(platform, first), say('Yes.'));
    expect(platform.desk.count(SHOP.shopId)).toMatchObject({ waiting: 1 });
  });

  test.each([
    ['by a reload', false],
    ['between two runs', true],
  ])(
    'keeps what waits in a shop where an agent begins %s; new questions are for the agent',
    async (_when, hasRestarted) => {
      const dir = newFolder();
      const first = await startPlatform({
        ...{ dir, agent: { kind: 'custom', agent }, withoutAgent: [SHOP.shopId] },
      });
      const { body: left } = await create(first, anEmail());
      if (hasRestarted) await first.stop();
      else first.serve([SHOP, OTHER], [OTHER.shopId]);
      const platform = hasRestarted ? await withAgent({ dir }) : first;
      expect(platform.desk.queue(SHOP.shopId, 10)).toMatchObject([{ id: left.ticket_id }]);
      await next(platform, left, 'Is anybody there?');
      const { body: asked } = await create(platform, anEmail());
      await statusIs(platform, asked, 'WaitingContact');
      expect(shown(platform, left)).toMatchObject({ status: 'WaitingUser', agent: 'silent' });
      expect(shown(platform, left).messages.map(({ from }) => from)).toEqual([
        ...['customer', 'customer'],
      ]);
      // It is made once.
      platform.serve([SHOP, OTHER], [OTHER.shopId]);
      await platform.desk.handBack(seen(platform, left));
      await statusIs(platform, left, 'WaitingContact');
    },
  );
});

describe('a reply', () => {
  test('goes out by email below the question, as a person writes, with its files', async () => {
    const relay = await startMailRelay();
    ends(() => relay.close());
    const through = { host: '127.0.0.1', port: relay.port, implicitTls: false } as const;
    const platform = await withAgent({ replies: { relay: { ...through, tls: 'off' } } });
    const question = await escalated(platform);
    await waitFor('the agent', () => relay.taken.length === 1);
    const file = await platform.desk.upload(SHOP.shopId, {
      ...{ name: 'size chart.txt', type: 'text/plain' },
      content: Readable.from([Buffer.from('41 42 43')]),
    });
    await platform.desk.reply(seen(platform, question), {
      ...{ text: 'We have **41**.', format: 'MARKDOWN', files: [file.id] },
    });
    const sent = await waitFor('the mail', () => relay.taken[1]);
    expect(sent.to).toEqual(['ann@example.com']);
    expect(sent.mail).toMatchObject({
      inReplyTo: question.remote_id,
      text: 'We have 41.',
      html: expect.stringContaining('<strong>41</strong>'),
      attachments: [{ filename: 'size chart.txt', content: Buffer.from('41 42 43') }],
    });
    expect(sent.mail.headers.has('auto-submitted')).toBe(false);
    expect(relay.taken[0]?.mail.headers.get('auto-submitted')).toBe('auto-replied');
    await waitFor('DELIVERED', () => shown(platform, question).messages[2]?.fate?.state === 'sent');
    // The customer's answer to it belongs to the ticket, and waits for a person.
    const answer = await create(
      platform,
      anEmail({
        message: { content: 'Thanks!', email: { in_reply_to: sent.mail.messageId ?? '' } },
      }),
    );
    expect(answer.body.ticket_id).toBe(question.ticket_id);
    expect(await ticketOf(platform, question)).toMatchObject({ status: 'WaitingUser' });
    expect(shown(platform, question).messages.map(({ from, who }) => [from, who])).toEqual([
      ['customer', undefined],
      ['agent', undefined],
      ['person', 'ann'],
      ['customer', undefined],
    ]);
  });

  test('has the stable id of its author, on the documented API too', async () => {
    const dir = newFolder();
    const platform = await withAgent({ dir });
    const question = await escalated(platform);
    await platform.desk.reply(seen(platform, question), say('One.'));
    await platform.stop();
    const later = await withAgent({ dir });
    await later.desk.reply(seen(later, question, 'ann'), say('Two.'));
    await later.desk.reply(seen(later, question, 'bea'), say('Three.'));
    const replies = (await messagesOf(later, question.conversation_id)).filter(
      ({ user_id }) => user_id !== null,
    );
    expect(replies).toMatchObject([
      { role: 'agent', type: 'External', content: 'Three.', agent_id: null },
      { content: 'Two.' },
      { content: 'One.' },
    ]);
    const ids = replies.map(({ user_id: id }) => id);
    expect(ids[1]).toBe(ids[2]);
    expect(ids[0]).not.toBe(ids[1]);
    expect(await ticketOf(later, question)).toMatchObject({ status: 'WaitingContact' });
  });

  test('by SMS is plain text, and has files if others can follow their links', async () => {
    const dir = newFolder();
    let publicUrl = 'http://127.0.0.1:8080';
    const platform = await withAgent({ dir, publicUrl: () => publicUrl });
    const { body: question } = await create(platform, aText('A human!'));
    await statusIs(platform, question, 'WaitingUser');
    const file = await platform.desk.upload(SHOP.shopId, {
      ...{ name: 'a.txt', type: 'text/plain', content: Readable.from([Buffer.from('a')]) },
    });
    const refused = await refusalOf(
      platform.desk.reply(seen(platform, question), say('See there', [file.id])),
    );
    expect(refused).toMatchObject({
      kind: 'invalid',
      message: expect.stringContaining('http.publicUrl'),
    });
    publicUrl = 'https://gw.acme.example/';
    await platform.desk.reply(seen(platform, question), {
      ...{ text: 'We open at **nine**.', format: 'MARKDOWN', files: [file.id] },
    });
    await waitFor('DELIVERED', () => shown(platform, question).messages[2]?.fate?.state === 'sent');
    const log = readFileSync(join(dir, 'outbox', 'sms.log'), 'utf8')
      .trim()
      .split('\n');
    expect(JSON.parse(log[1] ?? '')).toMatchObject({
      ...{ from: '+15550001111', to: '+15550002222', text: 'We open at nine.' },
      files: [expect.stringContaining(`https://gw.acme.example/reply-files/${file.id}/`)],
    });
  });

  test('by SMS is refused when its end would be cut off', async () => {
    const platform = await withAgent();
    const { body: question } = await create(platform, aText('A human!'));
    await statusIs(platform, question, 'WaitingUser');
    const words = (count: number) => say('seven, '.repeat(count));
    const refused = await refusalOf(platform.desk.reply(seen(platform, question), words(1200)));
    expect(refused).toMatchObject({
      ...{ kind: 'invalid', message: expect.stringContaining('too long for SMS') },
    });
    expect(shown(platform, question)).toMatchObject({ status: 'WaitingUser' });
    await platform.desk.note(seen(platform, question), words(1200));
    await platform.desk.reply(seen(platform, question), words(1100));
  });

  test('to a number that has opted out is refused until it opts in again; a note is not', async () => {
    let isOptedOut = true;
    const route = { transport: 'sms', ours: '+15550001111', theirs: '+15550002222' } as const;
    const platform = await withAgent({
      replies: { findTextRoute: () => Promise.resolve({ ...route, isOptedOut }) },
    });
    const { body: question } = await create(platform, aText('A human!'));
    await statusIs(platform, question, 'WaitingUser');
    await waitFor('FAILED', () => shown(platform, question).messages[1]?.fate?.state === 'failed');
    const id = String(question.ticket_id);
    expect(await platform.desk.isOptedOut(SHOP.shopId, id)).toBe(true);
    const refused = await refusalOf(platform.desk.reply(seen(platform, question), say('Hello?')));
    expect(refused).toMatchObject({
      ...{ kind: 'conflict', message: expect.stringContaining('opted out') },
      changes: [],
    });
    expect(shown(platform, question)).toMatchObject({ status: 'WaitingUser' });
    await platform.desk.note(seen(platform, question), say('Call them.'));
    isOptedOut = false;
    expect(await platform.desk.isOptedOut(SHOP.shopId, id)).toBe(false);
    await platform.desk.reply(seen(platform, question), say('Hello?'));
    await waitFor('DELIVERED', () =>
      shown(platform, question).messages.some(({ fate }) => fate?.state === 'sent'),
    );
  });

  test.each([
    ['an empty one', say(' \n'), 'The message is empty'],
    ['one with an unknown file', say('x', [SHOP.shopId]), 'A file is missing: attach it again'],
  ])('%s is refused, and nothing changes', async (_what, message, words) => {
    const platform = await withAgent();
    const question = await escalated(platform);
    const before = shown(platform, question);
    const refused = await refusalOf(platform.desk.reply(seen(platform, question), message));
    expect(refused).toMatchObject({ kind: 'invalid', message: words });
    expect(shown(platform, question)).toEqual(before);
  });
});

describe('a note', () => {
  test('is shown to people and to the API as internal, and to nobody else', async () => {
    const asked: AgentContext[] = [];
    const curious: Agent = {
      answer: (context) => {
        asked.push(context);
        return agent.answer(context, new AbortController().signal);
      },
    };
    const platform = await startPlatform({ agent: { kind: 'custom', agent: curious } });
    const question = await escalated(platform);
    await platform.desk.note(seen(platform, question), say('They are angry.'));
    expect(shown(platform, question).messages.at(-1)).toMatchObject({
      ...{ from: 'person', who: 'ann', isInternal: true, text: 'They are angry.' },
    });
    expect((await messagesOf(platform, question.conversation_id))[0]).toMatchObject({
      ...{ type: 'Internal', status: 'DELIVERED', content: 'They are angry.' },
    });
    // It is nobody's turn: the ticket waits as before.
    expect(await ticketOf(platform, question)).toMatchObject({ status: 'WaitingUser' });
    await platform.desk.handBack(seen(platform, question));
    await waitFor('the agent', () => asked.length === 2);
    expect(JSON.stringify(asked[1]?.history)).not.toContain('angry');
  });
});

describe('several persons', () => {
  test('a change of what somebody has not seen is refused, with what happened', async () => {
    const platform = await withAgent();
    const question = await escalated(platform);
    const mine = seen(platform, question, 'ann');
    const theirs = seen(platform, question, 'bea');
    await platform.desk.assign(theirs, 'bea');
    await platform.desk.reply(seen(platform, question, 'bea'), say('I will look at it.'));
    await platform.desk.note(seen(platform, question, 'bea'), say('It is the blue one.'));
    await next(platform, question, 'Good.');
    const refused = await refusalOf(platform.desk.reply(mine, say('Which one?')));
    expect(refused).toMatchObject({
      kind: 'conflict',
      changes: [
        { what: 'assigned', who: 'bea', to: 'bea' },
        { what: 'reply', who: 'bea', text: 'I will look at it.' },
        { what: 'note', who: 'bea', text: 'It is the blue one.' },
        { what: 'message', text: 'Good.' },
      ],
    });
    for (const change of [
      platform.desk.complete(mine),
      platform.desk.assign(mine, 'ann'),
      platform.desk.note(mine, say('x')),
      platform.desk.handBack(mine),
    ]) {
      expect((await refusalOf(change)).kind).toBe('conflict');
    }
    await platform.desk.reply(seen(platform, question), say('Which one?'));
  });

  test('of two changes at the same time one is made', async () => {
    const platform = await withAgent();
    const question = await escalated(platform);
    const done = await Promise.allSettled([
      platform.desk.reply(seen(platform, question, 'ann'), say('From Ann')),
      platform.desk.reply(seen(platform, question, 'bea'), say('From Bea')),
    ]);
    expect(done.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    expect(shown(platform, question).messages.map(({ text }) => text)).toContain('From Ann');
    expect(shown(platform, question).messages.map(({ text }) => text)).not.toContain('From Bea');
  });

  test('hear of each change', async () => {
    const heard: unknown[] = [];
    const platform = await withAgent({ onTicketChanged: (changed) => heard.push(changed) });
    const question = await escalated(platform);
    const before = await waitFor('the delivery', () => heard.length >= 3 && heard.length);
    await platform.desk.complete(seen(platform, question));
    const changed = { shopId: SHOP.shopId, id: question.ticket_id };
    expect(heard.slice(before)).toEqual([changed]);
    await next(platform, question, 'And now?');
    expect(heard.slice(before + 1)).toContainEqual(changed);
  });
});

test('people hear of an event of the customer, such as an opt-out, which is no message', async () => {
  const heard: unknown[] = [];
  const platform = await startPlatform({ onTicketChanged: (changed) => heard.push(changed) });
  const { body: question } = await create(platform, anEmail());
  const event = { name: 'SMS opt-out', event_time: '2026-04-01T08:00:00Z' };
  const contact = { email: 'ann@example.com' };
  await call(platform, 'POST', '/events/', { body: { ...event, contact } });
  const changed = { shopId: SHOP.shopId, id: question.ticket_id };
  expect(heard).toEqual([changed, changed]);
});

describe('the agent', () => {
  test('is silent while a person has the ticket, and when its answer comes too late', async () => {
    const dir = newFolder();
    let release: (() => void) | undefined;
    const slow: Agent = {
      answer: () =>
        new Promise((resolve) => {
          release = () => resolve({ text: 'Too late.', escalate: false });
        }),
    };
    const platform = await startPlatform({ dir, agent: { kind: 'custom', agent: slow } });
    const { body: question } = await create(platform, anEmail());
    const answer = await waitFor('the agent', () => release);
    await platform.desk.assign(seen(platform, question), 'bea');
    answer();
    expect(await ticketOf(platform, question)).toMatchObject({ status: 'WaitingUser' });
    expect(shown(platform, question)).toMatchObject({ assignee: 'bea', agent: 'silent' });
    await platform.desk.assign(seen(platform, question), null);
    await next(platform, question, 'Hello?');
    expect(await ticketOf(platform, question)).toMatchObject({
      ...{ status: 'WaitingUser', assignee_id: null },
    });
    // What the agent had begun is over.
    await platform.stop();
    const later = await startPlatform({ dir });
    expect(shown(later, question).messages.map(({ from }) => from)).toEqual([
      'customer',
      'customer',
    ]);
  });

  test('answers again what waits when a ticket is handed back', async () => {
    const platform = await withAgent();
    const question = await escalated(platform);
    await next(platform, question, 'Do you have 41?');
    await platform.desk.handBack(seen(platform, question));
    await statusIs(platform, question, 'WaitingContact');
    expect(shown(platform, question)).toMatchObject({
      agent: 'answers',
      steps: [{ what: 'handed_back', who: 'ann' }],
    });
    expect(shown(platform, question).messages.at(-1)?.text).toBe('You said: Do you have 41?');
  });

  test('is asked nothing again when a person has answered before they hand back', async () => {
    const platform = await withAgent();
    const question = await escalated(platform);
    await platform.desk.reply(seen(platform, question), say('We have 41.'));
    await platform.desk.handBack(seen(platform, question));
    expect(await ticketOf(platform, question)).toMatchObject({ status: 'WaitingContact' });
    await next(platform, question, 'Thanks');
    await statusIs(platform, question, 'WaitingContact');
    expect(shown(platform, question).messages.map(({ from }) => from)).toEqual([
      ...['customer', 'agent', 'person', 'customer', 'agent'],
    ]);
  });

  test('is asked nothing again when a person has answered, and a reopened ticket is handed back', async () => {
    const platform = await withAgent();
    const question = await escalated(platform);
    await platform.desk.reply(seen(platform, question), say('We have 41.'));
    await platform.desk.complete(seen(platform, question));
    await platform.desk.reopen(seen(platform, question));
    await platform.desk.handBack(seen(platform, question));
    expect(await ticketOf(platform, question)).toMatchObject({ status: 'WaitingContact' });
    await next(platform, question, 'Thanks');
    await statusIs(platform, question, 'WaitingContact');
    expect(shown(platform, question).messages.map(({ text }) => text)).toEqual([
      ...['A human, please', 'You said: A human, please', 'We have 41.'],
      ...['Thanks', 'You said: Thanks'],
    ]);
  });

  test('is not there to be handed a ticket in a shop without one', async () => {
    const platform = await startPlatform();
    const { body: question } = await create(platform, anEmail());
    const refused = await refusalOf(platform.desk.handBack(seen(platform, question)));
    expect(refused).toMatchObject({ kind: 'conflict', message: 'The shop has no agent' });
  });
});

describe('a completed ticket', () => {
  const conversationOf = async (platform: LocalPlatform, { conversation_id: id }: Message) =>
    (await call<Conversation>(platform, 'GET', `/conversations/${String(id)}/`)).body;

  test('is opened again by the customer, and the agent answers', async () => {
    const platform = await withAgent();
    const question = await escalated(platform);
    await platform.desk.assign(seen(platform, question), 'ann');
    await platform.desk.complete(seen(platform, question));
    expect(await ticketOf(platform, question)).toMatchObject({
      ...{ status: 'Completed', completed_at: expect.any(String) },
      assignee_id: expect.any(String),
    });
    expect(await conversationOf(platform, question)).toMatchObject({ resolution: 'hard' });
    expect(platform.desk.count(SHOP.shopId)).toEqual({ waiting: 0 });
    await next(platform, question, 'One more thing');
    await statusIs(platform, question, 'WaitingContact');
    expect(await ticketOf(platform, question)).toMatchObject({
      ...{ completed_at: null, assignee_id: null },
    });
    expect((await conversationOf(platform, question)).resolution).toBeUndefined();
  });

  test('is reopened by a person, for people', async () => {
    const platform = await withAgent();
    const question = await escalated(platform);
    await platform.desk.complete(seen(platform, question));
    expect((await refusalOf(platform.desk.complete(seen(platform, question)))).message).toMatch(
      /already/,
    );
    expect(
      (await refusalOf(platform.desk.assign(seen(platform, question), 'ann'))).message,
    ).toMatch(/reopen it first/);
    await platform.desk.reopen(seen(platform, question, 'bea'));
    expect(shown(platform, question)).toMatchObject({
      status: 'WaitingUser',
      agent: 'silent',
      steps: [
        { what: 'completed', who: 'ann' },
        { what: 'reopened', who: 'bea' },
      ],
    });
    expect((await refusalOf(platform.desk.reopen(seen(platform, question)))).kind).toBe('conflict');
  });
});

test('shows the newest messages of a long conversation, and the earlier ones on request', async () => {
  const platform = await startPlatform();
  const { body: first } = await create(platform, anEmail({ message: { content: 'n0' } }));
  for (let n = 1; n < 105; n += 1) await next(platform, first, `n${n}`);
  const newest = shown(platform, first);
  expect(newest.messages).toHaveLength(100);
  expect(newest).toMatchObject({ hasEarlier: true, messages: { 0: { text: 'n5' } } });
  const before = newest.messages[0]?.id;
  const earlier = platform.desk.ticket(SHOP.shopId, newest.id, before);
  expect(earlier.messages.map(({ text }) => text)).toEqual(['n0', 'n1', 'n2', 'n3', 'n4']);
  expect(earlier.hasEarlier).toBe(false);
});

test('shows the newest of many steps, and the first of many that somebody has not read', async () => {
  const platform = await startPlatform();
  const { body: first } = await create(platform, anEmail());
  const before = seen(platform, first);
  for (let n = 0; n < 205; n += 1) {
    await platform.desk.assign(seen(platform, first), n === 204 ? null : 'ann');
  }
  const { steps } = shown(platform, first);
  expect(steps).toHaveLength(200);
  expect(steps.at(-1)).toMatchObject({ what: 'unassigned' });
  expect((await refusalOf(platform.desk.complete(before))).changes).toHaveLength(20);
});

test('shows few of large messages at once, and what a changed ticket says by its beginning', async () => {
  const platform = await startPlatform();
  const large = 'x'.repeat(900_000);
  const { body: first } = await create(platform, anEmail({ message: { content: `1${large}` } }));
  const before = seen(platform, first);
  for (const n of [2, 3]) await next(platform, first, `${n}${large}`);
  // Each is stored twice, with its markup and without.
  const page = shown(platform, first);
  expect(page.messages.map(({ text }) => text.slice(0, 2))).toEqual(['3x']);
  expect(page.hasEarlier).toBe(true);
  const earlier = platform.desk.ticket(SHOP.shopId, page.id, page.messages[0]?.id);
  expect(earlier.messages.map(({ text }) => text.slice(0, 2))).toEqual(['2x']);
  expect(earlier.hasEarlier).toBe(true);
  const { changes } = await refusalOf(platform.desk.complete(before));
  expect(changes.map(({ text = '' }) => [text[0], text.length])).toEqual([
    ['2', 200],
    ['3', 200],
  ]);
});

test('a ticket or message of another shop is not found', async () => {
  const platform = await startPlatform();
  const { body: ours } = await create(platform, anEmail());
  const { body: theirs } = await create(platform, anEmail(), OTHER);
  const ticket = (shop: string, id: string | null, before?: string) => () =>
    platform.desk.ticket(shop, String(id), before);
  expect(ticket(OTHER.shopId, ours.ticket_id)).toThrow('Ticket not found');
  expect(ticket(SHOP.shopId, ours.ticket_id, theirs.id)).toThrow('Message not found');
  expect(ticket(SHOP.shopId, 'nobody')).toThrow('Ticket not found');
});

test('finds texts of the folder by words, and lists the first ones without any', async () => {
  const platform = await startPlatform({ textsDir: KNOWLEDGE });
  const [best] = await platform.desk.texts('shipping');
  expect(`${best?.heading} ${best?.text}`).toMatch(/shipping|deliver/i);
  expect((await platform.desk.texts(' ')).length).toBeGreaterThan(5);
  expect(await (await startPlatform()).desk.texts('shipping')).toEqual([]);
});

async function eraseAnn(dir: string): Promise<PlatformEraser> {
  const eraser = PlatformEraser.open(dir);
  if (eraser === undefined) throw new Error('no database');
  ends(() => eraser.close());
  const ann = {
    is: (text: string) => text === 'ann@example.com',
    isNamedIn: (text: string) => text.includes('ann@example.com'),
    ...{ messageIds: new Set<string>(), visitorIds: new Set<string>() },
  };
  await eraser.erase(await eraser.find(ann, []), ann);
  return eraser;
}

test('after an erasure a ticket’s last message is that of another customer, never a note', async () => {
  const dir = newFolder();
  const platform = await withAgent({ dir });
  const question = await escalated(platform);
  const { conversation_id: id } = question;
  const bob = { contact: { email: 'bob@example.com', name: 'Bob' }, conversation: { id } };
  await create(platform, anEmail({ ...bob, message: { content: 'Me too' } }));
  await platform.desk.note(seen(platform, question), say('They are a pair.'));
  await eraseAnn(dir);
  expect(await ticketOf(platform, question)).toMatchObject({ last_message_content: 'Me too' });
});

test('a note and its file are erased with the person that they are about', async () => {
  const dir = newFolder();
  const platform = await withAgent({ dir });
  const question = await escalated(platform);
  const file = await platform.desk.upload(SHOP.shopId, {
    ...{ name: 'a.txt', type: 'text/plain', content: Readable.from([Buffer.from('a')]) },
  });
  await platform.desk.note(seen(platform, question), say('Her name is not in it.', [file.id]));
  await platform.desk.complete(seen(platform, question));
  await platform.stop();
  const eraser = await eraseAnn(dir);
  const left = (table: string) =>
    eraser.db.prepare<[], { n: number }>(`SELECT count(*) AS n FROM ${table}`).get()?.n;
  expect(['messages', 'tickets', 'ticket_steps', 'media'].map(left)).toEqual([0, 0, 0, 0]);
  expect(existsSync(join(dir, 'media', file.id))).toBe(false);
});

const upload = ({ desk }: LocalPlatform, name: string, bytes: number) =>
  desk.upload(SHOP.shopId, {
    ...{ name, type: 'application/octet-stream' },
    content: Readable.from(Array.from({ length: bytes / 1024 }, () => Buffer.alloc(1024))),
  });

test('a file that no message gets within a day is removed; one of a message is kept', async () => {
  const dir = newFolder();
  let now = Date.parse('2026-04-01T08:00:00Z');
  const platform = await withAgent({ dir, clock: () => now });
  const question = await escalated(platform);
  const sent = await upload(platform, 'sent', 1024);
  const unsent = await upload(platform, 'unsent', 1024);
  await platform.desk.note(seen(platform, question), say('Look.', [sent.id]));
  now += 23 * 3_600_000;
  const later = await upload(platform, 'later', 1024);
  expect(platform.desk.file(SHOP.shopId, unsent.id)).toBeDefined();
  now += 2 * 3_600_000;
  await platform.stop();
  const next = await withAgent({ dir, clock: () => now });
  expect(next.desk.file(SHOP.shopId, unsent.id)).toBeUndefined();
  const left = readdirSync(join(dir, 'media')).filter((name) => name !== 'tmp');
  expect(left.toSorted()).toEqual([sent.id, later.id].toSorted());
});

test('files that wait for their message take a limited part of the disk', async () => {
  const dir = newFolder();
  const platform = await withAgent({ dir });
  const question = await escalated(platform);
  // Each of those on their way counts as the largest one.
  const done = await Promise.allSettled(
    Array.from({ length: 40 }, () => upload(platform, 'x', 1024)),
  );
  expect(done.filter(({ status }) => status === 'fulfilled')).toHaveLength(34);
  const file = await upload(platform, 'large', 1024);
  const { default: Database } = await import('better-sqlite3');
  const db = new Database(join(dir, 'platform.sqlite'));
  db.prepare('UPDATE media SET size = 512 * 1024 * 1024 WHERE id = ?').run(file.id);
  const refused = await refusalOf(upload(platform, 'x', 1024));
  expect(refused.message).toMatch(/Too many files/);
  db.prepare('UPDATE media SET size = 1024 WHERE id = ?').run(file.id);
  db.close();
  await platform.desk.note(seen(platform, question), say('Look.', [file.id]));
});

test('a file beyond the limit is refused and not kept', async () => {
  const dir = newFolder();
  const platform = await startPlatform({ dir });
  const big = Readable.from(Array.from({ length: 16 }, () => Buffer.alloc(1024 * 1024)));
  const refused = await refusalOf(
    platform.desk.upload(SHOP.shopId, { name: 'big', type: 'text/plain', content: big }),
  );
  expect(refused.message).toMatch(/too large/);
  expect(readdirSync(join(dir, 'media'))).toEqual(['tmp']);
  expect(readdirSync(join(dir, 'media', 'tmp'))).toEqual([]);
});
