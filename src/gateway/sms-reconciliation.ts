import {
  type Reconciliation,
  type ReconciliationParts,
  startReconciliation,
} from '../channels/sms/reconciliation/reconciliation.ts';
import type { CompleteConfig } from '../config/complete.ts';
import type { LiveConfig } from './live-config.ts';
import { smsShops } from './shops.ts';

/**
 * Looks for texts that arrived while the webhook was down. It does not run for the demo shop, whose
 * account is fictitious, nor when the HTTP listener is off: another process receives the texts
 * then. It restarts, with an immediate run, when a shop's numbers or account change.
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

/**
 * Everything that a reconciliation depends on. It contains secrets, so use it for comparison only.
 */
const asked = (config: CompleteConfig): string => JSON.stringify([config.demo, smsShops(config)]);
