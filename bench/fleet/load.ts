import { setTimeout as delay } from 'node:timers/promises';
import type { Channel } from '../../src/domain/channel.ts';
import { Dice } from '../../test/support/dice.ts';
import { seededRandom } from '../../test/support/random-faults.ts';
import { Ledger } from '../crash/ledger.ts';
import { type Customer, mailServer, type Message, phone, Visitor } from './customers.ts';
import type { Door } from './gateways.ts';

const LANES = 60;
const COPY_PERCENT = 20;
/** Of the copies: sent while the first is still on its way. */
const AT_ONCE_PERCENT = 50;
/** A customer who is refused tries again after this time, and up to twice as long. */
const AGAIN_AFTER_MS = 500;

export interface LoadOptions {
  readonly doors: readonly Door[];
  readonly messages: number;
  /** In which the messages are sent, if the gateways take them in time. */
  readonly overMs: number;
  readonly seed: number;
  /** Whether messages are sent twice, each time at another door. */
  readonly copies: boolean;
}

interface ChannelCounts {
  acknowledged: number;
  /** From the first try to the acknowledgement. */
  slowestMs: number;
  /** Copies that were acknowledged by another door than the first. */
  copies: number;
  /** Tries that were not acknowledged, by their answer. */
  readonly refused: Map<string, number>;
}

/** Customers on three channels, each of whom sends a message only when the one before is acknowledged. */
export class Load {
  readonly ledger = new Ledger();
  readonly visitors: Visitor[] = [];
  readonly counts: Readonly<Record<Channel, ChannelCounts>> = {
    email: { acknowledged: 0, slowestMs: 0, copies: 0, refused: new Map() },
    sms: { acknowledged: 0, slowestMs: 0, copies: 0, refused: new Map() },
    web_chat: { acknowledged: 0, slowestMs: 0, copies: 0, refused: new Map() },
  };
  readonly #options: LoadOptions;
  readonly #copying: Promise<void>[] = [];

  constructor(options: LoadOptions) {
    this.#options = options;
  }

  /** Resolves when every message and every copy is acknowledged. */
  async run(): Promise<void> {
    const { seed, messages, doors } = this.#options;
    const lanes = Math.min(LANES, Math.ceil(messages / 30));
    const customers: [Customer, Dice][] = [];
    for (let n = 0; n < lanes; n += 1) {
      const visitor = new Visitor(`chat-${n}`, this.ledger);
      await visitor.open(doorAt(doors, n));
      this.visitors.push(visitor);
      const random = seededRandom(seed * 1000 + n);
      customers.push(
        [mailServer(`mail-${n}`, this.ledger, random), Dice.of(seed * 1000 + n)],
        [phone(`text-${n}`, this.ledger), Dice.of(seed * 1000 + 200 + n)],
        [visitor, Dice.of(seed * 1000 + 400 + n)],
      );
    }
    const count = customers.length;
    await Promise.all(
      customers.map(([customer, dice], n) =>
        this.#converse(customer, dice, Math.floor((messages + n) / count)),
      ),
    );
    await Promise.all(this.#copying);
  }

  async #converse(customer: Customer, dice: Dice, messages: number): Promise<void> {
    const { doors, copies, overMs } = this.#options;
    const startedAt = performance.now();
    let at = dice.below(doors.length);
    for (let nth = 0; nth < messages; nth += 1) {
      const dueAt = startedAt + ((nth + dice.below(1000) / 1000) * overMs) / messages;
      await delay(Math.max(0, dueAt - performance.now()));
      if (!customer.isConnected) at = dice.below(doors.length);
      const message = customer.write(nth);
      const isCopied = copies && dice.chance(COPY_PERCENT);
      const isAtOnce = dice.chance(AT_ONCE_PERCENT);
      const copyAt = at + 1 + dice.below(doors.length - 1);
      const copied = isCopied && isAtOnce ? this.#copy(message, copyAt, dice) : undefined;
      at = await this.#deliver(message, at, dice);
      if (isCopied)
        this.#copying.push(this.#compare(message, at, copied ?? this.#copy(message, at + 1, dice)));
    }
  }

  /** @returns the number of the door that acknowledged it */
  async #deliver({ sent, send }: Message, from: number, dice: Dice): Promise<number> {
    const { doors } = this.#options;
    const counts = this.counts[sent.channel];
    const begunAt = performance.now();
    for (let at = from; ; at += 1) {
      sent.tries += 1;
      const refusal = await send(doorAt(doors, at));
      if (refusal === undefined) {
        sent.acknowledged = true;
        counts.acknowledged += 1;
        counts.slowestMs = Math.max(counts.slowestMs, performance.now() - begunAt);
        return at % doors.length;
      }
      counts.refused.set(refusal, (counts.refused.get(refusal) ?? 0) + 1);
      await delay(AGAIN_AFTER_MS + dice.below(AGAIN_AFTER_MS));
    }
  }

  async #copy({ sendCopy }: Message, from: number, dice: Dice): Promise<number> {
    const { doors } = this.#options;
    for (let at = from; ; at += 1) {
      if ((await sendCopy(doorAt(doors, at))) === undefined) return at % doors.length;
      await delay(AGAIN_AFTER_MS + dice.below(AGAIN_AFTER_MS));
    }
  }

  /** Sends it once more if both were acknowledged by the same door. */
  async #compare(message: Message, first: number, copied: Promise<number>): Promise<void> {
    let at = await copied;
    const { doors } = this.#options;
    for (let tries = 0; at === first && tries < doors.length; tries += 1) {
      if ((await message.sendCopy(doorAt(doors, first + 1 + tries))) === undefined) {
        at = (first + 1 + tries) % doors.length;
      }
    }
    if (at !== first) this.counts[message.sent.channel].copies += 1;
  }
}

function doorAt(doors: readonly Door[], n: number): Door {
  const door = doors[n % doors.length];
  if (door === undefined) throw new RangeError('no door');
  return door;
}
