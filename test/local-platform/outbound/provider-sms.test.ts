import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import Database from 'better-sqlite3';
import { twilioShopAccount } from '../../../src/channels/sms/providers/twilio/account.ts';
import { textSender } from '../../../src/gateway/local.ts';
import type { Agent } from '../../../src/local-platform/agent/agent.ts';
import type { LocalPlatform } from '../../../src/local-platform/local-platform.ts';
import {
  type Attempt,
  type OutgoingReply,
  SendFailed,
} from '../../../src/local-platform/outbound/outbound.ts';
import { SmsLog } from '../../../src/local-platform/outbound/sms.ts';
import { ProviderSms } from '../../../src/local-platform/outbound/provider-sms.ts';
import type { Message } from '../../../src/platform-api/resources.ts';
import { ends } from '../../support/ends.ts';
import { serveMessages, tooManyRequests } from '../../support/twilio-messages.ts';
import {
  ACCOUNT_SID,
  AUTH_TOKEN,
  messageSid,
  OUR_NUMBER,
  startTwilioStandIn,
  THEIR_NUMBER,
} from '../../support/twilio-stand-in.ts';
import { waitFor } from '../../support/wait-for.ts';
import { create, messagesOf, newFolder, OTHER, SHOP, startPlatform } from '../harness.ts';

const SOON = { delaysMs: [20], giveUpAfterMs: 60_000 };
const echo: Agent = {
  answer: ({ text }) => Promise.resolve({ text: `You said: ${text}`, escalate: false }),
};

async function aTwilio() {
  const standIn = await startTwilioStandIn();
  ends(() => standIn.close());
  return { ...serveMessages(standIn), baseUrl: standIn.baseUrl };
}

const senderTo = (apiBaseUrl: string, timeoutMs?: number) =>
  textSender(
    twilioShopAccount({ accountSid: ACCOUNT_SID, authTokens: [AUTH_TOKEN], apiBaseUrl }),
    timeoutMs === undefined ? {} : { timeoutMs },
  );

const refusedWith = (status: number, code: number) => ({
  status,
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify({ code, status, message: `to ${THEIR_NUMBER}` }),
});

const REPLY: OutgoingReply = {
  id: 'reply',
  shop: SHOP.shopId,
  content: 'Monday to Friday.',
  format: 'TEXT',
  from: OUR_NUMBER,
  fromName: 'Acme',
  to: THEIR_NUMBER,
  toName: undefined,
  at: new Date(),
  email: undefined,
};

interface Tried extends Attempt {
  readonly parts: string[];
}

function attempt(more: Partial<Attempt> = {}): Tried {
  const parts: string[] = [];
  return {
    unsureSince: undefined,
    partsSent: 0,
    partSent: (sid) => Promise.resolve(void parts.push(sid)),
    isKnown: () => false,
    signal: new AbortController().signal,
    parts,
    ...more,
  };
}

async function failureOf(sending: Promise<unknown>): Promise<SendFailed> {
  const error: unknown = await sending.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof SendFailed) return error;
  throw new Error('it did not fail as expected', { cause: error });
}

const way = (baseUrl: string, timeoutMs?: number) =>
  new ProviderSms(new Map([[SHOP.shopId, senderTo(baseUrl, timeoutMs)]]), new SmsLog(newFolder()));

