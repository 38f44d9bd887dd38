import { setMaxListeners } from 'node:events';
import type { ChatClient } from '../../test/support/chat-client.ts';
import { seededRandom } from '../../test/support/random-faults.ts';
import { countUndelivered, withSpool } from '../../test/support/spool-beside.ts';
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
  /** Number of lanes per channel. */
  readonly lanes: number;
  readonly meanPauseMs: number;
  /** The share of encrypted mail connections; default 0.3. */
  readonly encryptedShare?: number;
}

export interface Load {
  readonly ledger: Ledger;
  /** Stops new messages; resolves with the chat tabs when the last one has been answered. */
  finish(): Promise<ChatClient[]>;
}

/** Starts senders on all three channels, `lanes` each. */
export function startLoad(bench: Workbench, gateway: LoadTarget, options: LoadOptions): Load {
  const { seed, lanes, meanPauseMs, encryptedShare = 0.3 } = options;
  const ledger = new Ledger();
  const stop = new AbortController();
  const giveUp = new AbortController();
  // Every lane adds a listener, which is not a leak.
  setMaxListeners(0, stop.signal, giveUp.signal);
  bench.onEnd('load', () => giveUp.abort());
  // A random source per lane, so that lanes do not influence each other.
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
  // Awaited in finish(), which an earlier failure may prevent.
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

/** Waits for an empty queue. Returns a line if entries are not delivered in time or never. */
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
