import { beforeEach, describe, expect, test } from '@jest/globals';
import type { NewEntry } from '../../src/spool/entry.ts';
import { type Answer, aListedMessage, uuid } from '../support/scripted-platform.ts';
import { waitFor } from '../support/wait-for.ts';
import { deliveryScene, isCreate, json, message, type Scene, toCreate } from './scene.ts';

let it: Scene;
beforeEach(async () => {
  it = await deliveryScene();
});

const email = (change: Partial<NewEntry> = {}) => message({}, { channel: 'email', ...change });
const created = () => it.platform.messages.map(({ message: m }) => String(m['remote_id']));
const lookedUp = () => it.platform.of('GET /messages/?').length;

/** A platform that answers create message so, and lists what it has been sent. */
function listing(answer: Answer, isListed: () => boolean = () => true) {
  it.platform.script = (seen) => {
    if (isCreate(seen)) return answer;
    if (!seen.path.startsWith('/messages/?')) return undefined;
    const listed = isListed() ? [...new Set(created())] : [];
    const results = listed.map((remoteId, n) => aListedMessage(n + 1, remoteId)).toReversed();
    return json(200, { results });
  };
}

describe('a 2xx that reports an error', () => {
  const broken = json(200, { id: uuid('b', 9), conversation_id: uuid('c', 9), error: 'quota' });

  test('is no delivery: the message is sent again when it is not there', async () => {
    listing(broken, () => false);
    const { script } = it.platform;
    it.platform.script = (seen, nth) =>
      isCreate(seen) && created().length > 1 ? undefined : script(seen, nth);
    const entry = email();
    const { platformMessageId } = await it.comesTo(entry, 'delivered');
    expect(platformMessageId).not.toBe(uuid('b', 9));
    expect(created()).toEqual([entry.remoteId, entry.remoteId]);
    // At once, and before it is sent again.
    expect(lookedUp()).toBe(2);
  });

  test('is looked for before it is sent again, and delivered when it is there', async () => {
    listing(broken);
    const entry = email();
    expect(await it.comesTo(entry, 'delivered')).toMatchObject({
      platformMessageId: uuid('a', 1),
    });
    expect(created()).toEqual([entry.remoteId]);
  });
});

describe('a 2xx that does not say that the message was taken', () => {
  test.each<[string, Answer]>([
    ['201 with no body', { status: 201, body: '' }],
    ['200 with a list', json(200, [1, 2])],
    ['200 with {"ok":true}', json(200, { ok: true })],
    ['202 with null', { status: 202, body: 'null' }],
  ])('%s: it is looked for, and delivered when it is there', async (_, answer) => {
    listing(answer);
    const entry = email();
    expect(await it.comesTo(entry, 'delivered')).toMatchObject({
      ...{ platformMessageId: uuid('a', 1), conversationId: uuid('c', 1) },
    });
    expect(created()).toEqual([entry.remoteId]);
    expect(lookedUp()).toBe(1);
  });

  test('what it means is learned once: then nothing is looked for any more', async () => {
    listing(json(201, { ok: true }));
    for (let n = 0; n < 15; n += 1) await it.comesTo(email(), 'delivered');
    const looked = lookedUp();
    for (let n = 0; n < 4; n += 1) await it.comesTo(email(), 'delivered');
    expect(lookedUp()).toBe(looked);
    expect(created()).toHaveLength(19);
    listing({ status: 201, body: '' });
    await it.comesTo(email(), 'delivered');
    expect(lookedUp()).toBe(looked + 1);
  });

  test('a list that may not be read once teaches nothing', async () => {
    listing(json(201, { ok: true }));
    const { script } = it.platform;
    let refused = 0;
    it.platform.script = (seen, nth) => {
      if (seen.path.startsWith('/messages/?') && refused++ === 0) return json(403);
      return script(seen, nth);
    };
    for (let n = 0; n < 15; n += 1) await it.comesTo(email(), 'delivered');
    const looked = lookedUp();
    await it.comesTo(email(), 'delivered');
    expect(lookedUp()).toBe(looked);
  });

  test('without evidence it is held after three tries, with an alarm, and its lane goes on', async () => {
    listing({ status: 200, body: '' }, () => false);
    const [entry, next] = [email({ lane: 'l' }), email({ lane: 'l' })];
    await it.submit(entry, next);
    const held = await it.reached(entry, 'held');
    expect(held.reason).toEqual({ code: 'unclear_answer' });
    expect(await it.alarm('unclear_answers')).toBeGreaterThanOrEqual(1);
    const tries = created().filter((id) => id === entry.remoteId).length;
    expect(tries).toBeGreaterThanOrEqual(3);
    expect(tries).toBeLessThanOrEqual(6);
    await waitFor('the next', () => created().includes(next.remoteId));
  });

  test('it is tried again until it is there', async () => {
    let looks = 0;
    listing({ status: 200, body: '' }, () => ++looks > 2);
    const entry = email();
    await it.comesTo(entry, 'delivered');
    expect(new Set(created())).toEqual(new Set([entry.remoteId]));
  });
});

