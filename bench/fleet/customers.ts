import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { ChatClient, ConnectRefused } from '../../test/support/chat-client.ts';
import { CHAT_KEY, INBOX } from '../../test/support/gateway-config.ts';
import { SmtpClient } from '../../test/support/smtp-client.ts';
import { sendSms, sidOf } from '../../test/support/sms-sender.ts';
import { compose } from '../crash/email-traffic.ts';
import { type Ledger, markerOf, type Sent } from '../crash/ledger.ts';
import type { Door } from './gateways.ts';

/** What senders wait for an answer: a mail server for long, Twilio 15 s, the widget 12 s and 15 s. */
const MAIL_MS = 30_000;
const SMS_MS = 15_000;
const CONNECT_MS = 12_000;
const ACK_MS = 15_000;
const LARGE_SHARE = 0.02;
const HISTORY_LINES = 100;

const textOf = (marker: string): string => `Where is my order? ${marker}`;

export interface Message {
  readonly sent: Sent;
  /** Sends it once. Resolves with undefined when it is acknowledged, otherwise with the answer. */
  readonly send: (door: Door) => Promise<string | undefined>;
  /** As `send`, by way of another connection. */
  readonly sendCopy: (door: Door) => Promise<string | undefined>;
}

/** Someone who writes the messages of one lane. */
export interface Customer {
  /** Keeps its connection to a door until that fails. */
  readonly isConnected: boolean;
  write(nth: number): Message;
}

export function mailServer(lane: string, ledger: Ledger, random: () => number): Customer {
  return {
    isConnected: false,
    write: (nth) => {
      const { sent, bytes } = compose(lane, nth, { ledger, random, largeShare: LARGE_SHARE });
      const send = (door: Door) => sendMail(door, `${lane}@sender.example`, bytes);
      return { sent, send, sendCopy: send };
    },
  };
}

async function sendMail(door: Door, sender: string, bytes: string): Promise<string | undefined> {
  let client: SmtpClient;
  try {
    client = await SmtpClient.connect(door.smtpPort, '127.0.0.1', door.host);
  } catch {
    return 'no connection';
  }
  const timer = setTimeout(() => client.destroy(), MAIL_MS);
  try {
    let answer = await client.reply();
    for (const line of [
      'EHLO sender.example',
      `MAIL FROM:<${sender}>`,
      `RCPT TO:<${INBOX}>`,
      'DATA',
      `${bytes}\r\n.`,
    ]) {
      if (!/^[23]/.test(answer)) return answer.slice(0, 3) || 'no answer';
      answer = await client.say(line);
    }
    if (!answer.startsWith('250')) return answer.slice(0, 3) || 'no answer';
    client.send('QUIT\r\n');
    return undefined;
  } finally {
    clearTimeout(timer);
    client.end();
  }
}

export function phone(lane: string, ledger: Ledger): Customer {
  const From = `+1415555${lane.replace(/\D/g, '').padStart(4, '0')}`;
  return {
    isConnected: false,
    write: (nth) => {
      const marker = markerOf(lane, nth);
      const MessageSid = sidOf(marker);
      const Body = textOf(marker);
      const sent = ledger.add({
        ...{ channel: 'sms', lane, nth, marker, remoteId: MessageSid, files: [] },
      });
      const send = async ({ httpUrl }: Door): Promise<string | undefined> => {
        const answer = sendSms(httpUrl, { MessageSid, From, Body }).then(
          ({ status }) => (status === 200 ? undefined : String(status)),
          () => 'no connection',
        );
        return within(SMS_MS, answer);
      };
      return { sent, send, sendCopy: send };
    },
  };
}

/** A visitor with one tab, which reconnects wherever the next attempt goes. */
export class Visitor implements Customer {
  readonly isConnected = true;
  /** What its tab was shown, by number, across all connections. */
  readonly lines = new Map<number, string>();
  readonly lane: string;
  readonly #ledger: Ledger;
  #id = '';
  #token: string | undefined;
  /** There was a hole in what the tab was shown, or one number for two lines. */
  #isTorn = false;
  #tab: { readonly client: ChatClient; readonly door: Door } | undefined;

