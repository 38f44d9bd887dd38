import { expect, test } from '@jest/globals';
import {
  type Reading,
  readMessages,
} from '../../../../src/channels/chat/replies/message-reader.ts';
import { Pacer } from '../../../../src/channels/chat/replies/pacer.ts';
import { SHOP } from '../../../support/entries.ts';
import { ListedMessages } from './listed-messages.ts';
import { aReply } from './platform-messages.ts';

const HOUR = 3_600_000;

/** A conversation of replies, each to a message that was delivered an hour after it was written. */
function conversation(): ListedMessages {
  const source = new ListedMessages();
  for (let index = 0; index < 20; index += 1) {
    const repliedAt = Date.UTC(2026, 0, 2) + index * 1000;
    const written = new Date(repliedAt - HOUR).toISOString();
    source.add(
      aReply({ conversation_id: 'c', agent_id: null, role: 'customer', created_at: written }),
    );
    source.add(aReply({ conversation_id: 'c', created_at: new Date(repliedAt).toISOString() }));
  }
  return source;
}

const read = (source: ListedMessages, change: Partial<Reading>) =>
  readMessages(
    {
      ...{ shopId: SHOP, conversationIds: ['c'], urgency: 'usual', thorough: false },
      ...{ isKnown: () => true, backTo: Date.UTC(2026, 0, 2, 0, 0, 19) },
      ...change,
    },
    { source, pacer: new Pacer(1_000_000), maxPages: 100, requestTimeoutMs: 60_000 },
    AbortSignal.timeout(60_000),
  );

test('times of writing do not hide that a list is newest first', async () => {
  const source = conversation();
  expect(await read(source, {})).toMatchObject({ isWhole: false });
  expect(source.requests).toHaveLength(1);
});

test('an old time of writing does not say that a list was read far enough back', async () => {
  const source = conversation();
  await read(source, { backTo: Date.UTC(2026, 0, 2, 0, 0, 10) });
  expect(source.requests.length).toBeGreaterThan(5);
});
