import type { Chat, ChatOptions } from '../../../src/widget/engine/chat.ts';
import { createChat } from '../../../src/widget/engine/create-chat.ts';
import { ends } from '../../support/ends.ts';
import { waitFor } from '../../support/wait-for.ts';
import { BrowserStorage, type PageStorage } from './browser-storage.ts';

export interface Tab {
  readonly chat: Chat;
  readonly storage: PageStorage;
  /** Every list of lines that was ever shown. */
  readonly shown: (readonly string[])[];
  /** Ends the page without events, like a crash of the browser. */
  crash(): void;
  /** As a page that is left. */
  close(): void;
}

/** Shorter times than in production. */
export const HURRY = { reconnectMs: 40, maxReconnectMs: 200, seenMs: 10 };

/** A browser with one origin's storage, and pages that show the widget. */
export class Browser {
  readonly storage = new BrowserStorage();
  readonly #gatewayUrl: string;
  readonly #options: Partial<ChatOptions>;

  constructor(gatewayUrl: string, options: Partial<ChatOptions> = {}) {
    this.#gatewayUrl = gatewayUrl;
    this.#options = options;
  }

  /** A page that is connected. */
  async open(options: Partial<ChatOptions> = {}): Promise<Tab> {
    const tab = this.page(options);
    tab.chat.start();
    await online(tab);
    return tab;
  }

  /** A page that has not connected yet. */
  page(options: Partial<ChatOptions> = {}): Tab {
    const storage = this.storage.page();
    const chat = createChat({
      ...{ gatewayUrl: this.#gatewayUrl, key: 'demo', storage, page: storage.window },
      ...this.#options,
      ...options,
      timing: { ...HURRY, ...this.#options.timing, ...options.timing },
    });
    const shown: (readonly string[])[] = [];
    const unsubscribe = chat.lines.subscribe((lines) => shown.push(lines.map(({ text }) => text)));
    const end = (): void => {
      unsubscribe();
      this.storage.close(storage);
      chat.stop();
    };
    ends(end);
    return {
      ...{ chat, storage, shown },
      crash: () => {
        // What it would still write is lost with it.
        storage.freeze();
        end();
      },
      close: () => {
        storage.window.dispatchEvent(new Event('pagehide'));
        end();
      },
    };
  }
}

export const online = ({ chat }: Tab): Promise<unknown> =>
  waitFor('the connection', () => chat.connection.value.state === 'online');

/** Writes and sends. */
export function say({ chat }: Tab, text: string): void {
  chat.setDraft(text);
  const refusal = chat.send();
  if (refusal !== undefined) throw new Error(`not sent: ${refusal}`);
}

export const textsOf = ({ chat }: Tab): string[] => chat.lines.value.map(({ text }) => text);

/** Resolves when the tab shows exactly these lines, each of them numbered. */
export const shows = (tab: Tab, texts: readonly string[]): Promise<unknown> =>
  waitFor(`the lines ${texts.join(', ')}; there are ${textsOf(tab).join(', ')}`, () => {
    const lines = tab.chat.lines.value;
    return (
      lines.length === texts.length &&
      lines.every(({ seq, text }, index) => seq !== undefined && text === texts[index])
    );
  });