describe('a reply by SMS', () => {
  test("goes out from the shop's number", async () => {
    const twilio = await aTwilio();
    const tried = attempt();
    await way(twilio.baseUrl).send(REPLY, tried);
    expect(twilio.sent).toMatchObject([
      { from: OUR_NUMBER, to: THEIR_NUMBER, body: REPLY.content },
    ]);
    expect(tried.parts).toEqual([twilio.sent[0]?.sid]);
  });

  describe('with files', () => {
    const links = ['one', 'two', 'three'].map((name) => ({
      ...{ name: `${name}.png`, type: 'image/png', size: 1 },
      url: `https://gw.acme.example/reply-files/${name}`,
    }));
    const urls = links.map(({ url }) => url);
    const sentTo = async (ends: { from?: string; to?: string }, reply = {}) => {
      const twilio = await aTwilio();
      await way(twilio.baseUrl).send({ ...REPLY, ...ends, links, ...reply }, attempt());
      return twilio.sent.map(({ body, media }) => ({ body, ...(media && { media }) }));
    };

    test('is one MMS within North America', async () => {
      expect(await sentTo({})).toEqual([{ body: REPLY.content, media: urls }]);
    });

    test('has their links in texts of their own elsewhere', async () => {
      expect(await sentTo({ to: '+4915112345678' })).toEqual([
        { body: REPLY.content },
        ...links.map(({ name, url }) => ({ body: `${name}: ${url}` })),
      ]);
    });

    test('is a message for each of them by WhatsApp', async () => {
      expect(await sentTo({ to: `whatsapp:${THEIR_NUMBER}` })).toEqual([
        { body: REPLY.content, media: urls.slice(0, 1) },
        { body: '', media: urls.slice(1, 2) },
        { body: '', media: urls.slice(2) },
      ]);
    });

    test('fails where only a template may be sent', async () => {
      const ends = { to: `whatsapp:${THEIR_NUMBER}` };
      const failure = await failureOf(sentTo(ends, { needsTemplate: true }));
      expect(failure).toMatchObject({ kind: 'permanent', code: 'window_closed' });
    });
  });

  test('that began as texts goes on so when only a template may be sent', async () => {
    const twilio = await aTwilio();
    const content = 'One sentence more. '.repeat(160);
    const reply = { ...REPLY, to: `whatsapp:${THEIR_NUMBER}`, content, needsTemplate: true };
    await way(twilio.baseUrl).send(reply, attempt({ partsSent: 1 }));
    // Twilio refuses it then, which a person sees; nothing is left out without a word.
    expect(twilio.sent.map(({ body }) => body.length > 1000)).toEqual([true]);
  });

  test('to WhatsApp keeps its prefix', async () => {
    const twilio = await aTwilio();
    await way(twilio.baseUrl).send({ ...REPLY, to: `whatsapp:${THEIR_NUMBER}` }, attempt());
    expect(twilio.sent).toMatchObject([
      { from: `whatsapp:${OUR_NUMBER}`, to: `whatsapp:${THEIR_NUMBER}` },
    ]);
  });

  test('that is long goes out in parts, in order', async () => {
    const twilio = await aTwilio();
    const text = Array.from({ length: 300 }, (_, n) => `Sentence number ${n}.`).join(' ');
    const tried = attempt();
    await way(twilio.baseUrl).send({ ...REPLY, content: text }, tried);
    expect(twilio.sent.length).toBe(Math.ceil(text.length / 1600));
    expect(twilio.sent.map(({ body }) => body).join(' ')).toBe(text);
    expect(tried.parts).toEqual(twilio.sent.map(({ sid }) => sid));
  });

  test('continues with the missing part', async () => {
    const twilio = await aTwilio();
    const text = `${'a'.repeat(1600)} ${'b'.repeat(1600)} c`;
    await way(twilio.baseUrl).send({ ...REPLY, content: text }, attempt({ partsSent: 1 }));
    expect(twilio.sent.map(({ body }) => body.charAt(0))).toEqual(['b', 'c']);
  });

  test.each(['from', 'to'] as const)('without %s is refused', async (end) => {
    const twilio = await aTwilio();
    const failure = await failureOf(
      way(twilio.baseUrl).send({ ...REPLY, [end]: undefined }, attempt()),
    );
    expect(failure.kind).toBe('permanent');
  });
});

describe('Twilio’s answers', () => {
  test.each<[string, ReturnType<typeof refusedWith> | 'reset', SendFailed['kind'], string]>([
    ['a number that is none', refusedWith(400, 21211), 'permanent', '21211'],
    ['a landline', refusedWith(400, 21614), 'permanent', '21614'],
    ['who opted out', refusedWith(400, 21610), 'permanent', '21610'],
    ['WhatsApp after a day', refusedWith(400, 63016), 'permanent', '63016'],
    ['a wrong token', refusedWith(401, 20003), 'transient', '20003'],
    ['a closed account', refusedWith(403, 20005), 'transient', '20005'],
    ['too many at once', refusedWith(429, 20429), 'transient', '20429'],
    ['a fault', refusedWith(500, 20500), 'transient', '20500'],
    ['an outage', refusedWith(503, 20503), 'transient', '20503'],
    ['nothing', 'reset', 'unsure', 'ECONNRESET'],
  ])('%s', async (_title, answer, kind, code) => {
    const twilio = await aTwilio();
    twilio.answerNextText(answer);
    const failure = await failureOf(way(twilio.baseUrl).send(REPLY, attempt()));
    expect(failure).toMatchObject({ kind, code });
    expect(inspect(failure, { depth: 9 })).not.toContain(THEIR_NUMBER);
    expect(twilio.sent).toEqual([]);
  });

  test('no connection', async () => {
    const failure = await failureOf(way('http://127.0.0.1:9').send(REPLY, attempt()));
    expect(failure).toMatchObject({ kind: 'transient', code: 'ECONNREFUSED' });
  });

  test('an incomplete answer', async () => {
    const twilio = await aTwilio();
    twilio.answerNextText('stall', 'kept');
    const failure = await failureOf(way(twilio.baseUrl, 300).send(REPLY, attempt()));
    expect(failure.kind).toBe('unsure');
  });

  test('no answer while the program ends', async () => {
    const twilio = await aTwilio();
    twilio.answerNextText('stall');
    const stop = new AbortController();
    const sending = failureOf(way(twilio.baseUrl).send(REPLY, attempt({ signal: stop.signal })));
    stop.abort();
    expect((await sending).kind).toBe('unsure');
  });
});

