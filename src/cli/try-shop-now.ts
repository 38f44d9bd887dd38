import type { Command } from 'commander';
import { counted } from '../runtime/counted.ts';
import { isServed } from '../spool/data-folder.ts';
import { type PartTrial, type ShopTrial, tryShop } from '../spool/try-shop.ts';
import { CommandFailed } from './exit-codes.ts';
import { interruptible } from './interruption.ts';
import { jsonText } from './json.ts';
import type { ShopsOptions } from './list-shops.ts';
import { withSpool } from './open-spool.ts';
import type { ProcessEvents } from './process-end.ts';
import { saying } from './progress.ts';
import { iso } from './queue-entry.ts';
import { PART_WORDS } from './shop-words.ts';
import { printableLine, type Terminal } from './terminal.ts';
import { shortSpan } from './time-argument.ts';

const TIMEOUT_MS = 15_000;
const NO_GATEWAY = 'no gateway runs on this data folder; it is tried when one starts';
const PAUSED = 'delivery is paused in the configuration (delivery.paused): nothing is tried';

/**
 * `shops try`: has the gateway try a shop, waits for what comes of it, and says so.
 * @throws {CommandFailed} it does not deliver, or nobody could try
 */
export async function tryShopNow(
  name: string,
  options: ShopsOptions,
  command: Command,
  terminal: Terminal,
  events: ProcessEvents,
): Promise<void> {
  await withSpool(command, terminal, async (open) => {
    const { config, spool, shopName } = open;
    const shopId = open.shopId(name);
    const shop = shopName(shopId);
    if (!isServed(config.dataDir) || config.delivery.paused) {
      await spool.requestProbe(shopId);
      await open.audit('try', shop, 'asked for');
      if (options.json) terminal.out(`${jsonText({ shop, outcome: 'not_tried' }, 2)}\n`);
      throw new CommandFailed(config.delivery.paused ? PAUSED : NO_GATEWAY);
    }
    const line = saying(terminal, `waiting for what comes of trying ${shop}`);
    let trial: ShopTrial;
    try {
      trial = await interruptible(events, (signal) =>
        tryShop(spool, shopId, { timeoutMs: TIMEOUT_MS, signal }),
      );
    } finally {
      line.end();
    }
    const { outcome, words, ok } = resultOf(trial, Date.now());
    await open.audit('try', shop, outcome.replaceAll('_', ' '));
    if (options.json) terminal.out(`${jsonText(trialJson(shop, outcome, trial), 2)}\n`);
    const told = printableLine(`${shop}: ${words}`);
    if (!ok) throw new CommandFailed(told);
    if (!options.json) terminal.out(`${told}\n`);
  });
}

type TrialOutcome = 'flows' | PartTrial['outcome'];

/** What a trial comes to as a whole, in a word and in a sentence. */
export function resultOf(
  trial: ShopTrial,
  now: number,
): { readonly outcome: TrialOutcome; readonly words: string; readonly ok: boolean } {
  const { parts } = trial;
  const bad = parts.filter(({ outcome }) => outcome === 'failed' || outcome === 'no_answer');
  const alike = trial.refusedAlike.map(({ words, over }) =>
    over ? `no longer refused: ${words}` : `messages are still refused alike: ${words}`,
  );
  const isRefused = trial.refusedAlike.some(({ over }) => !over);
  const [worst] = bad;
  const sentence = worst === undefined ? wellWords(trial) : bad.map((each) => badWords(each, now));
  return {
    outcome: worst?.outcome ?? wellOutcome(trial),
    words: [sentence, alike].flat().join('; '),
    ok: worst === undefined && !isRefused,
  };
}

function wellOutcome({ parts }: ShopTrial): 'flows' | 'delivered' | 'nothing_to_try' {
  if (parts.length === 0) return 'flows';
  return parts.some(({ outcome }) => outcome === 'delivered') ? 'delivered' : 'nothing_to_try';
}

function wellWords(trial: ShopTrial): string {
  const { waiting, released } = trial;
  switch (wellOutcome(trial)) {
    case 'nothing_to_try':
      return 'nothing waits; nothing was tried';
    case 'delivered':
      return waiting === 0
        ? 'delivered; nothing waits any more'
        : `delivered; ${counted(waiting, 'message goes', 'messages go')} out`;
    case 'flows':
      if (released > 0) {
        const were = counted(released, 'message that waited', 'messages that waited');
        return `messages flow; ${were} for the next attempt ${released === 1 ? 'goes' : 'go'} now`;
      }
      return waiting === 0
        ? 'messages flow; nothing waits'
        : `messages flow; ${counted(waiting, 'is', 'are')} on the way`;
  }
}

function badWords({ part, outcome, reason, nextProbeAt }: PartTrial, now: number): string {
  const what = part === 'media' ? `${PART_WORDS[part]} are ` : '';
  if (outcome === 'no_answer') {
    return `${what}still tried after ${TIMEOUT_MS / 1000} s; see what comes of it with: sluice shops`;
  }
  const why = reason === undefined ? '' : `: ${reason}`;
  const next =
    nextProbeAt === undefined
      ? ''
      : `; next try in ${shortSpan(Math.max(1000, nextProbeAt - now))}`;
  return `${what}still refused${why}${next}`;
}

function trialJson(shop: string, outcome: TrialOutcome, trial: ShopTrial): object {
  return {
    ...{ shop, outcome, released: trial.released, waiting: trial.waiting },
    parts: trial.parts.map(({ nextProbeAt, ...part }) => ({
      ...part,
      ...(nextProbeAt !== undefined && { nextTryAt: iso(nextProbeAt) }),
    })),
    refusedAlike: trial.refusedAlike,
  };
}
