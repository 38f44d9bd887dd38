import { beforeEach, describe, expect, test } from '@jest/globals';
import { aListedMessage, uuid } from '../support/scripted-platform.ts';
import { waitFor } from '../support/wait-for.ts';
import {
  deliveryScene,
  isCreate,
  json,
  message,
  type Scene,
  toCreate,
  type Wanted,
} from './scene.ts';

let it: Scene;
beforeEach(async () => {
  it = await deliveryScene();
});

/** Everything that the ladder can undo, of an email from a doubtful address. */
const WHOLE: Wanted = {
  ...{ email: 'ann@localhost', format: 'MARKDOWN', attachments: ['a.txt'] },
  ...{ cc: ['bob@example.com'], references: ['<0@x>'] },
};
const email = { channel: 'email' } as const;

describe('the ladder', () => {
  test.each<[string, unknown, object]>([
    [
      'Django’s nested fields',
      { message: { email: { cc: [{ email: ['no'] }] } } },
      { email: { references: ['<0@x>'] } },
    ],
    [
      'a list of errors',
      { errors: [{ field: 'message.email.references', message: 'no' }] },
      { email: { cc: [{ email: 'bob@example.com' }] } },
    ],
    [
      'JSON pointers',
      { errors: [{ source: { pointer: '/data/attributes/message/format' } }] },
      { format: 'TEXT', content: 'hello\n\n[missing: a.txt]' },
    ],
    [
      'pydantic’s locations',
      { detail: [{ loc: ['body', 'message', 'content'] }] },
      { format: 'TEXT' },
    ],
  ])('does what the answer’s fields ask for, and nothing else: %s', async (_, body, expected) => {
    it.platform.script = toCreate((_seen, nth) => (nth === 1 ? json(422, body) : undefined));
    const entry = message(WHOLE, email);
    await it.comesTo(entry, 'delivered');
    expect(it.platform.messages).toHaveLength(2);
    expect(it.platform.messages[1]).toMatchObject({
      ...{ contact: { email: 'ann@localhost' }, message: { remote_id: entry.remoteId } },
    });
    expect(it.platform.messages[1]?.message).toMatchObject(expected);
    expect(await it.rungsOf(entry)).toHaveLength(1);
  });

  test('undoes one thing after the other when nothing is named, then both addresses; then it is dead', async () => {
    it.platform.script = toCreate(json(400, { error: 'I dislike Mrs Smith' }));
    const entry = message(WHOLE, email);
    const dead = await it.comesTo(entry, 'dead');
    expect(await it.rungsOf(entry)).toEqual([
      ...['address', 'attachments_anew', 'plain_text', 'copies', 'address+copies', 'references'],
    ]);
    const contents = it.platform.messages.map(({ message: m }) => [
      ...[m['format'], m['attachments'], m['email']],
    ]);
    const copies = { cc: [{ email: 'bob@example.com' }], references: ['<0@x>'] };
    const [first, again] = [[uuid('a', 1)], [uuid('a', 2)]];
    expect(contents).toEqual([
      ['MARKDOWN', first, copies],
      ['MARKDOWN', first, copies],
      ['MARKDOWN', again, copies],
      ['TEXT', undefined, copies],
      ['MARKDOWN', again, { references: ['<0@x>'] }],
      ['MARKDOWN', again, { references: ['<0@x>'] }],
      ['MARKDOWN', again, { cc: copies.cc }],
    ]);
    expect(JSON.stringify(dead.reason)).toContain('I dislike Mrs Smith');
    expect(it.logged.join('\n')).toContain('entry.dead');
    expect(it.logged.join('\n')).not.toContain('Smith');
  });

  test('that leaves the address out puts it in the name, says so, and remembers no conversation', async () => {
    it.platform.script = toCreate(({ body }) =>
      body.includes('"email":"ann@') ? json(422, { contact: { email: ['no'] } }) : undefined,
    );
    const entry = message({ email: 'ann@example.com' }, { channel: 'web_chat' });
    const delivered = await it.comesTo(entry, 'delivered');
    expect(it.platform.messages.at(-1)).toMatchObject({
      contact: { name: 'Ann <ann@example.com>' },
    });
    expect(delivered.reason).toEqual({ code: 'cannot_be_answered' });
    expect(delivered.conversationId).toBe(uuid('c', 1));
    expect(await it.store.spool.conversation(entry)).toBeUndefined();
  });

  test.each<[string, (contact: boolean) => object, readonly string[]]>([
    [
      'names both',
      () => ({ errors: { 'contact.email': ['no'], 'message.email.cc': ['no'] } }),
      ['address+copies'],
    ],
    [
      'names one after the other',
      (contact) => ({ [contact ? 'contact.email' : 'message.email.cc']: ['no'] }),
      ['address', 'address+copies'],
    ],
    ['names neither', () => ({ error: 'invalid' }), ['address', 'copies', 'address+copies']],
  ])(
    'leaves an odd sender and odd copies out of a mail that has both: the answer %s',
    async (_, words, rungs) => {
      it.platform.script = toCreate(({ body }) => {
        const contact = body.includes('"email":"taro..y@');
        return contact || body.includes('hana.@') ? json(422, words(contact)) : undefined;
      });
      const odd = { email: 'taro..y@docomo.example', cc: ['hana.@docomo.example'] } as const;
      const entry = message({ ...odd, format: 'TEXT' }, email);
      const { reason } = await it.comesTo(entry, 'delivered');
      expect(await it.rungsOf(entry)).toEqual(rungs);
      expect(reason).toEqual({ code: 'cannot_be_answered' });
    },
  );

  test('never leaves a phone number out', async () => {
    it.platform.script = toCreate(json(422, { contact: { phone: ['not possible'] } }));
    await it.comesTo(message({ format: 'TEXT' }), 'dead');
    expect(it.platform.messages).toMatchObject([{ contact: { phone: '+15550002222' } }]);
  });

  test('goes on where an outage interrupted it', async () => {
    it.platform.script = toCreate(({ body }, nth) => {
      if (nth === 2 || nth === 3) return json(503);
      return body.includes('MARKDOWN') ? json(422) : undefined;
    });
    const entry = message();
    await it.submit(entry);
    await it.waits(entry);
    it.tryNow();
    await it.reached(entry, 'delivered');
    const formats = it.platform.messages.map(({ message: m }) => m['format']);
    expect(formats).toEqual(['MARKDOWN', 'TEXT', 'TEXT', 'TEXT']);
  });

  test('a dead head lets the next of its lane pass', async () => {
    it.platform.script = toCreate(({ body }) => (body.includes('poison') ? json(400) : undefined));
    const bad = message({ content: 'poison' }, { lane: 'l' });
    const good = message({}, { lane: 'l' });
    await it.submit(bad, good);
    await it.reached(bad, 'dead');
    await it.reached(good, 'delivered');
  });
});

