import { asVisitorId } from '../../../../src/domain/ids.ts';
import type { ChatClient } from '../../../support/chat-client.ts';
import { claimFrom, SHOP } from '../../../support/entries.ts';
import type { ChatGateway } from '../chat-gateway.ts';

/** Delivers what waits, as delivery would: settled, and the conversation remembered. */
export async function deliverAll(chat: ChatGateway, conversationId: string): Promise<void> {
  const { spool } = chat.store;
  for (const { entry, lease } of await claimFrom(spool, SHOP, 10, 60_000)) {
    const lane = { shopId: SHOP, channel: entry.channel, lane: entry.lane };
    await spool.rememberConversation(lane, conversationId);
    const platformMessageId = `own-${entry.id}`;
    await spool.settle(
      lease,
      { state: 'delivered', platformMessageId, conversationId },
      { steps: [] },
    );
    const visitorId = asVisitorId(String(entry.meta['visitorId']));
    const messageId = String(entry.meta['messageId']);
    await chat.server.messageSettled({ shopId: SHOP, visitorId, messageId, state: 'delivered' });
  }
}

/** What the visitor was answered, in the order of his record. */
export const repliesTo = (client: ChatClient): string[] =>
  client.messages.filter(({ from }) => from === 'agent').map(({ text }) => text);
