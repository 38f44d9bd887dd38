import { beforeEach, describe, expect, test } from '@jest/globals';
import { SHOP } from '../support/entries.ts';
import { aListedMessage, type Seen, uuid } from '../support/scripted-platform.ts';
import { deliveryScene, isCreate, json, message, type Scene, toCreate } from './scene.ts';

let it: Scene;
beforeEach(async () => {
  it = await deliveryScene();
});

const LANE = { shopId: SHOP, channel: 'sms', lane: 'same' } as const;
const inLane = (content: string) => message({ content }, { lane: LANE.lane });
const named = () => it.platform.messages.map(({ conversation }) => conversation.id);
const isAbout = ({ path, body }: Seen, id: string) => path === '/messages/' && body.includes(id);

test('two texts that arrive together make one conversation', async () => {
  const [first, second] = [inLane('1'), inLane('2')];
  await it.submit(first, second);
  await it.reached(second, 'delivered');
  expect(named()).toEqual([undefined, uuid('c', 1)]);
});

test('a message is found also in another conversation than the one that its request names', async () => {
  const entry = inLane('1');
  await it.store.spool.rememberConversation({ ...LANE, id: entry.id }, uuid('c', 1));
  it.platform.script = (seen) => {
    if (isCreate(seen)) return 'reset';
    if (!seen.path.startsWith('/messages/?')) return undefined;
    const isAll = !seen.path.includes('conversation_id');
    return json(200, { results: isAll ? [aListedMessage(2, entry.remoteId)] : [] });
  };
  await it.comesTo(entry, 'delivered');
  expect(named()).toEqual([uuid('c', 1)]);
});

describe('404 or 410 to a message in a conversation', () => {
  const CONVERSATION = uuid('c', 1);

  test.each([404, 410])(
    '%i, also to its own GET: forgotten, and a new one begun',
    async (status) => {
      it.platform.script = (seen) =>
        isAbout(seen, CONVERSATION) || seen.path === `/conversations/${CONVERSATION}/`
          ? json(status)
          : undefined;
      const [first, second, third] = [inLane('1'), inLane('2'), inLane('3')];
      await it.submit(first, second, third);
      await it.reached(third, 'delivered');
      expect(named()).toEqual([undefined, CONVERSATION, undefined, uuid('c', 2)]);
      expect(await it.stepsOf(second)).toContain('conversation_gone');
    },
  );

  const everything404 = () => json(404);
  test.each<[string, (seen: Seen) => { status: number; body: unknown } | undefined]>([
    ['everything else is 404, too: a proxy that has lost its way', everything404],
    [
      'its GET is answered',
      (seen) => (seen.path.startsWith('/conversations/') ? undefined : everything404()),
    ],
    [
      'its messages are listed',
      (seen) =>
        seen.path.startsWith('/messages/?')
          ? json(200, { results: [aListedMessage(1, 'x')] })
          : everything404(),
    ],
    [
      'its GET fails',
      (seen) => (seen.path.startsWith('/conversations/') ? json(503) : everything404()),
    ],
  ])('kept while %s', async (_, script) => {
    await it.comesTo(inLane('1'), 'delivered');
    it.platform.script = script;
    const second = inLane('2');
    await it.submit(second);
    expect(await it.waits(second)).toMatchObject({ attempts: 0 });
    expect(await it.store.spool.conversation(LANE)).toMatchObject({ id: CONVERSATION });
    it.platform.script = () => undefined;
    it.tryNow();
    await it.reached(second, 'delivered');
    expect(named().at(-1)).toBe(CONVERSATION);
  });

  test('denied again and again although it is there: the message goes without it', async () => {
    await it.comesTo(inLane('1'), 'delivered');
    it.platform.script = (seen) => (isAbout(seen, CONVERSATION) ? json(404) : undefined);
    const second = inLane('2');
    await it.submit(second);
    it.keepTrying();
    await it.reached(second, 'delivered');
    expect(named().at(-1)).toBeUndefined();
    expect(named().filter((id) => id === CONVERSATION)).toHaveLength(7);
  });

  test('one that the ladder leaves out is not forgotten', async () => {
    await it.comesTo(inLane('1'), 'delivered');
    it.platform.script = (seen) =>
      isAbout(seen, CONVERSATION) ? json(422, { conversation: { id: ['closed'] } }) : undefined;
    const second = inLane('2');
    await it.comesTo(second, 'delivered');
    expect(await it.rungsOf(second)).toEqual(['conversation']);
  });
});

