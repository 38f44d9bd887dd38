import { describe, expect, test } from '@jest/globals';
import { DeskRefused } from '../../../src/domain/desk.ts';
import type { ReplyFate } from '../../../src/domain/reply-fate.ts';
import { describeMailFailure, NOT_DELIVERED } from '../../../src/domain/mail-failure.ts';
import type { Agent } from '../../../src/local-platform/agent/agent.ts';
import { PlatformEraser } from '../../../src/local-platform/erase.ts';
import type {
  LocalPlatform,
  LocalPlatformOptions,
} from '../../../src/local-platform/local-platform.ts';
import { SendFailed } from '../../../src/local-platform/outbound/outbound.ts';
import type {
  OutgoingText,
  TextSender,
} from '../../../src/local-platform/outbound/provider-sms.ts';
import type { Message } from '../../../src/platform-api/resources.ts';
import { ends } from '../../support/ends.ts';
import { startMailRelay } from '../../support/mail-relay.ts';
import { waitFor } from '../../support/wait-for.ts';
import {
  anEmail,
  call,
  create,
  messagesOf,
  newFolder,
  OTHER,
  SHOP,
  startPlatform,
  ticketOf,
} from '../harness.ts';

const OURS = '+15550001111';
const THEIRS = '+14155552671';

/** A provider that gives its messages ids in their order, and refuses what is in `refusals` first. */
function aProvider() {
  const sent: OutgoingText[] = [];
  const refusals: SendFailed[] = [];
  const sender: TextSender = {
    sendText: (text) => {
      const refusal = refusals.shift();
      if (refusal !== undefined) return Promise.reject(refusal);
      sent.push(text);
      return Promise.resolve(`id-${sent.length}`);
    },
    findSent: () => Promise.resolve([]),
    maxChars: () => 100,
  };
  return { sent, refusals, texts: new Map([[SHOP.shopId, sender]]) };
}

async function aRelay() {
  const relay = await startMailRelay();
  ends(() => relay.close());
  return relay;
}

const echo: Agent = {
  answer: ({ text }) => Promise.resolve({ text: `You said: ${text}`, escalate: false }),
};
const start = (replies: LocalPlatformOptions['replies'] = {}, more = {}) =>
  startPlatform({
    agent: { kind: 'custom', agent: echo },
    replies: { schedule: { delaysMs: [60_000], giveUpAfterMs: 3_600_000 }, ...replies },
    ...more,
  });

const contact = { phone: THEIRS, email: 'ann@example.com', name: 'Ann Lee' };
const aText = (content = 'Hello', id?: string) => ({
  contact,
  conversation: {
    direction: 'inbound',
    type: 'sms',
    agent_contact: OURS,
    ...(id !== undefined && { id }),
  },
  message: { content },
});
const aChat = (content = 'Hello') => ({
  contact: { name: 'Ann Lee', email: 'ann@example.com' },
  conversation: { direction: 'inbound', type: 'web_chat' },
  message: { content },
});

const replyTo = async (platform: LocalPlatform, { conversation_id: id }: Message) =>
  (await messagesOf(platform, id)).find(({ role }) => role === 'agent');
const fateOf = ({ desk }: LocalPlatform, { ticket_id: id }: Message): ReplyFate | undefined =>
  desk.ticket(SHOP.shopId, String(id)).messages.findLast(({ from }) => from !== 'customer')?.fate;
const stateIs = (platform: LocalPlatform, message: Message, state: ReplyFate['state']) =>
  waitFor(state, () => fateOf(platform, message)?.state === state);

/** A question by text whose reply the provider has accepted. */
async function answered(platform: LocalPlatform, content?: string): Promise<Message> {
  const { body } = await create(platform, aText(content));
  await stateIs(platform, body, 'sent');
  return body;
}

const report = (
  platform: LocalPlatform,
  remoteId: string,
  what: object,
  shops = [SHOP.shopId.toUpperCase()],
) => platform.fates.reportPart({ remoteId, shops, state: 'sent', ...what });

