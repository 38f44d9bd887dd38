import { explainStop } from '../../domain/reason-explanations.ts';
import type { SpoolStatus } from '../../observability/status.ts';
import { type Condition, datedSentence, stopCondition } from '../conditions.ts';
import { type CheckResult, ofShops, resultsFor } from './check.ts';
import type { Asked } from '../running-gateway.ts';

export interface BreakerCheckInput extends Pick<SpoolStatus, 'stopped'> {
  readonly shops: readonly { readonly name: string; readonly shopId: string }[];
}

/** What of a condition is needed here. */
type Stop = Pick<Condition, 'kind' | 'shop' | 'since' | 'sentence' | 'remedy'>;

/**
 * Whether deliveries of a shop are stopped because its platform fails for all messages, in the words of
 * the running gateway; of one that cannot be asked, as the store last heard it.
 */
export function checkBreakers(
  input: BreakerCheckInput,
  asked: Asked<readonly Stop[]>,
): CheckResult[] {
  return input.shops.flatMap((shop) => ofShops([shop.name], [checkBreaker(shop, input, asked)]));
}

function checkBreaker(
  { name, shopId }: BreakerCheckInput['shops'][number],
  { stopped }: BreakerCheckInput,
  asked: Asked<readonly Stop[]>,
): CheckResult {
  const { ok, skipped, warning, failed } = resultsFor('breaker', name, 'deliveries are running');
  const isKnown = asked.kind === 'answered';
  const stops: readonly Stop[] = isKnown
    ? asked.answer.filter(({ kind, shop }) => kind === 'breaker-open' && shop === name)
    : stopped
        .filter((each) => each.shopId === shopId)
        .map(({ part, since, reason }) =>
          stopCondition({ shop: name, part, since, ...explainStop(reason) }),
        );
  const found = stops.map(datedSentence).join('; ');
  const todo = stops[0]?.remedy ?? '';
  if (isKnown) return found === '' ? ok('closed: deliveries are running') : failed(found, todo);
  const unknown = `the state of the gateway is unknown: ${asked.why}`;
  const known = found === '' ? unknown : `${unknown}; it was: ${found}`;
  if (asked.kind === 'failed') return failed(known, 'see its log, and restart it if it stays so');
  return found === '' ? skipped(unknown) : warning(known, todo);
}
