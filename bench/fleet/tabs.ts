import { setTimeout as delay } from 'node:timers/promises';
import type { MessageEvent } from '../../src/channels/chat/events.ts';
import { ChatClient } from '../../test/support/chat-client.ts';
import type { Dice } from '../../test/support/dice.ts';
import { CHAT_KEY } from '../../test/support/gateway-config.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { FleetGateway } from './gateways.ts';

const ARRIVED_WITHIN_MS = 60_000;
/** In milliseconds: up to. */
const STAYS = 300;
const AWAY = 200;

export const replyTo = (question: string): string => `About: ${question}`;

interface StayingTab {
  readonly door: FleetGateway;
  readonly client: ChatClient;
  /** When each reply came, by its text. */
  readonly arrivals: Map<string, number>;
}

/** A visitor with a tab at each gateway, who asks at one after the other. */
export class Asker {
  readonly tabs: readonly StayingTab[];
  readonly #name: string;
  #asked = 0;

  private constructor(name: string, tabs: readonly StayingTab[]) {
    this.#name = name;
    this.tabs = tabs;
  }

  static async open(name: string, doors: readonly FleetGateway[]): Promise<Asker> {
    const tabs: StayingTab[] = [];
    for (const door of doors) {
      const token = tabs[0]?.client.session.token;
      const client = new ChatClient({
        ...{ url: door.httpUrl, auth: { key: CHAT_KEY, ...(token && { token }) } },
      });
      const arrivals = new Map<string, number>();
      client.socket.on('message', ({ from, text }) => {
        if (from === 'agent' && !arrivals.has(text)) arrivals.set(text, Date.now());
      });
      await client.open();
      tabs.push({ door, client, arrivals });
    }
    return new Asker(name, tabs);
  }

  /** Resolves with the reply's text when all tabs have it. */
  async ask(): Promise<string> {
    this.#asked += 1;
    const question = `Question ${this.#asked} of ${this.#name}`;
    await this.tabs[this.#asked % this.tabs.length]?.client.deliver(question);
    const reply = replyTo(question);
    await waitUntil(`"${reply}" at all gateways`, ARRIVED_WITHIN_MS, () =>
      this.tabs.every(({ arrivals }) => arrivals.has(reply)) ? true : undefined,
    );
    return reply;
  }

  get token(): string {
    return this.tabs[0]?.client.session.token ?? '';
  }

  /** The lines of the first tab, each as it came. */
  get lines(): readonly MessageEvent[] {
    return this.tabs[0]?.client.messages ?? [];
  }

  /** How many tabs did not get each line once, in the order of the first one. */
  get differing(): number {
    const wanted = recordOf(this.lines);
    return this.tabs.filter(
      ({ client: { messages } }) => recordOf(messages) !== wanted || !isWhole(messages),
    ).length;
  }

  close(): void {
    for (const { client } of this.tabs) client.close();
  }
}

/** One more tab, which leaves a gateway and comes back at the next one, again and again. */
export class Roamer {
  readonly lines: MessageEvent[] = [];
  reconnects = 0;
  readonly #asker: Asker;
  readonly #doors: readonly FleetGateway[];
  readonly #dice: Dice;

  constructor(asker: Asker, doors: readonly FleetGateway[], dice: Dice) {
    this.#asker = asker;
    this.#doors = doors;
    this.#dice = dice;
  }

  async roam(over: AbortSignal): Promise<void> {
    while (!over.aborted) {
      const client = await this.#connect();
      await delay(this.#dice.below(STAYS));
      // What is on its way is lost with the connection.
      client.close();
      await delay(this.#dice.below(AWAY));
      this.reconnects += 1;
    }
  }

  /** Comes back once more. @returns how many lines the tab missed, or got again or out of order */
  async faults(): Promise<number> {
    const client = await this.#connect();
    const last = this.#asker.lines.at(-1)?.seq ?? 0;
    const isThere = () => ((this.lines.at(-1)?.seq ?? 0) >= last ? true : undefined);
    await waitUntil('the last line', ARRIVED_WITHIN_MS, isThere).catch(() => undefined);
    client.close();
    const seen = new Set(this.lines.map(({ seq }) => seq));
    const missed = this.#asker.lines.filter(({ seq }) => !seen.has(seq)).length;
    return missed + this.lines.filter(({ seq }, place) => seq !== place + 1).length;
  }

  async #connect(): Promise<ChatClient> {
    const door = this.#doors[this.reconnects % this.#doors.length];
    if (door === undefined) throw new RangeError('no door');
    const lastSeq = this.lines.at(-1)?.seq ?? 0;
    const auth = { key: CHAT_KEY, token: this.#asker.token, lastSeq };
    const client = new ChatClient({ url: door.httpUrl, auth });
    client.socket.on('message', (line) => this.lines.push(line));
    await client.open();
    return client;
  }
}

const recordOf = (lines: readonly MessageEvent[]): string =>
  JSON.stringify(lines.map(({ seq, from, text }) => [seq, from, text]));

const isWhole = (lines: readonly MessageEvent[]): boolean =>
  lines.every(({ seq }, place) => seq === place + 1);