/** The event of an email that came back. */
const bounceOf = (reply: Message | undefined) => ({
  body: {
    name: NOT_DELIVERED,
    description: describeMailFailure('550 no', String(reply?.remote_id)),
    contact: { email: 'ann@example.com' },
  },
});

function eraserOf(dir: string): PlatformEraser {
  const eraser = PlatformEraser.open(dir);
  if (eraser === undefined) throw new Error('no database');
  return eraser;
}

async function eraseAnn(dir: string): Promise<void> {
  const eraser = eraserOf(dir);
  const ann = {
    is: (text: string) => [THEIRS, 'ann@example.com'].includes(text),
    isNamedIn: () => false,
    ...{ messageIds: new Set<string>(), visitorIds: new Set<string>() },
  };
  await eraser.erase(await eraser.find(ann, []), ann);
  eraser.close();
}

/** The numbers of fates and of parts that are stored. */
function fatesIn(dir: string): unknown[] {
  const eraser = eraserOf(dir);
  const left = ['fates', 'sent_parts'].map(
    (table) => eraser.db.prepare<[], { n: number }>(`SELECT count(*) AS n FROM ${table}`).get()?.n,
  );
  eraser.close();
  return left;
}

async function refusalOf(work: Promise<unknown>): Promise<DeskRefused> {
  const error: unknown = await work.catch((thrown: unknown) => thrown);
  if (error instanceof DeskRefused) return error;
  throw new Error('it was not refused', { cause: error });
}
const act = (reply: Message | undefined) => ({
  shopId: SHOP.shopId,
  id: String(reply?.id),
  who: 'ann',
});

