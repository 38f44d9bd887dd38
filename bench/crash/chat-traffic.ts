import { randomUUID } from 'node:crypto';
import { ChatClient } from '../../test/support/chat-client.ts';
import { CHAT_KEY } from '../../test/support/gateway-config.ts';
import { markerOf } from './ledger.ts';
import { pause, type Traffic, waitToRetry } from './traffic.ts';

const RETRY_MS = 100;

/**
 * A visitor with an outbox: one message in flight, sent while connected and resent with the same id
 * until it is acknowledged.
 * @returns the visitor's tab, still open, with everything that it was shown
 */
export async function chat(httpUrl: string, lane: string, traffic: Traffic): Promise<ChatClient> {
  const client = await connected(httpUrl, traffic);
  const { visitorId } = client.session;
  for (let nth = 0; !traffic.stopped.aborted; nth += 1) {
    const marker = markerOf(lane, nth);
    const id = randomUUID();
    const remoteId = `chat:${visitorId}:${id}`;
    const sent = traffic.ledger.add({
      ...{ channel: 'web_chat', lane, nth, marker, remoteId, files: [] },
    });
    sent.tries += 1;
    await client.deliver(`Where is my order? ${marker}`, id, traffic.gaveUp);
    sent.acknowledged = true;
    await pause(traffic);
  }
  return client;
}

/** The first connection: without a session there is no visitor yet. */
async function connected(url: string, traffic: Traffic): Promise<ChatClient> {
  for (;;) {
    const client = new ChatClient({ url, auth: { key: CHAT_KEY }, reconnect: true });
    try {
      await client.open();
      return client;
    } catch {
      client.close();
      await waitToRetry(traffic, RETRY_MS);
    }
  }
}
