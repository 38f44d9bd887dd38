import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { ends } from '../../support/ends.ts';

export interface HookMessage {
  readonly text: string;
  readonly attachments: readonly { readonly color: string; readonly title: string; text: string }[];
}

export interface WebhookStandIn {
  /** With a token in its path, as Slack's have. */
  readonly url: string;
  readonly taken: HookMessage[];
  readonly requests: number;
  /** The next answers; `hang` never comes, 429 asks for a minute, as a date. Without any, 200. */
  answerNext(...answers: readonly (number | 'hang')[]): void;
}

export const TOKEN = 'T0-canary-of-the-webhook';

/** A server in the place of Slack's incoming webhooks. It ends with the test. */
export async function startWebhook(): Promise<WebhookStandIn> {
  const taken: HookMessage[] = [];
  const script: (number | 'hang')[] = [];
  let requests = 0;
  const server = createServer((request, response) => {
    const answer = async (): Promise<void> => {
      const body = await text(request);
      requests += 1;
      const next = script.shift() ?? 200;
      if (next === 'hang') return;
      // Only what is sent here in this test.
      if (next === 200) taken.push(JSON.parse(body) as HookMessage);
      response.writeHead(next, {
        ...(next === 302 && { location: 'http://127.0.0.1:9/' }),
        ...(next === 429 && { 'retry-after': new Date(Date.now() + 90_000).toUTCString() }),
      });
      response.end(next === 200 ? 'ok' : 'invalid_token');
    };
    answer().catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends(() => {
    server.closeAllConnections();
    server.close();
  });
  // A listening TCP server has an AddressInfo.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/services/${TOKEN}`,
    taken,
    get requests() {
      return requests;
    },
    answerNext: (...answers) => void script.push(...answers),
  };
}
