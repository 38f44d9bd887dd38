import { sentence, withoutQuotes } from '../../domain/reasons.ts';
import type { SpoolStatus } from '../../observability/status.ts';
import { counted } from '../../runtime/amounts.ts';
import { type CheckResult, ofShops, resultsFor } from './check.ts';
import { codeOf } from '../../runtime/error-code.ts';

export interface AdminDoor {
  /** `http://127.0.0.1:8081` */
  readonly url: string;
  readonly password: string;
}

export interface BreakerCheckInput extends Pick<SpoolStatus, 'failing' | 'stopped'> {
  readonly shops: readonly { readonly name: string; readonly shopId: string }[];
  readonly now: number;
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
 * Whether deliveries of a shop are stopped because its platform fails for all messages. The state
 * comes from the metrics of the running gateway, the reason from the store, or else from the
 * failures of waiting entries.
 */
export function checkBreakers(input: BreakerCheckInput, answer: MetricsAnswer): CheckResult[] {
  return input.shops.flatMap((shop) => ofShops([shop.name], [checkBreaker(shop, input, answer)]));
}

function checkBreaker(
  shop: BreakerCheckInput['shops'][number],
  input: BreakerCheckInput,
  answer: MetricsAnswer,
): CheckResult {
  const { ok, skipped, warning, failed } = resultsFor(
    'breaker',
    shop.name,
    'deliveries are running',
  );
  const reason = whyStopped(input, shop.shopId) ?? mostFrequent(input.failing, shop.shopId);
  const after = reason === undefined ? '' : `; ${reason}`;
  const todo =
    'fix the problem that the check "platform" reports for this shop (its key, platform.url, the network or the platform); ' +
    `queued messages are kept, and the gateway retries one every 5 to 25 s; "sluice shops" shows the platform's full answer, "sluice shops try ${shop.name}" retries now`;
  if ('failure' in answer) {
    return reason === undefined
      ? skipped(`the state of the gateway is unknown (${answer.failure})`)
      : warning(`the state of the gateway is unknown (${answer.failure})${after}`, todo);
  }
  const open = openParts(answer.text, shop.name);
  if (open.length === 0) return ok('closed: deliveries are running');
  return failed(`open for ${open.join(' and ')}: deliveries are stopped${after}`, todo);
}

/** Prometheus' text format: `sluice_breaker_open{shop="acme",part="messages"} 1`. */
function openParts(text: string, shop: string): string[] {
  return text.split('\n').flatMap((line) => {
    const [, labels = '', value] = /^sluice_breaker_open\{([^}]*)\} (\S+)/.exec(line) ?? [];
    const named = new Map(
      [...labels.matchAll(/\b(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, name = '', label = '']) => [
        name,
        label.replace(/\\(.)/g, '$1'),
      ]),
    );
    return Number(value) >= 1 && named.get('shop') === shop
      ? [named.get('part') ?? 'messages']
      : [];
  });
}

function whyStopped({ stopped, now }: BreakerCheckInput, shopId: string): string | undefined {
  const own = stopped.filter((each) => each.shopId === shopId);
  const [first] = own.toSorted((a, b) => a.since - b.since);
  if (first === undefined) return undefined;
  const since = counted(Math.max(0, Math.round((now - first.since) / 60_000)), 'minute');
  return `for ${since}: ${sentence(withoutQuotes(first.reason))}`;
}

function mostFrequent(failing: BreakerCheckInput['failing'], shopId: string): string | undefined {
  const [most] = failing.filter((each) => each.shopId === shopId);
  if (most === undefined) return undefined;
  const waiting = most.count === 1 ? '1 entry waiting' : `${most.count} entries waiting`;
  return `${waiting}; last failure: ${sentence(withoutQuotes(most.reason))}`;
}
