import {
  type Reconciliation,
  type ReconciliationParts,
  startReconciliation,
} from '../channels/sms/reconciliation/reconciliation.ts';
import type { CompleteConfig } from '../config/complete.ts';
import type { LiveConfig } from './live-config.ts';
import { smsShops } from './shops.ts';

/**
 * Looks for texts that came while the webhook was down. Not for the demo shop, whose account is
 * made up, and not without the door for texts: another process has it then. Begins anew, and so
 * with a look at once, when a shop's numbers or account change.
 */
export function startSmsReconciliation(
  live: LiveConfig,
  parts: ReconciliationParts,
): Reconciliation {
  let running = started(live.value, parts);
  let stopped = false;
  live.add({
    name: 'sms reconciliation',
    reads: ['shops'],
    prepare: (next, before) => ({
      commit: () => undefined,
      after: async () => {
        if (asked(next) === asked(before)) return;
        await running?.stop();
        if (!stopped) running = started(next, parts);
      },
    }),
  });
  return {
    stop: async () => {
      stopped = true;
      await running?.stop();
    },
  };
}

function started(config: CompleteConfig, parts: ReconciliationParts): Reconciliation | undefined {
  if (config.demo || !config.http.enabled) return undefined;
  return startReconciliation({ shops: smsShops(config) }, parts);
}

/** All that a reconciliation depends on. It holds secrets: for comparing only. */
const asked = (config: CompleteConfig): string => JSON.stringify([config.demo, smsShops(config)]);
