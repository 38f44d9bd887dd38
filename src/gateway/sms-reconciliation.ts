import {
  type Reconciliation,
  type ReconciliationParts,
  startReconciliation,
} from '../channels/sms/reconciliation/reconciliation.ts';
import type { CompleteConfig } from '../config/complete.ts';
import { smsShops } from './shops.ts';

/**
 * Looks for texts that came while the webhook was down. Not for the demo shop, whose account is
 * made up, and not without the door for texts: another process has it then.
 */
export function startSmsReconciliation(
  config: CompleteConfig,
  parts: ReconciliationParts,
): Reconciliation | undefined {
  if (config.demo || !config.http.enabled) return undefined;
  return startReconciliation({ shops: smsShops(config) }, parts);
}
