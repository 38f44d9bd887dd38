import type { SpoolFacts } from '../observability/data-folder-facts.ts';
import { type CheckResult, verdicts } from './check-result.ts';
import { errorCode } from './error-code.ts';

export interface AdminDoor {
  /** `http://127.0.0.1:8081` */
  readonly url: string;
  readonly password: string;
}

export interface BreakerQuestion {
  readonly shops: readonly { readonly name: string; readonly shopId: string }[];
  /** What entries that wait failed with (`spool/data-folder.ts`). */
  readonly failing: SpoolFacts['failing'];
}

/** The metrics of a running gateway; a failure is a word for it. */
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
    return text === undefined ? { failure: `/metrics answered ${response.status}` } : { text };
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined;
    return { failure: errorCode(cause) ?? 'no answer in time' };
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
 * Whether deliveries of a shop are paused because its platform fails as a whole. The running
 * gateway says so; when it cannot be asked, what entries failed with is told.
 */
export function checkBreakers(question: BreakerQuestion, answer: MetricsAnswer): CheckResult[] {
  return question.shops.map((shop) => {
    const { ok, skipped, warning, failed } = verdicts(
      'breaker',
      shop.name,
      'deliveries are not paused',
    );
    const reason = mostFrequent(question.failing, shop.shopId);
    const after = reason === undefined ? '' : `; ${reason}`;
    const todo =
      'mend what the check "platform" says of this shop (its key, platform.url, the network, the platform itself); ' +
      'the gateway tries again by itself within 5 minutes, and what waits is safe';
    if ('failure' in answer) {
      return reason === undefined
        ? skipped(`the gateway could not be asked (${answer.failure})`)
        : warning(`the gateway could not be asked (${answer.failure})${after}`, todo);
    }
    const open = openParts(answer.text, shop.name);
    if (open.length === 0) return ok('closed: messages flow');
    return failed(`open for ${open.join(' and ')}: deliveries are paused${after}`, todo);
  });
}

/** Prometheus' text format: `sluice_breaker_open{shop="acme",part="messages"} 1`. */
function openParts(text: string, shop: string): string[] {
  return text.split('\n').flatMap((line) => {
    const [, labels = '', value] = /^sluice_breaker_open\{([^}]*)\} (\S+)/.exec(line) ?? [];
    const label = (name: string) =>
      new RegExp(`(?:^|,)${name}="((?:[^"\\\\]|\\\\.)*)"`)
        .exec(labels)?.[1]
        ?.replace(/\\(.)/g, '$1');
    return Number(value) >= 1 && label('shop') === shop ? [label('part') ?? 'messages'] : [];
  });
}

/** Without what stands after a colon: it may quote the platform, which may quote the message. */
function mostFrequent(failing: BreakerQuestion['failing'], shopId: string): string | undefined {
  const [most] = failing.filter((each) => each.shopId === shopId);
  if (most === undefined) return undefined;
  const reason = (most.reason.split(':', 1)[0] ?? '').slice(0, 80);
  const waiting = most.count === 1 ? '1 entry waits' : `${most.count} entries wait`;
  return `${waiting}, the last attempt: ${reason}`;
}
