import { setMaxListeners } from 'node:events';
import type { ChatClient } from '../../test/support/chat-client.ts';
import { seededRandom } from '../../test/support/random-faults.ts';
import { countUndelivered, withSpool } from '../../test/support/spool-guest.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { Workbench } from '../support/workbench.ts';
import { chat } from './chat-traffic.ts';
import { sendEmails } from './email-traffic.ts';
import { Ledger } from './ledger.ts';
import { sendTexts } from './sms-traffic.ts';
import type { Traffic } from './traffic.ts';

export interface LoadTarget {
  readonly host: string;
  readonly smtpPort: number;
  readonly httpUrl: string;
}

export interface LoadOptions {
  readonly seed: number;
  /** Lanes of each channel. */
  readonly lanes: number;
  readonly meanPauseMs: number;
  /** Of the mail connections; 0.3 without it. */
  readonly encryptedShare?: number;
}

export interface Load {
  readonly ledger: Ledger;
  /** No new messages; resolves with the chat tabs when the last one has been answered. */
  finish(): Promise<ChatClient[]>;
}

/** Starts senders of all three channels, `lanes` of each. */
export function startLoad(bench: Workbench, gateway: LoadTarget, options: LoadOptions): Load {
  const { seed, lanes, meanPauseMs, encryptedShare = 0.3 } = options;
  const ledger = new Ledger();
  const stop = new AbortController();
  const giveUp = new AbortController();
  // Every lane listens, which is no leak.
  setMaxListeners(0, stop.signal, giveUp.signal);
  bench.onEnd('load', () => giveUp.abort());
  // One source of chance for each lane: what one does must not change another's.
  const traffic = (lane: number): Traffic => ({
    ...{ ledger, meanPauseMs, encryptedShare, stopped: stop.signal, gaveUp: giveUp.signal },
    random: seededRandom(seed * 1000 + lane),
  });
  const target = { host: gateway.host, port: gateway.smtpPort };
  const numbers = Array.from({ length: lanes }, (_, n) => n);
  const running = Promise.all([
    Promise.all(numbers.map((n) => sendEmails(target, `mail-${n}`, traffic(n)))),
    Promise.all(numbers.map((n) => sendTexts(gateway.httpUrl, `text-${n}`, traffic(100 + n)))),
    Promise.all(numbers.map((n) => chat(gateway.httpUrl, `chat-${n}`, traffic(200 + n)))),
  ]);
  // It is awaited in finish(), which an earlier failure may never reach.
  running.catch(() => undefined);
  return {
    ledger,
    finish: async () => {
      stop.abort();
      const [, , visitors] = await running;
      return visitors;
    },
  };
}

/** Waits for an empty queue; what is not delivered by then, or for good, is told. */
export function drained(dataDir: string, withinMs: number): Promise<readonly string[]> {
  return withSpool(dataDir, async (spool) => {
    try {
      await waitUntil('the queue to become empty', withinMs, async () =>
        (await countUndelivered(spool)).open === 0 ? true : undefined,
      );
    } catch {
      const { open } = await countUndelivered(spool);
      return [`queue: ${open} entries are not delivered after ${withinMs / 1000} s`];
    }
    const { dead = 0, held = 0, suppressed = 0 } = await countUndelivered(spool);
    const stuck = dead + held + suppressed;
    return stuck === 0 ? [] : [`queue: ${stuck} entries are dead, held or suppressed`];
  });
}
