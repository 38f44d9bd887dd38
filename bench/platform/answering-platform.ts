import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { timeOfDay } from '../support/wait-until.ts';

interface Stored {
  readonly id: string;
  readonly conversation_id: string;
  readonly agent_id: string | null;
  readonly remote_id: string | null;
  readonly content: string;
  readonly created_at: string;
}

interface Submission {
  readonly conversation?: { readonly id?: string | null };
  readonly message?: { readonly remote_id?: string; readonly content?: string };
}

/** Page sizes as on the local platform: the API does not document them (§8). */
const PAGE = { usual: 50, most: 200 };

/**
 * A platform whose agent replies on command (API §4.5 and §4.7), and which counts requests for
 * messages. Lists are newest first.
 */
export async function start() {
  const platform = new AnsweringPlatform();
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    platform.answer(request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: () => `http://127.0.0.1:${port}`,
    /** The number of conversations with this question. */
    asked: (question: string) => platform.asked(question).length,
    /**
     * Answers each conversation with this question, at random times within `overMs`.
     * @param opening the first words of each reply
     * @returns each reply's text with the time of day from which it is listed
     */
    answer: async (
      question: string,
      overMs: number,
      opening = 'About',
    ): Promise<[text: string, at: number][]> => {
      const all = platform.asked(question).map(async (id, nth): Promise<[string, number]> => {
        await delay(Math.random() * overMs);
        const text = `${opening} "${question}" (${nth})`;
        platform.reply(id, text);
        return [text, timeOfDay()];
      });
      return Promise.all(all);
    },
    listRequests: () => platform.listRequests,
  };
}

class AnsweringPlatform {
  listRequests = 0;
  readonly #messages = new Map<string, Stored[]>();

  asked(question: string): string[] {
    return [...this.#messages]
      .filter(([, messages]) => messages.some(({ content }) => content === question))
      .map(([id]) => id);
  }

  reply(conversationId: string, content: string): void {
    this.#add({
      conversation_id: conversationId,
      agent_id: randomUUID(),
      remote_id: null,
      content,
    });
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, url = '' } = request;
    const { pathname, searchParams } = new URL(url, 'http://platform');
    if (method === 'POST' && pathname === '/v2026-04/messages/') {
      // The benchmark's client follows the API.
      const { conversation, message } = (await json(request)) as Submission;
      const stored = this.#add({
        conversation_id: conversation?.id ?? randomUUID(),
        agent_id: null,
        remote_id: message?.remote_id ?? null,
        content: message?.content ?? '',
      });
      write(response, 201, shown(stored));
    } else if (method === 'GET' && pathname === '/v2026-04/messages/') {
      this.listRequests += 1;
      write(response, 200, this.#list(searchParams));
    } else {
      request.resume();
      write(response, 200, { results: [], next: null, previous: null });
    }
  }

  #add(message: Omit<Stored, 'id' | 'created_at'>): Stored {
    const stored = { ...message, id: randomUUID(), created_at: new Date().toISOString() };
    const conversation = this.#messages.get(message.conversation_id) ?? [];
    conversation.push(stored);
    this.#messages.set(message.conversation_id, conversation);
    return stored;
  }

  #list(query: URLSearchParams): object {
    const ids = query.get('conversation_id__in')?.split(',') ?? [];
    const from = Number(query.get('cursor') ?? 0);
    const all = ids
      .flatMap((id) => this.#messages.get(id) ?? [])
      .sort((one, other) => (one.created_at < other.created_at ? 1 : -1));
    const size = Math.min(Number(query.get('limit') ?? PAGE.usual), PAGE.most);
    const isLast = from + size >= all.length;
    return {
      results: all.slice(from, from + size).map(shown),
      next: isLast ? null : `/v2026-04/messages/?cursor=${from + size}`,
      previous: null,
    };
  }
}

const shown = (stored: Stored): object => ({
  ...stored,
  ticket_id: null,
  contact_id: null,
  user_id: null,
  format: 'TEXT',
  role: stored.agent_id === null ? 'customer' : 'agent',
  type: 'External',
  status: 'DELIVERED',
  updated_at: stored.created_at,
});

function write(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body);
  response
    .writeHead(status, {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(text),
    })
    .end(text);
}
