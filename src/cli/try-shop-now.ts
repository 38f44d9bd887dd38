import type { Command } from 'commander';
import { TRIAL_TIMEOUT_MS, type TrialWords, trialWords } from '../console/trial-words.ts';
import { isServed } from '../spool/locks.ts';
import { tryShop } from '../spool/try-shop.ts';
import type { ShopTrial } from '../domain/shop-trial.ts';
import { CommandFailed } from './exit-codes.ts';
import { interruptible, type ProcessEvents } from './process-end.ts';
import { document } from './json.ts';
import type { ShopsOptions } from './list-shops.ts';
import { withSpool } from './open-spool.ts';
import { statusLine } from './progress.ts';
import { iso } from './queue-entry.ts';
import { printableLine, type Terminal } from './terminal.ts';
import { shortSpan } from './time-argument.ts';

const NO_GATEWAY = 'no gateway is running on this data folder; the shop is tried when one starts';
const SEE_LATER = '; see the result with: sluice shops';
const PAUSED = 'delivery is paused in the configuration (delivery.paused): no shop is tried';

/**
 * `shops try`: has the gateway try a shop, waits for the result, and prints it.
 * @throws {CommandFailed} the platform accepts nothing, or no gateway could try
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
      if (options.json) terminal.out(document({ shop, outcome: 'not_tried' }));
      throw new CommandFailed(config.delivery.paused ? PAUSED : NO_GATEWAY);
    }
    const line = statusLine(terminal, `trying ${shop}`);
    let trial: ShopTrial;
    try {
      trial = await interruptible(events, (signal) =>
        tryShop(spool, shopId, { timeoutMs: TRIAL_TIMEOUT_MS, signal }),
      );
    } finally {
      line.end();
    }
    const { outcome, text, ok } = trialWords(trial, Date.now(), shortSpan);
    await open.audit('try', shop, outcome.replaceAll('_', ' '));
    if (options.json) terminal.out(document(trialJson(shop, outcome, trial)));
    const message = printableLine(`${shop}: ${text}${outcome === 'no_answer' ? SEE_LATER : ''}`);
    if (!ok) throw new CommandFailed(message);
    if (!options.json) terminal.out(`${message}\n`);
  });
}

function trialJson(shop: string, outcome: TrialWords['outcome'], trial: ShopTrial): object {
  return {
    ...{ shop, outcome, released: trial.released, waiting: trial.waiting },
    parts: trial.parts.map(({ nextProbeAt, ...part }) => ({
      ...part,
      ...(nextProbeAt !== undefined && { nextTryAt: iso(nextProbeAt) }),
    })),
    refusedAlike: trial.refusedAlike,
  };
}