describe('a text that may have been sent', () => {
  const since = () => new Date(Date.now() - 1000);
  const outbound = { from: OUR_NUMBER, to: THEIR_NUMBER, direction: 'outbound-api' } as const;

  test('is not sent again when Twilio has it', async () => {
    const twilio = await aTwilio();
    twilio.keep({ ...outbound, sid: messageSid(1), body: REPLY.content, status: 'sent' });
    const tried = attempt({ unsureSince: since() });
    await way(twilio.baseUrl).send(REPLY, tried);
    expect(twilio.sent).toEqual([]);
    expect(tried.parts).toEqual([messageSid(1)]);
  });

  test.each([
    ['was another text', { body: 'Something else' }],
    ['went to someone else', { to: '+14155550123' }],
    ['is of an hour before', { sentAt: Date.now() - 3_600_000 }],
    ['failed there', { status: 'failed' }],
  ])('is sent when what Twilio has %s', async (_title, change) => {
    const twilio = await aTwilio();
    const kept = {
      ...outbound,
      sid: messageSid(1),
      body: REPLY.content,
      status: 'sent',
      ...change,
    };
    twilio.keep(kept);
    await way(twilio.baseUrl).send(REPLY, attempt({ unsureSince: since() }));
    expect(twilio.sent).toMatchObject([{ body: REPLY.content }]);
  });

  test('is sent when Twilio has the same text of another reply', async () => {
    const twilio = await aTwilio();
    twilio.keep({ ...outbound, sid: messageSid(1), body: REPLY.content, status: 'sent' });
    const isKnown = (sid: string) => sid === messageSid(1);
    await way(twilio.baseUrl).send(REPLY, attempt({ unsureSince: since(), isKnown }));
    expect(twilio.sent).toHaveLength(1);
  });

  test('stays unsure when Twilio cannot be reached', async () => {
    const twilio = await aTwilio();
    twilio.answerNext(tooManyRequests());
    const tried = attempt({ unsureSince: since() });
    expect((await failureOf(way(twilio.baseUrl).send(REPLY, tried))).kind).toBe('unsure');
    expect(twilio.sent).toEqual([]);
  });
});

