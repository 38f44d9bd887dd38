import type { ChatVisitor, Said, ShownLine, VisitorOptions, VisitorTab } from './chat-visitors.ts';

/**
 * The parts of the widget's engine that are used here. Its own types speak of the browser, and are
 * compiled apart: so it is loaded by its address, and described here.
 */
interface WidgetLine extends Omit<ShownLine, 'seq'> {
  readonly seq?: number;
  readonly state: string;
}
interface Signal<T> {
  readonly value: T;
  subscribe(listener: (value: T) => void): () => void;
}
interface WidgetChat {
  readonly connection: Signal<{ readonly state: string }>;
  readonly session: Signal<{ readonly visitorId: string } | undefined>;
  readonly lines: Signal<readonly WidgetLine[]>;
  readonly older: Signal<string>;
  start(): void;
  setDraft(text: string): void;
  send(): string | undefined;
  loadOlder(): Promise<void>;
  newConversation(): Promise<boolean>;
  stop(): void;
}
interface PageStorage {
  readonly window: EventTarget;
}
interface BrowserStorage {
  page(): PageStorage;
  close(page: PageStorage): void;
}
interface Engine {
  readonly createChat: (options: object) => WidgetChat;
  readonly BrowserStorage: new () => BrowserStorage;
}

const ENGINE = new URL('../../src/widget/engine/create-chat.ts', import.meta.url).href;
const STORAGE = new URL('../widget/engine/browser-storage.ts', import.meta.url).href;

/** Loads the widget's engine as it is in the source. */
async function loadEngine(): Promise<Engine> {
  // Described above; a difference fails the first test that runs a visitor.
  const { createChat } = (await import(ENGINE)) as Pick<Engine, 'createChat'>;
  const { BrowserStorage } = (await import(STORAGE)) as Pick<Engine, 'BrowserStorage'>;
  return { createChat, BrowserStorage };
}

/** A visitor whose tabs run the widget's own engine, on one browser's storage. */
export class WidgetVisitor implements ChatVisitor {
  readonly #options: VisitorOptions;
  readonly #engine: Engine;
  readonly #storage: BrowserStorage;
  readonly #said: Said[] = [];
  readonly #tabs = new Set<WidgetTab>();

  private constructor(options: VisitorOptions, engine: Engine) {
    this.#options = options;
    this.#engine = engine;
    this.#storage = new engine.BrowserStorage();
  }

  static async create(options: VisitorOptions): Promise<WidgetVisitor> {
    return new WidgetVisitor(options, await loadEngine());
  }

  get visitorId(): string | undefined {
    return this.tabs.map(({ visitorId }) => visitorId).find((id) => id !== undefined);
  }

  get tabs(): readonly WidgetTab[] {
    return [...this.#tabs];
  }

  /** What the tabs show tells what was acknowledged: only then has a line a number. */
  get said(): readonly Said[] {
    const open = this.#said.filter(({ seq }) => seq === undefined);
    const shown = open.length === 0 ? [] : this.tabs.flatMap((tab) => tab.shown);
    for (const each of open) {
      const line = shown.find(({ from, text }) => from === 'visitor' && text === each.text);
      if (line !== undefined) Object.assign(each, { id: line.id, seq: line.seq });
    }
    return this.#said;
  }

  get isSettled(): boolean {
    return this.said.every(({ seq }) => seq !== undefined);
  }

  openTab(): WidgetTab {
    const page = this.#storage.page();
    const { url, key, ackTimeoutMs = 5_000, reconnectMs = [50, 1_000] } = this.#options;
    const chat = this.#engine.createChat({
      ...{ gatewayUrl: url, key, storage: page, page: page.window },
      timing: {
        ...{ ackTimeoutMs, leaseMs: 1_000, connectTimeoutMs: ackTimeoutMs },
        ...{ reconnectMs: reconnectMs[0], maxReconnectMs: reconnectMs[1] },
      },
    });
    const tab = new WidgetTab(chat, () => {
      this.#storage.close(page);
      this.#tabs.delete(tab);
    });
    this.#tabs.add(tab);
    return tab;
  }

  say(text: string): void {
    const [tab] = this.tabs;
    const refusal = tab?.say(text);
    if (tab === undefined || refusal !== undefined) throw new Error(refusal ?? 'no tab is open');
    this.#said.push({ text, id: undefined, seq: undefined });
  }

  async newConversation(): Promise<void> {
    await this.tabs.find(({ isOnline }) => isOnline)?.newConversation();
  }

  close(): void {
    for (const tab of this.#tabs) tab.close();
  }
}

class WidgetTab implements VisitorTab {
  readonly faults: string[] = [];
  readonly #chat: WidgetChat;
  readonly #ends: (() => void)[];

  constructor(chat: WidgetChat, onClose: () => void) {
    this.#chat = chat;
    this.#ends = [
      chat.lines.subscribe((lines) => this.#check(lines)),
      // As somebody does who scrolls to the top.
      chat.older.subscribe((older) => {
        if (older === 'some') setImmediate(() => void chat.loadOlder());
      }),
      () => chat.stop(),
      onClose,
    ];
    chat.start();
  }

  get isOnline(): boolean {
    return this.#chat.connection.value.state === 'online';
  }

  get visitorId(): string | undefined {
    return this.#chat.session.value?.visitorId;
  }

  get shown(): readonly ShownLine[] {
    return this.#chat.lines.value.flatMap(({ seq, id, from, text }) =>
      seq === undefined ? [] : [{ seq, id, from, text }],
    );
  }

  /** @returns why not */
  say(text: string): string | undefined {
    this.#chat.setDraft(text);
    return this.#chat.send();
  }

  newConversation(): Promise<boolean> {
    return this.#chat.newConversation();
  }

  close(): void {
    for (const end of this.#ends.splice(0)) end();
  }

  /** At no moment is a line shown twice, before an earlier one, or after a hole. */
  #check(lines: readonly WidgetLine[]): void {
    const seqs = lines.flatMap(({ seq }) => seq ?? []);
    const [lowest = 0] = seqs;
    if (seqs.some((seq, index) => seq !== lowest + index)) {
      this.faults.push(`showed the lines ${seqs.join(' ')}`);
    }
    const ids = lines.map(({ id }) => id);
    if (new Set(ids).size !== ids.length) this.faults.push('showed a line twice');
  }
}