test('an empty 2xx of a platform that answers with messages is a proxy’s: it goes later, however often', async () => {
  await it.comesTo(email(), 'delivered');
  listing({ status: 200, body: '' }, () => false);
  it.keepTrying();
  const entry = email();
  await it.submit(entry);
  const now = await waitFor('six tries', async () => {
    const each = await it.store.spool.get(entry.id);
    return each !== undefined && (each.failures >= 6 || each.state === 'held') && each;
  });
  expect(now).toMatchObject({ attempts: 0, state: expect.stringMatching(/queued|delivering/) });
  it.platform.script = () => undefined;
  expect(await it.reached(entry, 'delivered')).toMatchObject({ platformMessageId: uuid('a', 2) });
});

test('after such an answer it is looked for, and not submitted twice if the platform has it', async () => {
  await it.comesTo(email(), 'delivered');
  listing({ status: 200, body: '' });
  it.keepTrying();
  const entry = email();
  await it.comesTo(entry, 'delivered');
  expect(created().filter((id) => id === entry.remoteId)).toHaveLength(1);
});

describe('an answer with an id and nothing else', () => {
  const ID = uuid('a', 4);
  /** The platform answers so, and shows this when it is asked for the message. */
  function answering(read: Answer | undefined) {
    it.platform.script = ({ method, path }) => {
      if (method === 'POST') return json(200, { id: ID, status: 'error' });
      return path === `/messages/${ID}/` ? read : undefined;
    };
  }
  const reads = () => it.platform.of(`GET /messages/${ID}/`).length;
  const shown = (change: object) => ({ ...aListedMessage(4, ''), ...change });
  /** Delivers three messages; the number of reads after each. */
  async function readsOfThree(): Promise<number[]> {
    const counts: number[] = [];
    for (let n = 0; n < 3; n += 1) {
      await it.comesTo(email(), 'delivered');
      counts.push(reads());
    }
    return counts;
  }

  test('is confirmed by the message', async () => {
    const entry = email();
    answering(json(200, shown({ remote_id: entry.remoteId })));
    expect(await it.comesTo(entry, 'delivered')).toMatchObject({ platformMessageId: ID });
    expect(reads()).toBe(1);
  });

  test('is confirmed by a message without a remote id and with our text', async () => {
    answering(json(200, shown({ remote_id: null, content: '<p>hello </p>' })));
    expect(await it.comesTo(email(), 'delivered')).toMatchObject({ platformMessageId: ID });
    answering(json(200, shown({ remote_id: null, content: 'another text' })));
    expect((await it.comesTo(email(), 'held')).reason).toEqual({ code: 'unclear_answer' });
  });

  test('is no delivery when there is no such message', async () => {
    answering(json(404));
    const entry = email();
    await it.submit(entry);
    await it.waits(entry);
    it.platform.script = () => undefined;
    expect((await it.reached(entry, 'delivered')).platformMessageId).not.toBe(ID);
  });

  test('is not taken for ours when the message is somebody else’s', async () => {
    answering(json(200, shown({ remote_id: 'somebody else' })));
    expect((await it.comesTo(email(), 'held')).platformMessageId).toBeUndefined();
  });

  test('is delivered with one alarm when the message cannot be read', async () => {
    answering(json(403));
    expect(await readsOfThree()).toEqual([3, 4, 5]);
    expect(await it.alarm('unconfirmed_answers')).toBe(1);
  });

  test('is read again while the platform does not answer', async () => {
    const entry = email();
    it.platform.script = ({ method, path }) => {
      if (method === 'POST') return json(200, { id: ID, status: 'error' });
      if (path !== `/messages/${ID}/`) return undefined;
      return reads() < 6 ? json(500) : json(200, shown({ remote_id: entry.remoteId }));
    };
    await it.comesTo(entry, 'delivered');
    expect([reads(), await it.alarm('unconfirmed_answers')]).toEqual([6, 0]);
  });

  test('is delivered with one alarm when the platform never answers, after more reads once only', async () => {
    answering(json(500));
    expect(await readsOfThree()).toEqual([20, 23, 26]);
    expect(await it.alarm('unconfirmed_answers')).toBe(1);
  });

  test('is not kept when it is no id that could be sent', async () => {
    it.platform.script = toCreate(json(200, { id: '../../x?y', conversation_id: 'a'.repeat(200) }));
    const entry = message();
    const { platformMessageId, conversationId } = await it.comesTo(entry, 'delivered');
    expect([platformMessageId, conversationId]).toEqual([undefined, undefined]);
    expect(await it.store.spool.conversation(entry)).toBeUndefined();
  });
});