describe('a reply by text', () => {
  test('is queued, sent, delivered and read', async () => {
    const { texts } = aProvider();
    const platform = await start({ texts });
    const question = await answered(platform);
    for (const state of ['delivered', 'read'] as const) {
      await report(platform, 'id-1', { state });
      expect(fateOf(platform, question)).toMatchObject({ state });
    }
    // Reports arrive in any order.
    await report(platform, 'id-1', { state: 'sent' });
    await report(platform, 'id-1', { state: 'failed', code: '30003' });
    expect(fateOf(platform, question)).toMatchObject({ state: 'read' });
    expect(platform.outbox.countFailed(SHOP.shopId)).toBe(0);
  });

  test('that the carrier could not deliver is FAILED, and its ticket waits for a person', async () => {
    const { texts } = aProvider();
    const changed: string[] = [];
    const onTicketChanged = ({ id }: { id: string }) => void changed.push(id);
    const platform = await start({ texts }, { onTicketChanged });
    const question = await answered(platform);
    changed.length = 0;
    await report(platform, 'id-1', { state: 'failed', code: '30005', reason: 'Unknown number' });
    expect(fateOf(platform, question)).toEqual({
      ...{ state: 'failed', at: expect.any(Number), code: '30005' },
      ...{ reason: 'Unknown number', isOpen: true },
    });
    expect(changed).toEqual([question.ticket_id]);
    expect(await replyTo(platform, question)).toMatchObject({ status: 'FAILED' });
    expect(await ticketOf(platform, question)).toMatchObject({ status: 'WaitingUser' });
    expect(platform.outbox.failed(SHOP.shopId, 10)).toMatchObject([
      {
        ...{ ticketId: question.ticket_id, channel: 'sms', customer: 'Ann Lee' },
        ...{ excerpt: 'You said: Hello', otherChannels: [] },
      },
    ]);
    // It arrived after all.
    await report(platform, 'id-1', { state: 'delivered' });
    expect(await replyTo(platform, question)).toMatchObject({ status: 'DELIVERED' });
    expect(platform.outbox.countFailed(SHOP.shopId)).toBe(0);
  });

  test('in several parts has come as far as the last of them, and fails with any', async () => {
    const { texts, sent } = aProvider();
    const platform = await start({ texts });
    const question = await answered(platform, 'One sentence more. '.repeat(12));
    expect(sent).toHaveLength(3);
    for (const id of ['id-1', 'id-3']) await report(platform, id, { state: 'delivered' });
    expect(fateOf(platform, question)).toMatchObject({ state: 'sent' });
    await report(platform, 'id-2', { state: 'failed', code: '30007' });
    expect(fateOf(platform, question)).toMatchObject({ state: 'failed', code: '30007' });
    await report(platform, 'id-2', { state: 'delivered' });
    expect(fateOf(platform, question)).toMatchObject({ state: 'delivered' });
  });

  test('that fails in the middle goes on from the part that failed', async () => {
    const { texts, sent } = aProvider();
    const platform = await start({ texts });
    const question = await answered(platform, 'One sentence more. '.repeat(12));
    await report(platform, 'id-1', { state: 'delivered' });
    await report(platform, 'id-2', { state: 'failed', code: '30007' });
    await platform.outbox.sendAgain(act(await replyTo(platform, question)));
    await waitFor('the other parts', () => sent.length === 5);
    expect(sent.slice(3)).toEqual(sent.slice(1, 3));
    await stateIs(platform, question, 'sent');
    expect(await ticketOf(platform, question)).toMatchObject({ status: 'WaitingContact' });
    // The first attempt is history.
    await report(platform, 'id-2', { state: 'failed', code: '30007' });
    for (const id of ['id-4', 'id-5']) await report(platform, id, { state: 'delivered' });
    expect(fateOf(platform, question)).toMatchObject({ state: 'delivered' });
  });

  test('may be reported before the id of the message is known', async () => {
    const { texts } = aProvider();
    const platform = await start({ texts });
    await report(platform, 'id-1', { state: 'delivered' });
    await report(platform, 'id-1', { state: 'sent' });
    const { body } = await create(platform, aText());
    await stateIs(platform, body, 'delivered');
  });

  test('is not changed by the account of another shop', async () => {
    const { texts } = aProvider();
    const platform = await start({ texts });
    await report(platform, 'id-2', { state: 'failed' }, [OTHER.shopId]);
    const question = await answered(platform);
    const second = await answered(platform);
    await report(platform, 'id-1', { state: 'failed' }, [OTHER.shopId]);
    expect(fateOf(platform, question)).toMatchObject({ state: 'sent' });
    expect(fateOf(platform, second)).toMatchObject({ state: 'sent' });
  });

  test('that the provider refuses says why; one to be tried again says when', async () => {
    const { texts, refusals } = aProvider();
    const words = 'The number has opted out';
    refusals.push(
      new SendFailed('permanent', 'Twilio answered 400', { code: '21610', words }),
      new SendFailed('transient', 'Twilio answered 503', { code: '20503' }),
    );
    const platform = await start({ texts });
    const refused = await create(platform, aText());
    await stateIs(platform, refused.body, 'failed');
    expect(fateOf(platform, refused.body)).toMatchObject({ code: '21610', reason: words });
    const deferred = await create(platform, aText());
    await waitFor('a failure', () => fateOf(platform, deferred.body)?.code === '20503');
    expect(fateOf(platform, deferred.body)).toMatchObject({ state: 'queued' });
    expect(platform.outbox.deferred(SHOP.shopId, 10)).toMatchObject([
      { ticketId: deferred.body.ticket_id, attempts: 1, nextAt: expect.any(Number) },
    ]);
  });
});

