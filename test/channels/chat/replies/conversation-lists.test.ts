import { expect, test } from '@jest/globals';
import { ConversationLists } from '../../../../src/channels/chat/replies/conversation-lists.ts';
import { Pacer } from '../../../../src/channels/chat/replies/pacer.ts';
import { CursorRefused } from '../../../../src/channels/chat/replies/reply-source.ts';
import { silentLogger } from '../../../../src/observability/logger.ts';
import { asVisitorId } from '../../../../src/domain/ids.ts';
import { SHOP } from '../../../support/entries.ts';
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
