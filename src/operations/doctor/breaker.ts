import { z } from 'zod';
import { explainStop } from '../../domain/reason-explanations.ts';
import type { SpoolStatus } from '../../observability/status.ts';
import { type Condition, datedSentence, stopCondition } from '../conditions.ts';
import { type CheckResult, ofShops, resultsFor } from './check.ts';
import { codeOf } from '../../runtime/error-code.ts';

export interface AdminDoor {
  /** `http://127.0.0.1:8081` */
  readonly url: string;
  readonly password: string;
}

export interface BreakerCheckInput extends Pick<SpoolStatus, 'stopped'> {
  readonly shops: readonly { readonly name: string; readonly shopId: string }[];
}

/** What of a condition is needed here. */
export type Stop = Pick<Condition, 'kind' | 'shop' | 'since' | 'sentence' | 'remedy'>;

/** The conditions of a running gateway, or why they could not be read. */
export type ConditionsAnswer =
  | { readonly conditions: readonly Stop[] }
  | { readonly failure: string };

const MAX_ANSWER_BYTES = 20_000_000;

const overviewSchema = z.object({
  conditions: z.array(
    z.object({
      kind: z.string(),
      shop: z.exactOptional(z.string()),
      since: z.exactOptional(z.number()),
      sentence: z.string(),
      remedy: z.string(),
    }),
  ),
});

export async function readConditions(
  { url, password }: AdminDoor,
  timeoutMs: number,
): Promise<ConditionsAnswer> {
  try {
    const response = await fetch(`${url}/api/overview`, {
      headers: { authorization: `Bearer ${password}`, connection: 'close' },
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
    const text = response.ok ? await bounded(response) : undefined;
    if (!response.ok) await response.body?.cancel();
    const { data } = overviewSchema.safeParse(text === undefined ? undefined : JSON.parse(text));
    // A kind of a newer version is none that is looked for here.
    return data === undefined
      ? { failure: `/api/overview responded with status ${response.status}` }
      : { conditions: data.conditions as readonly Stop[] };
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined;
    return { failure: codeOf(cause) || 'timeout' };
  }
}

async function bounded(response: Response): Promise<string | undefined> {
  const parts: Uint8Array[] = [];
  let size = 0;
  const body: AsyncIterable<Uint8Array> | null = response.body;
  for await (const part of body ?? []) {
    size += part.byteLength;
    if (size > MAX_ANSWER_BYTES) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

/**
 * Whether deliveries of a shop are stopped because its platform fails for all messages, in the words of
 * the running gateway; of one that cannot be asked, as the store last heard it.
 */
export function checkBreakers(input: BreakerCheckInput, answer: ConditionsAnswer): CheckResult[] {
  return input.shops.flatMap((shop) => ofShops([shop.name], [checkBreaker(shop, input, answer)]));
}

function checkBreaker(
  { name, shopId }: BreakerCheckInput['shops'][number],
  { stopped }: BreakerCheckInput,
  answer: ConditionsAnswer,
): CheckResult {
  const { ok, skipped, warning, failed } = resultsFor('breaker', name, 'deliveries are running');
  const isKnown = 'conditions' in answer;
  const stops: readonly Stop[] = isKnown
    ? answer.conditions.filter(({ kind, shop }) => kind === 'breaker-open' && shop === name)
    : stopped
        .filter((each) => each.shopId === shopId)
        .map(({ part, since, reason }) =>
          stopCondition({ shop: name, part, since, ...explainStop(reason) }),
        );
  const found = stops.map(datedSentence).join('; ');
  const todo = stops[0]?.remedy ?? '';
  if (isKnown) return found === '' ? ok('closed: deliveries are running') : failed(found, todo);
  const unknown = `the state of the gateway is unknown (${answer.failure})`;
  return found === '' ? skipped(unknown) : warning(`${unknown}; it was: ${found}`, todo);
}