describe('a reply by email', () => {
  const bounce = (messageId: string, shop = SHOP) => ({
    body: {
      name: NOT_DELIVERED,
      description: describeMailFailure('550 5.1.1 The mailbox does not exist', messageId),
      contact: { email: 'ann@example.com' },
    },
    shop,
  });

  test('that comes back is FAILED with the words of the bounce', async () => {
    const platform = await start();
    const { body } = await create(platform, anEmail());
    await stateIs(platform, body, 'sent');
    const reply = await replyTo(platform, body);
    const id = String(reply?.remote_id);
    // A customer of another shop cannot say so, and the id of the question is nobody's reply.
    await call(platform, 'POST', '/events/', bounce(id, OTHER));
    await call(platform, 'POST', '/events/', bounce(String(body.remote_id)));
    expect(fateOf(platform, body)).toMatchObject({ state: 'sent' });
    await call(platform, 'POST', '/events/', bounce(id));
    expect(fateOf(platform, body)).toMatchObject({
      ...{ state: 'failed', code: '5.1.1', reason: '550 5.1.1 The mailbox does not exist' },
    });
    expect(await replyTo(platform, body)).toMatchObject({ status: 'FAILED' });
    expect(await ticketOf(platform, body)).toMatchObject({ status: 'WaitingUser' });
  });

  test('that is sent again has nothing to do with the bounces of the first', async () => {
    const relay = await aRelay();
    const at = { host: '127.0.0.1', port: relay.port, implicitTls: false, tls: 'off' } as const;
    const platform = await start({ relay: at });
    const { body } = await create(platform, anEmail());
    await stateIs(platform, body, 'sent');
    const ids: string[] = [];
    for (let times = 1; times <= 3; times += 1) {
      const reply = await replyTo(platform, body);
      ids.push(String(reply?.remote_id));
      for (const id of ids.slice(0, -1)) await call(platform, 'POST', '/events/', bounce(id));
      expect(fateOf(platform, body)).toMatchObject({ state: 'sent' });
      await call(platform, 'POST', '/events/', bounce(String(ids.at(-1))));
      expect(fateOf(platform, body)).toMatchObject({ state: 'failed' });
      await platform.outbox.sendAgain(act(reply));
      await stateIs(platform, body, 'sent');
    }
    const host = /@.*$/.exec(ids[0] ?? '')?.[0];
    const [first = ''] = (ids[0] ?? '').split('@');
    expect(ids).toEqual([`${first}${host}`, `${first}.2${host}`, `${first}.3${host}`]);
    expect(relay.taken.map(({ mail }) => mail.messageId)).toEqual([...ids, `${first}.4${host}`]);
    // The customer may have the first one after all.
    const answer = { in_reply_to: ids[0], references: [String(body.remote_id), String(ids[0])] };
    const next = await create(
      platform,
      anEmail({ message: { content: 'Thank you', remote_id: '<next@x>', email: answer } }),
    );
    expect(next.body.conversation_id).toBe(body.conversation_id);
  });

  test('that the relay refuses has its code', async () => {
    const relay = await aRelay();
    relay.answerNext('rcpt', 550);
    const platform = await start({
      relay: { host: '127.0.0.1', port: relay.port, implicitTls: false, tls: 'off' },
    });
    const { body } = await create(platform, anEmail());
    await stateIs(platform, body, 'failed');
    expect(fateOf(platform, body)).toMatchObject({ code: '550' });
  });
});

describe('a reply in the chat', () => {
  test('is delivered and read as the visitor’s tabs say', async () => {
    const platform = await start();
    const { body } = await create(platform, aChat());
    await stateIs(platform, body, 'sent');
    const { id } = (await replyTo(platform, body)) ?? {};
    const ids = [String(id), body.id, 'no such message'];
    await platform.fates.reportReplies(OTHER.shopId, ids, 'read');
    expect(fateOf(platform, body)).toMatchObject({ state: 'sent' });
    for (const state of ['delivered', 'read', 'delivered'] as const) {
      await platform.fates.reportReplies(SHOP.shopId, ids, state);
    }
    expect(fateOf(platform, body)).toMatchObject({ state: 'read' });
  });
});

