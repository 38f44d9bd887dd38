import type { MessageEvent } from '../../src/channels/chat/events.ts';
import { HeadlessVisitor } from '../../test/support/chat-visitors.ts';
import { timeOfDay, waitUntil } from '../support/wait-until.ts';

const WITHIN_MS = 120_000;
const AT_ONCE = 25;

/** Visitors with open tabs who ask questions, and the times at which the replies arrive. */
export function start() {
  const visitors: HeadlessVisitor[] = [];
  /** By the reply's text. */
  const arrivals = new Map<string, number>();
  const onLine = ({ from, text }: MessageEvent): void => {
    if (from === 'agent') arrivals.set(text, timeOfDay());
  };
  const settled = (some: readonly HeadlessVisitor[]): Promise<true> =>
    waitUntil('acknowledgements', WITHIN_MS, () =>
      some.every(({ isSettled, visitorId }) => isSettled && visitorId !== undefined)
        ? true
        : undefined,
    );
  return Promise.resolve({
    /** Each visitor opens a tab and asks a question. */
    open: async (port: number, key: string, count: number, question: string): Promise<void> => {
      while (visitors.length < count) {
        const burst = Array.from(
          { length: Math.min(AT_ONCE, count - visitors.length) },
          () => new HeadlessVisitor({ url: `http://127.0.0.1:${port}`, key, onLine }),
        );
        for (const visitor of burst) {
          visitor.openTab();
          visitor.say(question);
        }
        await settled(burst);
        visitors.push(...burst);
      }
    },
    /** The first `count` visitors ask another question. */
    ask: async (count: number, question: string): Promise<void> => {
      const some = visitors.slice(0, count);
      for (const visitor of some) visitor.say(question);
      await settled(some);
    },
    /** The times of day at which these replies arrived, once all have arrived. */
    arrived: (texts: readonly string[]): Promise<number[]> =>
      waitUntil(`${texts.length} replies`, WITHIN_MS, () => {
        const times = texts.flatMap((text) => arrivals.get(text) ?? []);
        return times.length === texts.length ? times : undefined;
      }),
    faults: () => visitors.flatMap(({ tabs }) => tabs.flatMap(({ faults }) => faults)),
    close: () => {
      for (const visitor of visitors) visitor.close();
    },
  });
}
