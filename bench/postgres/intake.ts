import type { NewEntry } from '../../src/spool/entry.ts';
import { anEntry } from '../../test/support/entries.ts';
import { median } from '../support/statistics.ts';

const PRODUCERS = 50;
const BYTES = 2048;

/** The intake's port of a store. */
interface Intake {
  accept(entries: readonly NewEntry[]): Promise<unknown>;
}

const raw = { kind: 'inline', bytes: Buffer.alloc(BYTES, 'x') } as const;
const summary = {
  from: 'Ann <ann@example.com>',
  to: 'help@shop.example',
  subject: 'Hello',
  more: '',
};
const mail = () => anEntry({ channel: 'email', raw, summary });

/** Durable accepts a second, of producers that each wait for theirs before the next. */
export async function acceptsPerSecond(spool: Intake, messages: number): Promise<number> {
  const entries = Array.from({ length: messages }, mail);
  const begunAt = performance.now();
  const produce = async () => {
    for (let entry = entries.pop(); entry !== undefined; entry = entries.pop()) {
      await spool.accept([entry]);
    }
  };
  await Promise.all(Array.from({ length: PRODUCERS }, produce));
  return messages / ((performance.now() - begunAt) / 1000);
}

/** The median of accepts that come one after the other, in milliseconds. */
export async function loneAcceptMs(spool: Intake, messages: number): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < messages; n += 1) {
    const entry = mail();
    const begunAt = performance.now();
    await spool.accept([entry]);
    times.push(performance.now() - begunAt);
  }
  return median(times);
}