describe('an answer without the conversation', () => {
  test('is completed from the message', async () => {
    const entry = inLane('1');
    it.platform.script = ({ method, path }) => {
      if (method === 'POST') return json(201, { id: uuid('a', 5) });
      const isRead = path === `/messages/${uuid('a', 5)}/`;
      return isRead ? json(200, aListedMessage(5, entry.remoteId)) : undefined;
    };
    expect(await it.comesTo(entry, 'delivered')).toMatchObject({ conversationId: uuid('c', 5) });
  });

  test('is not completed from the message of somebody else', async () => {
    it.platform.script = (seen, nth) => {
      const { remote_id: _, conversation_id: __, ...own } = aListedMessage(5, '');
      if (isCreate(seen)) return nth === 1 ? json(201, own) : undefined;
      const isRead = seen.path === `/messages/${uuid('a', 5)}/`;
      return isRead ? json(200, aListedMessage(5, 'of another')) : undefined;
    };
    expect(await it.comesTo(inLane('1'), 'delivered')).toMatchObject({
      conversationId: uuid('c', 1),
    });
  });

  test('is completed from the newest messages', async () => {
    const entry = inLane('1');
    it.platform.script = (seen) => {
      if (isCreate(seen)) return { status: 201, body: '' };
      if (!seen.path.startsWith('/messages/?')) return undefined;
      return json(200, { results: [aListedMessage(6, entry.remoteId)] });
    };
    expect(await it.comesTo(entry, 'delivered')).toMatchObject({ conversationId: uuid('c', 6) });
    expect(it.platform.messages).toHaveLength(1);
  });

  test('is completed by the same payload once more, when nothing else tells', async () => {
    it.platform.script = (seen, nth) => {
      if (isCreate(seen) && nth === 1) return json(201, { id: uuid('a', 5) });
      return seen.path === `/messages/${uuid('a', 5)}/` ? json(404) : undefined;
    };
    const entry = inLane('1');
    expect(await it.comesTo(entry, 'delivered')).toMatchObject({ conversationId: uuid('c', 1) });
    expect(it.platform.messages).toHaveLength(2);
    expect(it.platform.messages[0]).toEqual(it.platform.messages[1]);
  });

  test('that is empty at first is completed by the next', async () => {
    it.platform.script = toCreate((_, nth) => (nth === 1 ? { status: 201, body: '' } : undefined));
    const entry = inLane('1');
    expect(await it.comesTo(entry, 'delivered')).toMatchObject({ conversationId: uuid('c', 1) });
    expect(it.platform.messages).toHaveLength(2);
    expect(it.platform.messages[0]).toEqual(it.platform.messages[1]);
  });

  test('that cannot be looked up now is looked up later, and nothing is submitted again', async () => {
    const [first, second] = [inLane('1'), inLane('2')];
    let isDown = true;
    it.platform.script = ({ method, path, body }) => {
      if (method === 'POST' && body.includes('"1"')) return json(201, { id: uuid('a', 5) });
      if (path !== `/messages/${uuid('a', 5)}/`) return undefined;
      return isDown ? json(503) : json(200, aListedMessage(5, first.remoteId));
    };
    await it.submit(first, second);
    expect(await it.waits(first)).toMatchObject({ attempts: 0, failures: 0 });
    isDown = false;
    await it.store.spool.hasten(SHOP, 1);
    expect(await it.reached(first, 'delivered')).toMatchObject({
      ...{ platformMessageId: uuid('a', 5), conversationId: uuid('c', 5) },
    });
    await it.reached(second, 'delivered');
    expect(named()).toEqual([undefined, uuid('c', 5)]);
  });

  test('that could not be looked up at first is completed by the same payload, too, and once', async () => {
    const [first, second] = [inLane('1'), inLane('2')];
    let isDown = true;
    it.platform.script = (seen, nth) => {
      if (isCreate(seen) && nth === 1) return json(201, { id: uuid('a', 5) });
      if (seen.path !== `/messages/${uuid('a', 5)}/`) return undefined;
      return isDown ? json(503) : json(404);
    };
    await it.submit(first, second);
    await it.waits(first);
    isDown = false;
    await it.store.spool.hasten(SHOP, 1);
    const { conversationId } = await it.reached(first, 'delivered');
    await it.reached(second, 'delivered');
    expect(it.platform.messages[0]).toEqual(it.platform.messages[1]);
    expect(named()).toEqual([undefined, undefined, conversationId]);
  });
});

test('a conversation that another lane has is never adopted', async () => {
  it.platform.script = toCreate(json(201, { id: uuid('a', 1), conversation_id: uuid('c', 7) }));
  const [one, other] = [message({}, { lane: 'one' }), message({}, { lane: 'other' })];
  await it.comesTo(one, 'delivered');
  expect((await it.comesTo(other, 'delivered')).conversationId).toBeUndefined();
  expect(await it.store.spool.conversation({ ...LANE, lane: 'other' })).toBeUndefined();
});
