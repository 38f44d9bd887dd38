import { expect, test } from '@jest/globals';
import { ConversationLists } from '../../../../src/channels/chat/replies/conversation-lists.ts';
import { Pacer } from '../../../../src/channels/chat/replies/pacer.ts';
import { CursorRefused } from '../../../../src/channels/chat/replies/message-reader.ts';
import { silentLogger } from '../../../../src/observability/logger.ts';
import { asVisitorId } from '../../../../src/domain/ids.ts';
import type { WatchedConversation } from '../../../../src/spool/chat-store.ts';
import { SHOP } from '../../../support/entries.ts';
import { ListedMessages } from './listed-messages.ts';
import { aReply } from './platform-messages.ts';

const CONVERSATION = { conversationId: 'c', visitorId: asVisitorId('v'), usedAt: 0 };

/** A conversation of sixty messages that was read to its end, three pages of three at a time. */
async function readToItsEnd() {
  const listed = Array.from({ length: 60 }, (_, index) =>
    aReply({ conversation_id: 'c', created_at: new Date(index * 1_000).toISOString() }),
  );
  const asked: (string | undefined)[] = [];
  let failure: Error | undefined;
  const lists = new ConversationLists(SHOP, {
    source: {
      listMessages: (_shop, _ids, cursor) => {
        asked.push(cursor);
        if (failure !== undefined) return Promise.reject(failure);
        const end = Number(cursor ?? 0) + 3;
        const next = end < listed.length ? String(end) : null;
        return Promise.resolve({ results: listed.slice(end - 3, end), next });
      },
    },
    pacer: new Pacer(1_000),
    maxPages: 3,
    requestTimeoutMs: 60_000,
    clock: Date.now,
    logger: silentLogger,
  });
  const how = { depth: 'known', urgency: 'usual', isKnown: () => false } as const;
  const read = async (): Promise<void> => {
    const batch = lists.isReadAlone(CONVERSATION)
      ? { together: [], alone: [CONVERSATION] }
      : { together: [CONVERSATION], alone: [] };
    const { taken } = await lists.read(batch, how, new AbortController().signal);
    taken(new Set());
  };
  do await read();
  while (lists.isUnfinished(CONVERSATION));
  asked.length = 0;
  const fail = async (error: Error): Promise<void> => {
    failure = error;
    await expect(read()).rejects.toThrow(error);
    failure = undefined;
    asked.length = 0;
  };
  return { read, fail, asked, lists };
}

test('an outage does not lose the place in a long list', async () => {
  const { read, fail, asked } = await readToItsEnd();
  for (let round = 0; round < 5; round += 1) await fail(new Error('503'));
  await read();
  expect(asked).toEqual(['57']);
});

test('a cursor that is refused again and again is given up, and the list begins anew', async () => {
  const { read, fail, asked, lists } = await readToItsEnd();
  for (let round = 0; round < 3; round += 1) await fail(new CursorRefused('gone'));
  expect(lists.isReadAlone(CONVERSATION)).toBe(false);
  await read();
  expect(asked).toEqual([undefined, '3', '6']);
});

const conversation = (id: string): WatchedConversation => ({
  ...{ conversationId: id, visitorId: asVisitorId(id), usedAt: 0 },
});

/** Three conversations; the first one's message is larger than a page may be. */
function withOneTooLarge() {
  const source = new ListedMessages();
  Object.assign(source, { order: 'oldest first', pageSize: 200, mostChars: 4_000 });
  source.add(aReply({ conversation_id: 'a', content: 'x'.repeat(5_000) }));
  source.add(aReply({ conversation_id: 'b', content: 'for b' }));
  source.add(aReply({ conversation_id: 'c', content: 'for c' }));
  const lists = new ConversationLists(SHOP, {
    ...{ source, pacer: new Pacer(1_000), maxPages: 3, requestTimeoutMs: 60_000 },
    ...{ clock: Date.now, logger: silentLogger },
  });
  const how = { depth: 'known', urgency: 'usual', isKnown: () => false } as const;
  const read = async (together: string[], alone: string[] = []) => {
    const batch = { together: together.map(conversation), alone: alone.map(conversation) };
    const { messages, taken } = await lists.read(batch, how, new AbortController().signal);
    taken(new Set());
    return messages.map(({ content }) => content);
  };
  return { lists, read };
}

test('what is too large is left out of a reading with others, and read alone from then on', async () => {
  const { lists, read } = withOneTooLarge();
  expect(await read(['a', 'b', 'c'])).toEqual(['for b', 'for c']);
  const alone = ['a', 'b', 'c'].filter((id) => lists.isReadAlone(conversation(id)));
  expect(alone).toEqual(['a']);
});

test('a conversation that is read alone and cannot be read holds up no other', async () => {
  const { read } = withOneTooLarge();
  await read(['a', 'b', 'c']);
  expect(await read(['b', 'c'], ['a'])).toEqual(['for b', 'for c']);
});