describe('a failure', () => {
  const WITH_ADDRESS = { shops: [{ ...SHOP, emailAddresses: ['support@acme.example'] }, OTHER] };
  const failedChat = async (platform: LocalPlatform) => {
    const { body } = await create(platform, aChat());
    await stateIs(platform, body, 'sent');
    return body;
  };

  test('is sent by email instead, once, and the answer comes back to a ticket', async () => {
    const relay = await aRelay();
    const { texts } = aProvider();
    const options = {
      host: '127.0.0.1',
      port: relay.port,
      implicitTls: false,
      tls: 'off',
    } as const;
    const platform = await start({ relay: options, texts }, WITH_ADDRESS);
    const question = await answered(platform);
    await report(platform, 'id-1', { state: 'failed', code: '30005' });
    const reply = await replyTo(platform, question);
    expect(platform.outbox.failed(SHOP.shopId, 10)).toMatchObject([{ otherChannels: ['email'] }]);
    const both = await Promise.allSettled(
      [1, 2].map(() => platform.outbox.sendBy('email', act(reply))),
    );
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    const sent = await waitFor('the mail', () => relay.taken[0]);
    expect(sent.to).toEqual(['ann@example.com']);
    expect(sent.mail).toMatchObject({
      subject: 'Hello',
      text: expect.stringMatching(/^You said: Hello\n$/),
      from: { value: [{ address: 'support@acme.example' }] },
    });
    expect(platform.outbox.failed(SHOP.shopId, 10)).toEqual([]);
    expect(platform.desk.ticket(SHOP.shopId, String(question.ticket_id))).toMatchObject({
      ...{ status: 'WaitingContact', steps: [{ what: 'sent_by_email', who: 'ann' }] },
    });
    const answer = await create(
      platform,
      anEmail({
        message: { content: 'Thank you', email: { in_reply_to: sent.mail.messageId ?? '' } },
      }),
    );
    expect(answer.body.conversation_id).not.toBe(question.conversation_id);
    expect(await messagesOf(platform, answer.body.conversation_id)).toHaveLength(2);
    // By email they are one whom a person has answered.
    expect(platform.inspect.messages(SHOP.shopId)).toContainEqual(
      expect.objectContaining({
        remote_id: sent.mail.messageId,
        person: `email:${answer.body.contact_id ?? ''}`,
      }),
    );
    expect(await ticketOf(platform, answer.body)).toMatchObject({ status: 'WaitingUser' });
    expect(relay.taken).toHaveLength(1);
  });

  test('goes by email from an address that several customers know, not from one that was made up', async () => {
    const relay = await aRelay();
    const { texts } = aProvider();
    const at = { host: '127.0.0.1', port: relay.port, implicitTls: false, tls: 'off' } as const;
    const platform = await start({ relay: at, texts });
    const to = (agent_contact: string, email: string) =>
      create(platform, anEmail({ contact: { email }, conversation: { agent_contact } }));
    for (let n = 0; n < 4; n += 1) await to('0-made-up@acme.example', 'dan@example.com');
    await to('support@acme.example', 'bob@example.com');
    await to('support@acme.example', 'cy@example.com');
    const question = await answered(platform);
    await report(platform, 'id-1', { state: 'failed' });
    const failed = act(await replyTo(platform, question));
    expect(await refusalOf(platform.outbox.sendBy('email', failed))).toMatchObject({
      kind: 'invalid',
    });
    await to('support@acme.example', 'eve@example.com');
    await platform.outbox.sendBy('email', failed);
    const sent = await waitFor('the mail', () =>
      relay.taken.find((mail) => mail.to.includes('ann@example.com')),
    );
    expect(sent).toMatchObject({
      to: ['ann@example.com'],
      mail: { from: { value: [{ address: 'support@acme.example' }] } },
    });
  });

  test('is sent by SMS only to a customer who has written texts', async () => {
    const { texts, sent } = aProvider();
    const platform = await start({ texts });
    const email = await create(platform, anEmail({ contact: { phone: THEIRS } }));
    await stateIs(platform, email.body, 'sent');
    const failed = await replyTo(platform, email.body);
    await call(platform, 'POST', '/events/', bounceOf(failed));
    expect(await refusalOf(platform.outbox.sendBy('sms', act(failed)))).toMatchObject({
      kind: 'invalid',
    });
    const text = await answered(platform);
    expect(text.contact_id).toBe(email.body.contact_id);
    await platform.outbox.sendBy('sms', act(failed));
    await waitFor('the text', () => sent.length === 2);
    expect(sent[1]).toMatchObject({ from: OURS, to: THEIRS, body: 'You said: Where is my order?' });
  });

  test('does not hide what the customer has asked since', async () => {
    const { texts, sent } = aProvider();
    const platform = await start({ texts });
    const question = await answered(platform);
    const reply = await replyTo(platform, question);
    await report(platform, 'id-1', { state: 'failed' });
    const seen = { shopId: SHOP.shopId, id: String(question.ticket_id), who: 'ann' };
    const version = () => platform.desk.ticket(seen.shopId, seen.id).version;
    await platform.desk.assign({ ...seen, version: version() }, 'ann');
    await create(platform, aText('Are you there?', String(question.conversation_id)));
    await platform.outbox.sendAgain(act(reply));
    await waitFor('the text again', () => sent.length === 2);
    expect(await ticketOf(platform, question)).toMatchObject({ status: 'WaitingUser' });
    // With a reply to that question, it is the customer's turn, also if an older one fails.
    const message = { text: 'Yes', format: 'TEXT', files: [] } as const;
    await platform.desk.reply({ ...seen, version: version() }, message);
    await waitFor('the answer', () => sent.length === 3);
    await report(platform, 'id-2', { state: 'failed' });
    await platform.outbox.sendAgain(act(reply));
    expect(await ticketOf(platform, question)).toMatchObject({ status: 'WaitingContact' });
  });

  test('that goes by SMS leaves the question in the texts to a person', async () => {
    const { texts, sent } = aProvider();
    const platform = await start({ texts }, { agent: { kind: 'off' } });
    const question = await create(platform, anEmail({ contact: { phone: THEIRS } }));
    const seen = { shopId: SHOP.shopId, id: String(question.body.ticket_id), who: 'ann' };
    const { version } = platform.desk.ticket(seen.shopId, seen.id);
    const message = { text: 'It is on its way', format: 'TEXT', files: [] } as const;
    await platform.desk.reply({ ...seen, version }, message);
    await stateIs(platform, question.body, 'sent');
    const reply = await replyTo(platform, question.body);
    await call(platform, 'POST', '/events/', bounceOf(reply));
    const text = await create(platform, aText('Can I change the address?'));
    await platform.outbox.sendBy('sms', act(reply));
    await waitFor('the text', () => sent.length === 1);
    expect(await ticketOf(platform, text.body)).toMatchObject({ status: 'WaitingUser' });
    expect(platform.desk.queue(SHOP.shopId, 10)).toMatchObject([{ id: text.body.ticket_id }]);
  });

  test('goes by SMS to the person it was for, not to another one in the thread', async () => {
    const { texts, sent } = aProvider();
    const platform = await start({ texts });
    const bob = { email: 'bob@example.com', phone: '+14155552672', name: 'Bob' };
    const first = await create(
      platform,
      anEmail({ contact: { phone: THEIRS }, message: { email: { cc: [{ email: bob.email }] } } }),
    );
    await stateIs(platform, first.body, 'sent');
    const answer = await replyTo(platform, first.body);
    const email = { in_reply_to: String(answer?.remote_id) };
    const second = await create(platform, anEmail({ contact: bob, message: { email } }));
    expect(second.body.conversation_id).toBe(first.body.conversation_id);
    const reply = await waitFor('a second reply', async () =>
      (await messagesOf(platform, first.body.conversation_id)).find(
        ({ id, role, status }) => role === 'agent' && status === 'DELIVERED' && id !== answer?.id,
      ),
    );
    await call(platform, 'POST', '/events/', bounceOf(reply));
    // The other one has written texts, too.
    await answered(platform);
    expect(platform.outbox.failed(SHOP.shopId, 10)).toMatchObject([{ otherChannels: [] }]);
    const { body } = await create(platform, { ...aText(), contact: bob });
    await stateIs(platform, body, 'sent');
    await platform.outbox.sendBy('sms', act(reply));
    await waitFor('the text', () => sent.length === 3);
    expect(sent[2]).toMatchObject({ to: bob.phone });
  });

  test('is dealt with once: two people, and one that has not failed', async () => {
    const { texts } = aProvider();
    const platform = await start({ texts });
    const question = await answered(platform);
    const reply = await replyTo(platform, question);
    const early = await refusalOf(platform.outbox.sendAgain(act(reply)));
    expect(early.kind).toBe('conflict');
    await report(platform, 'id-1', { state: 'failed' });
    await platform.outbox.dismiss(act(reply));
    expect(platform.outbox.failed(SHOP.shopId, 10)).toEqual([]);
    expect(fateOf(platform, question)).not.toHaveProperty('isOpen');
    for (const again of ['sendAgain', 'dismiss'] as const) {
      expect((await refusalOf(platform.outbox[again](act(reply)))).kind).toBe('conflict');
    }
    const other = { ...act(reply), shopId: OTHER.shopId };
    expect((await refusalOf(platform.outbox.dismiss(other))).kind).toBe('not_found');
  });

  test('is not sent to a number that has opted out', async () => {
    const { texts, sent } = aProvider();
    let isOptedOut = false;
    const findTextRoute = () =>
      Promise.resolve({ transport: 'sms', ours: OURS, theirs: THEIRS, isOptedOut } as const);
    const platform = await start({ texts, findTextRoute });
    const question = await answered(platform);
    await report(platform, 'id-1', { state: 'failed', code: '30003' });
    isOptedOut = true;
    const again = await refusalOf(
      platform.outbox.sendAgain(act(await replyTo(platform, question))),
    );
    expect(again).toMatchObject({ kind: 'conflict', message: expect.stringContaining('START') });
    expect(sent).toHaveLength(1);
  });

  test('is erased with the customer, also where it went by another channel', async () => {
    const dir = newFolder();
    const { texts } = aProvider();
    const platform = await start({ texts }, { dir, ...WITH_ADDRESS });
    await create(platform, anEmail({ contact: { email: 'bob@example.com' } }));
    const question = await answered(platform);
    await report(platform, 'id-1', { state: 'failed' });
    await platform.outbox.sendBy('email', act(await replyTo(platform, question)));
    await waitFor('both', () => platform.inspect.messages(SHOP.shopId).length === 5);
    await platform.stop();
    await eraseAnn(dir);
    // Of the other customer's reply.
    expect(fatesIn(dir)).toEqual([1, 0]);
    const later = await start({}, { dir });
    expect(later.inspect.messages(SHOP.shopId)).toHaveLength(2);
    expect(later.outbox.failed(SHOP.shopId, 10)).toEqual([]);
  });

  test.each<[label: string, end: SendFailed | string]>([
    ['fails', new SendFailed('transient', 'busy', { words: `450 ${THEIRS} is busy` })],
    ['is accepted', 'id-1'],
  ])('is not recorded of a reply that %s after its erasure', async (_label, end) => {
    const dir = newFolder();
    const { texts } = aProvider();
    let finish: (() => void) | undefined;
    const sendText = async () => {
      await new Promise<void>((resolve) => (finish = resolve));
      if (typeof end === 'string') return end;
      throw end;
    };
    for (const [shop, sender] of texts) texts.set(shop, { ...sender, sendText });
    const platform = await start({ texts }, { dir });
    await create(platform, aText());
    await waitFor('an attempt', () => finish !== undefined);
    await eraseAnn(dir);
    finish?.();
    await platform.stop();
    expect(fatesIn(dir)).toEqual([0, 0]);
  });

  test('of a chat can go by email', async () => {
    const platform = await start({}, WITH_ADDRESS);
    const body = await failedChat(platform);
    expect(platform.desk.ticket(SHOP.shopId, String(body.ticket_id))).toMatchObject({
      otherChannels: ['email'],
    });
  });
});