describe('on the platform', () => {
  const aText = (content: string, id?: string | null) => ({
    contact: { phone: THEIR_NUMBER },
    conversation: {
      ...{ direction: 'inbound', type: 'sms', agent_contact: OUR_NUMBER },
      ...(id && { id }),
    },
    message: { content },
  });

  const aPlatform = (baseUrl: string, dir = newFolder()) =>
    startPlatform({
      dir,
      agent: { kind: 'custom', agent: echo },
      replies: {
        texts: new Map([[SHOP.shopId, senderTo(baseUrl)]]),
        schedule: SOON,
      },
    });

  const repliesIn = async (platform: LocalPlatform, { conversation_id: id }: Message) =>
    (await messagesOf(platform, id)).filter(({ role }) => role === 'agent').reverse();

  const settled = (platform: LocalPlatform, question: Message, count = 1) =>
    waitFor('the replies', async () => {
      const replies = await repliesIn(platform, question);
      const done = replies.length === count && replies.every(({ status }) => status !== 'PENDING');
      return done ? replies : undefined;
    });

  test('the reply is DELIVERED and has the id that Twilio gave it', async () => {
    const twilio = await aTwilio();
    const platform = await aPlatform(twilio.baseUrl);
    const { body } = await create(platform, aText('opening hours?'));
    const [reply] = await settled(platform, body);
    expect(reply).toMatchObject({ status: 'DELIVERED', remote_id: twilio.sent[0]?.sid });
  });

  test('a long reply is stored whole, and goes out in parts', async () => {
    const twilio = await aTwilio();
    const text = Array.from({ length: 300 }, (_, n) => `Sentence number ${n}.`).join(' ');
    const verbose: Agent = { answer: () => Promise.resolve({ text, escalate: false }) };
    const platform = await startPlatform({
      agent: { kind: 'custom', agent: verbose },
      replies: {
        texts: new Map([[SHOP.shopId, senderTo(twilio.baseUrl)]]),
        schedule: SOON,
      },
    });
    const { body } = await create(platform, {
      contact: { phone: THEIR_NUMBER },
      conversation: { direction: 'inbound', type: 'sms', agent_contact: OUR_NUMBER },
      message: { content: 'Tell me all.' },
    });
    const reply = await waitFor('the reply', async () =>
      (await messagesOf(platform, body.conversation_id)).find(
        ({ role, status }) => role === 'agent' && status === 'DELIVERED',
      ),
    );
    expect(reply).toMatchObject({ text, content: text, format: 'TEXT' });
    expect(twilio.sent.length).toBeGreaterThan(2);
    expect(twilio.sent.map(({ body: part }) => part).join(' ')).toBe(text);
  });

  test('a reply to a customer who has opted out is FAILED without a second attempt', async () => {
    const twilio = await aTwilio();
    twilio.optedOut.add(THEIR_NUMBER);
    const platform = await aPlatform(twilio.baseUrl);
    const { body } = await create(platform, aText('opening hours?'));
    expect(await settled(platform, body)).toMatchObject([{ status: 'FAILED' }]);
    twilio.optedOut.clear();
    await create(platform, aText('again', body.conversation_id));
    expect((await settled(platform, body, 2)).map(({ status }) => status)).toEqual([
      'FAILED',
      'DELIVERED',
    ]);
    expect(twilio.sent.map((text) => text.body)).toEqual(['You said: again']);
  });

  test('replies of a conversation keep their order while Twilio fails', async () => {
    const twilio = await aTwilio();
    for (const status of [500, 429, 503]) twilio.answerNextText(refusedWith(status, 20_000));
    const platform = await aPlatform(twilio.baseUrl);
    const { body } = await create(platform, aText('1'));
    for (const text of ['2', '3', '4']) await create(platform, aText(text, body.conversation_id));
    await settled(platform, body, 4);
    expect(twilio.sent.map((text) => text.body)).toEqual([1, 2, 3, 4].map((n) => `You said: ${n}`));
  });

  test('a text that Twilio accepted without an answer is sent once', async () => {
    const twilio = await aTwilio();
    twilio.answerNextText('reset', 'kept');
    const platform = await aPlatform(twilio.baseUrl);
    const { body } = await create(platform, aText('opening hours?'));
    const [reply] = await settled(platform, body);
    expect(twilio.sent).toHaveLength(1);
    expect(reply).toMatchObject({ status: 'DELIVERED', remote_id: twilio.sent[0]?.sid });
  });

  test('a text is sent once after a crash between Twilio’s acceptance and its note', async () => {
    const twilio = await aTwilio();
    const dir = newFolder();
    const first = await aPlatform(twilio.baseUrl, dir);
    const { body } = await create(first, aText('opening hours?'));
    await settled(first, body);
    await first.stop();
    const db = new Database(join(dir, 'platform.sqlite'));
    db.exec(
      `INSERT INTO departures (message_id, shop, conversation_id, seq, attempts, next_at, begun_at)
         SELECT id, shop, conversation_id, seq, 1, 1, ${Date.now() - 5000} FROM messages
         WHERE role = 'agent';
       UPDATE messages SET status = 'PENDING', remote_id = NULL WHERE role = 'agent';
       DELETE FROM sent_parts; DELETE FROM fates`,
    );
    db.close();
    const second = await aPlatform(twilio.baseUrl, dir);
    const [reply] = await settled(second, body);
    expect(twilio.sent).toHaveLength(1);
    expect(reply).toMatchObject({ status: 'DELIVERED', remote_id: twilio.sent[0]?.sid });
  });

  test('a shop without an account writes into the log', async () => {
    const twilio = await aTwilio();
    const platform = await aPlatform(twilio.baseUrl);
    const { body } = await create(platform, aText('opening hours?'), OTHER);
    await waitFor('the reply', () =>
      platform.inspect
        .messages(OTHER.shopId)
        .some(({ role, status }) => role === 'agent' && status === 'DELIVERED'),
    );
    expect(body.conversation_id).not.toBeNull();
    expect(twilio.sent).toEqual([]);
  });
});
