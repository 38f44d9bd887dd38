import type { Message } from '../../src/platform-api/resources.ts';
import { createdAt } from '../../src/channels/chat/replies/platform-message.ts';

export interface ShownReply {
  readonly createdAt: number;
  /** When the answer with it went to the gateway; undefined before. */
  polledAt: number | undefined;
  /** The address at which that gateway asks the platform. */
  readonly poller: string;
}

/**
 * Shows each reply to one gateway alone, to each in turn. Otherwise a gateway may poll by itself what another one has
 * polled before, and nobody could say how it came to a tab.
 */
export class ReplyBoard {
  /** By the text. */
  readonly replies = new Map<string, ShownReply>();
  readonly #pollers: readonly string[];
  #turn = 0;

  constructor(pollers: readonly string[]) {
    this.#pollers = pollers;
  }

  /** What the gateway at this address is shown of a list of messages. */
  shownTo(address: string, list: unknown): unknown {
    // The local platform's own list.
    const { results, ...rest } = list as { readonly results: readonly Message[] };
    const shown = results.filter((message) => {
      if (message.role !== 'agent') return true;
      const reply = this.#replyOf(message);
      if (reply.poller === address) reply.polledAt ??= Date.now();
      return reply.poller === address;
    });
    return { ...rest, results: shown };
  }

  #replyOf(message: Message): ShownReply {
    const text = message.content ?? '';
    const known = this.replies.get(text);
    if (known !== undefined) return known;
    const poller = this.#pollers[(this.#turn += 1) % this.#pollers.length] ?? '';
    const reply = { createdAt: createdAt(message) ?? Number.NaN, polledAt: undefined, poller };
    this.replies.set(text, reply);
    return reply;
  }
}