describe('after a request that was not answered', () => {
  test('the message is looked for before it is sent again', async () => {
    const entry = message();
    it.platform.script = (seen) => {
      if (isCreate(seen)) return 'reset';
      if (!seen.path.startsWith('/messages/?')) return undefined;
      return json(200, { results: [aListedMessage(7, entry.remoteId)] });
    };
    await it.comesTo(entry, 'delivered');
    expect(it.platform.messages).toHaveLength(1);
  });

  test.each([
    ['came since are passed over', 60_000, 7, 1],
    ['were there before end the look', -600_000, 4, 2],
  ])('messages that %s', async (_, laterByMs, looks, posts) => {
    const entry = message();
    const created_at = new Date(entry.receivedAt + laterByMs).toISOString();
    const other = { ...aListedMessage(8, 'another'), created_at };
    const pages: string[] = [];
    it.platform.script = (seen, nth) => {
      if (isCreate(seen)) return nth === 1 ? 'reset' : undefined;
      if (!seen.path.startsWith('/messages/?')) return undefined;
      pages.push(seen.path);
      const ours = pages.length === 7 ? [aListedMessage(7, entry.remoteId)] : [];
      const next = `/messages/?limit=100&cursor=${pages.length}`;
      return json(200, { results: [other, ...ours], next, previous: null });
    };
    await it.comesTo(entry, 'delivered');
    expect([pages.length, it.platform.messages.length]).toEqual([looks, posts]);
  });

  test.each([400, 422])(
    'a page size that is refused with %i is left out from then on',
    async (status) => {
      const entries = [message(), message()];
      const looks: string[] = [];
      it.platform.script = (seen, nth) => {
        if (isCreate(seen)) return nth === 1 ? 'reset' : undefined;
        if (!seen.path.startsWith('/messages/?') && seen.path !== '/messages/') return undefined;
        looks.push(seen.path);
        if (seen.path.includes('limit=')) return json(status);
        const results = entries.map(({ remoteId }, n) => aListedMessage(n + 7, remoteId));
        return json(200, { results });
      };
      for (const entry of entries) await it.comesTo(entry, 'delivered');
      expect(it.platform.messages).toHaveLength(2);
      expect(looks.map((path) => path.includes('limit='))).toEqual([true, false]);
    },
  );

  test('a list that is refused whatever it is asked for is asked twice', async () => {
    it.platform.script = (seen, nth) => {
      if (isCreate(seen)) return nth === 1 ? 'reset' : undefined;
      return seen.path.startsWith('/messages/') ? json(400) : undefined;
    };
    await it.submit(message());
    await waitFor('both looks', () => it.platform.of('GET /messages/').length === 2);
    await it.dispatcher.stop(1000);
    expect(it.platform.of('GET /messages/')).toHaveLength(2);
  });

  test('it is looked for after an operator’s retry, too', async () => {
    const entry = message();
    let isListed = false;
    it.platform.script = (seen) => {
      if (isCreate(seen)) return 'reset';
      if (!seen.path.startsWith('/messages/?')) return undefined;
      return isListed ? json(200, { results: [aListedMessage(7, entry.remoteId)] }) : json(503);
    };
    await it.submit(entry);
    await it.waits(entry);
    isListed = true;
    const posts = it.platform.messages.length;
    await it.store.spool.requeue(entry.id);
    it.tryNow();
    await it.reached(entry, 'delivered');
    expect(it.platform.messages).toHaveLength(posts);
  });

  test('a refusal is looked up first: the platform may have the message', async () => {
    const entry = message();
    let looks = 0;
    it.platform.script = (seen, nth) => {
      if (isCreate(seen)) return nth === 1 ? 'reset' : json(409, { error: 'exists' });
      if (!seen.path.startsWith('/messages/?')) return undefined;
      looks += 1;
      return json(200, { results: looks === 1 ? [] : [aListedMessage(7, entry.remoteId)] });
    };
    expect(await it.comesTo(entry, 'delivered')).toMatchObject({
      ...{ platformMessageId: uuid('a', 7), conversationId: uuid('c', 7) },
    });
    expect(it.platform.messages).toHaveLength(2);
    expect(await it.rungsOf(entry)).toEqual([]);
  });

  test('a refusal that is not found goes the ladder’s way', async () => {
    it.platform.script = toCreate((_, nth) => [undefined, 'reset' as const, json(422)][nth]);
    const entry = message();
    await it.comesTo(entry, 'delivered');
    expect(await it.rungsOf(entry)).toEqual(['plain_text']);
  });

  test('a refusal at once is not looked up', async () => {
    it.platform.script = toCreate((_, nth) => (nth === 1 ? json(422) : undefined));
    await it.comesTo(message(), 'delivered');
    expect(it.platform.of('GET /messages/')).toEqual([]);
  });
});
