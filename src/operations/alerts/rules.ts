import type { GatewayStatus } from '../../observability/status.ts';
import { counted } from '../../runtime/amounts.ts';
import { type Condition, conditionsOf, datedSentence, type Limits } from '../conditions.ts';
import { type AlertRule, type Reading, ruleSchema } from './alert.ts';

/** The thresholds of alerts, as counts and milliseconds. */
export interface Thresholds extends Limits {
  /** Time for which a breaker is open. */
  readonly breakerOpen: number;
  readonly badSignaturesPer10min: number;
}

export interface RuleOptions {
  readonly thresholds: Thresholds;
  /** How long a condition must last before it fires, in milliseconds. */
  readonly forMs: number;
}

/** Values over a period of time, which `GatewayStatus` does not contain. */
export interface Recent {
  /** The number of webhooks with an invalid signature in the last ten minutes. */
  readonly badSignatures: number;
  /** Whether the process has run for ten minutes, so that the count is complete. */
  readonly isWhole: boolean;
}

/** Rules about what the store contains: every gateway with the same store reads the same. */
export const RULES_OF_STORE: ReadonlySet<AlertRule> = new Set<AlertRule>([
  ...(['dead', 'held', 'oldest-queued'] as const),
  ...(['database', 'blobs'] as const),
]);

/** These cover a period of time already: a refusal is known after five messages, answers are of an hour. */
const FIRE_AT_ONCE: ReadonlySet<AlertRule> = new Set<AlertRule>(['refused-alike', 'answers']);

/** What may start or continue an alert; what is well has no reading. Pure. */
export function readAll(status: GatewayStatus, recent: Recent, options: RuleOptions): Reading[] {
  return [
    ...conditionsOf(status, options.thresholds).flatMap((each) => readingOf(each, options)),
    ...signatureReading(recent, options),
  ];
}

function readingOf(condition: Condition, { thresholds, forMs }: RuleOptions): Reading[] {
  const { id, shop, holds, severity, remedy, figure } = condition;
  const { data: rule } = ruleSchema.safeParse(condition.kind);
  if (rule === undefined) return [];
  const lasts = rule === 'breaker-open' ? thresholds.breakerOpen : forMs;
  return [
    {
      ...{ key: id, rule, holds, severity },
      ...(shop !== undefined && { shop }),
      forMs: FIRE_AT_ONCE.has(rule) ? 0 : lasts,
      ...{ summary: datedSentence(condition), todo: remedy },
      ...(figure !== undefined && { figure }),
    },
  ];
}

function signatureReading(
  { badSignatures, isWhole }: Recent,
  { thresholds }: RuleOptions,
): Reading[] {
  const limit = thresholds.badSignaturesPer10min;
  // Without ten minutes of data the alert cannot be resolved.
  if (isWhole && badSignatures < Math.max(1, limit / 2)) return [];
  return [
    {
      ...{ key: 'bad-signatures', rule: 'bad-signatures' },
      holds: badSignatures >= limit,
      // The count covers ten minutes already.
      forMs: 0,
      severity: 'warning',
      summary: `${counted(badSignatures, 'webhook')} in 10 minutes had an invalid signature`,
      todo: "Compare http.publicUrl and the shops' authTokens with Twilio's settings (sluice doctor --only twilio), or their publicKey with that of the Telnyx account, or their appSecrets with those of the apps at Meta; if they match, the requests are forged.",
      figure: badSignatures,
    },
  ];
}