describe('409', () => {
  test('with somebody else’s message is refused', async () => {
    const other = { ...aListedMessage(9, ''), remote_id: null, content: 'another text' };
    it.platform.script = toCreate(json(409, other));
    const entry = email();
    expect((await it.comesTo(entry, 'dead')).platformMessageId).toBeUndefined();
  });

  test('with our text is delivered only if an earlier request may have arrived', async () => {
    const ours = { ...aListedMessage(9, ''), remote_id: null, content: 'hello' };
    it.platform.script = toCreate((_, nth) => (nth === 1 ? 'reset' : json(409, ours)));
    expect(await it.comesTo(email(), 'delivered')).toMatchObject({
      platformMessageId: uuid('a', 9),
    });
    expect((await it.comesTo(email(), 'dead')).platformMessageId).toBeUndefined();
  });

  test('with our text is delivered also after another refusal, where the list cannot be read', async () => {
    const ours = { ...aListedMessage(9, ''), remote_id: null, content: 'hello' };
    const answers: readonly Answer[] = ['reset', json(422)];
    it.platform.script = (seen) => {
      if (isCreate(seen)) return answers[created().length - 1] ?? json(409, ours);
      return seen.path.startsWith('/messages/?') ? json(403) : undefined;
    };
    expect(await it.comesTo(email(), 'delivered')).toMatchObject({
      platformMessageId: uuid('a', 9),
    });
  });
});

test('409 with our text is delivered after an answer that was unclear', async () => {
  const ours = { ...aListedMessage(9, ''), remote_id: null, content: 'hello' };
  it.platform.script = (seen) => {
    if (isCreate(seen)) return created().length === 1 ? { status: 200, body: '' } : json(409, ours);
    return seen.path.startsWith('/messages/?') ? json(403) : undefined;
  };
  expect(await it.comesTo(email(), 'delivered')).toMatchObject({ platformMessageId: uuid('a', 9) });
});

describe('an answer with another message', () => {
  const other = () => ({ ...aListedMessage(9, 'somebody else'), remote_id: 'somebody else' });

  test('is not taken for ours', async () => {
    it.platform.script = toCreate(json(200, other()));
    const entry = message();
    const held = await it.comesTo(entry, 'held');
    expect(held.platformMessageId).toBeUndefined();
    expect(await it.store.spool.conversation(entry)).toBeUndefined();
  });

  test('is no evidence against ours either, when it is listed', async () => {
    listing(json(200, other()));
    expect(await it.comesTo(message(), 'delivered')).toMatchObject({
      ...{ platformMessageId: uuid('a', 1), conversationId: uuid('c', 1) },
    });
  });

  test('teaches nothing: the next one is looked for, too', async () => {
    listing(json(200, other()));
    for (let n = 0; n < 15; n += 1) await it.comesTo(email(), 'delivered');
    expect(lookedUp()).toBe(15);
  });

  test('a message without a remote id is ours', async () => {
    const { remote_id: _id, ...unnamed } = other();
    it.platform.script = toCreate(json(200, unnamed));
    expect(await it.comesTo(email(), 'delivered')).toMatchObject({
      platformMessageId: uuid('a', 9),
    });
    expect(lookedUp()).toBe(0);
  });
});