  constructor(lane: string, ledger: Ledger) {
    this.lane = lane;
    this.#ledger = ledger;
  }

  /** The first connection: without it the visitor has no id. Throws if it fails. */
  async open(door: Door): Promise<void> {
    const { session } = await this.#connected(door);
    this.#id = session.visitorId;
  }

  write(nth: number): Message {
    const marker = markerOf(this.lane, nth);
    const id = randomUUID();
    const remoteId = `chat:${this.#id}:${id}`;
    const text = textOf(marker);
    const sent = this.#ledger.add({
      ...{ channel: 'web_chat', lane: this.lane, nth, marker, remoteId, files: [] },
    });
    return {
      sent,
      send: async (door) => {
        try {
          const failure = await emit(await this.#connected(door), id, text);
          if (failure !== undefined) this.close();
          return failure;
        } catch (error) {
          this.close();
          return reasonOf(error);
        }
      },
      sendCopy: async (door) => {
        try {
          const client = await this.#newClient(door, this.lines.size);
          return await emit(client, id, text).finally(() => client.close());
        } catch (error) {
          return reasonOf(error);
        }
      },
    };
  }

  /** Reads the whole record at this door. @returns whether it and the tab show what was written, in its order */
  async hasAll(door: Door): Promise<boolean> {
    await this.#connected(door);
    const again = await this.#newClient(door, 0);
    try {
      for (let before: number | undefined; ;) {
        const page = await again.history({ before, limit: HISTORY_LINES });
        if (!page.ok) return false;
        again.messages.push(...page.messages);
        before = page.messages[0]?.seq;
        if (!page.more || before === undefined) break;
      }
    } finally {
      again.close();
    }
    const own = this.#ledger.all.filter(({ lane }) => lane === this.lane);
    const wanted = own.map(({ marker }) => textOf(marker)).join('\n');
    const shown = [...this.lines].sort(([one], [other]) => one - other).map(([, text]) => text);
    return !this.#isTorn && again.texts.join('\n') === wanted && shown.join('\n') === wanted;
  }

  close(): void {
    this.#tab?.client.close();
    this.#tab = undefined;
  }

  async #connected(door: Door): Promise<ChatClient> {
    if (this.#tab?.door === door && this.#tab.client.socket.connected) return this.#tab.client;
    this.close();
    const client = await this.#newClient(door, this.lines.size);
    for (const line of client.messages) this.#take(line);
    client.socket.on('message', (line) => this.#take(line));
    this.#token = client.session.token;
    this.#tab = { client, door };
    return client;
  }

  #take({ seq, text }: { readonly seq: number; readonly text: string }): void {
    if (seq > this.lines.size + 1 || (this.lines.get(seq) ?? text) !== text) this.#isTorn = true;
    this.lines.set(seq, text);
  }

  #newClient({ httpUrl: url }: Door, lastSeq: number): Promise<ChatClient> {
    const auth = {
      key: CHAT_KEY,
      ...(this.#token !== undefined && { token: this.#token }),
      lastSeq,
    };
    return ChatClient.connect({ url, auth, connectTimeoutMs: CONNECT_MS });
  }
}

const reasonOf = (error: unknown): string =>
  (error instanceof ConnectRefused ? error.data.code : undefined) ?? 'no connection';

async function emit(client: ChatClient, id: string, text: string): Promise<string | undefined> {
  const ack = client.send(text, { id }).then(
    (answer) => (answer.ok ? undefined : answer.error),
    () => 'no connection',
  );
  return within(ACK_MS, ack);
}

async function within<T>(ms: number, answer: Promise<T>): Promise<T | 'no answer'> {
  const timer = new AbortController();
  const late = delay(ms, 'no answer' as const, { signal: timer.signal });
  late.catch(() => undefined);
  try {
    return await Promise.race([answer, late]);
  } finally {
    timer.abort();
  }
}
