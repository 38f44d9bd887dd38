import type { Endpoint } from '../../domain/endpoint.ts';
import { explainStop } from '../../domain/reason-explanations.ts';
import { sentence, withoutQuotes } from '../../domain/reasons.ts';
import type { SpoolStatus } from '../../observability/status.ts';
import { counted } from '../../runtime/amounts.ts';
import { datedSentence, stopCondition } from '../conditions.ts';
import { type CheckResult, ofShops, resultsFor } from './check.ts';
import { codeOf } from '../../runtime/error-code.ts';

export interface AdminDoor {
  /** `http://127.0.0.1:8081` */
  readonly url: string;
  readonly password: string;
}

export interface BreakerCheckInput extends Pick<SpoolStatus, 'failing' | 'stopped'> {
  readonly shops: readonly { readonly name: string; readonly shopId: string }[];
}

/** The metrics of a running gateway, or why they could not be read. */
export type MetricsAnswer = { readonly text: string } | { readonly failure: string };

const MAX_METRICS_BYTES = 20_000_000;

export async function readMetrics(
  { url, password }: AdminDoor,
  timeoutMs: number,
): Promise<MetricsAnswer> {
  try {
    const response = await fetch(`${url}/metrics`, {
      headers: { authorization: `Bearer ${password}`, connection: 'close' },
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
    const text = response.ok ? await bounded(response) : undefined;
    if (!response.ok) await response.body?.cancel();
    return text === undefined
      ? { failure: `/metrics responded with status ${response.status}` }
      : { text };
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
    if (size > MAX_METRICS_BYTES) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

/**
 * Whether deliveries of a shop are stopped because its platform fails for all messages, as the alerts say it. The state
 * comes from the metrics of the running gateway, the reason from the store, or else from the
 * failures of waiting entries.
 */
export function checkBreakers(input: BreakerCheckInput, answer: MetricsAnswer): CheckResult[] {
  return input.shops.flatMap((shop) => ofShops([shop.name], [checkBreaker(shop, input, answer)]));
}

function checkBreaker(
  shop: BreakerCheckInput['shops'][number],
  { stopped, failing }: BreakerCheckInput,
  answer: MetricsAnswer,
): CheckResult {
  const { ok, skipped, warning, failed } = resultsFor(
    'breaker',
    shop.name,
    'deliveries are running',
  );
  const known = stopped.filter(({ shopId }) => shopId === shop.shopId);
  const parts =
    'failure' in answer ? known.map(({ part }) => part) : openParts(answer.text, shop.name);
  const words = parts.map((part) => {
    const { since, reason } = known.find((each) => each.part === part) ?? {};
    return stopCondition({ shop: shop.name, part, since, ...(reason && explainStop(reason)) });
  });
  const [first] = words;
  const latest = known.length > 0 ? '' : mostFrequent(failing, shop.shopId);
  const found = `${words.map(datedSentence).join('; ')}${latest}`;
  if ('failure' in answer) {
    const unknown = `the state of the gateway is unknown (${answer.failure})`;
    if (first === undefined) return skipped(`${unknown}${latest}`);
    return warning(`${unknown}; it was: ${found}`, first.remedy);
  }
  return first === undefined ? ok('closed: deliveries are running') : failed(found, first.remedy);
}

/** Prometheus' text format: `sluice_breaker_open{shop="acme",part="messages"} 1`. */
function openParts(text: string, shop: string): Endpoint[] {
  return text.split('\n').flatMap((line) => {
    const [, labels = '', value] = /^sluice_breaker_open\{([^}]*)\} (\S+)/.exec(line) ?? [];
    const named = new Map(
      [...labels.matchAll(/\b(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, name = '', label = '']) => [
        name,
        label.replace(/\\(.)/g, '$1'),
      ]),
    );
    return Number(value) >= 1 && named.get('shop') === shop
      ? [named.get('part') === 'media' ? 'media' : 'messages']
      : [];
  });
}

/** While the gateway has not told the store why. */
function mostFrequent(failing: BreakerCheckInput['failing'], shopId: string): string {
  const [most] = failing.filter((each) => each.shopId === shopId);
  if (most === undefined) return '';
  const waiting = counted(most.count, 'entry waits', 'entries wait');
  return `; ${waiting}, last failure: ${sentence(withoutQuotes(most.reason))}`;
}
