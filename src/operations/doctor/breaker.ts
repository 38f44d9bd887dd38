import type { SpoolFacts } from '../../observability/facts.ts';
import { counted } from '../../runtime/amounts.ts';
import { type CheckResult, verdicts } from './check.ts';
import { codeOf } from '../../runtime/error-code.ts';

export interface AdminDoor {
  /** `http://127.0.0.1:8081` */
  readonly url: string;
  readonly password: string;
}

export interface BreakerQuestion extends Pick<SpoolFacts, 'failing' | 'stopped'> {
  readonly shops: readonly { readonly name: string; readonly shopId: string }[];
  readonly now: number;
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
    return { failure: codeOf(cause) || 'no answer in time' };
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
 * Whether deliveries of a shop are stopped because its platform fails as a whole. The running
 * gateway says so, and what it told the store says why; where it told nothing, what entries failed
 * with.
 */
export function checkBreakers(question: BreakerQuestion, answer: MetricsAnswer): CheckResult[] {
  return question.shops.map((shop) => {
    const { ok, skipped, warning, failed } = verdicts(
      'breaker',
      shop.name,
      'deliveries are not stopped',
    );
    const reason = whyStopped(question, shop.shopId) ?? mostFrequent(question.failing, shop.shopId);
    const after = reason === undefined ? '' : `; ${reason}`;
    const todo =
      'fix what the check "platform" says of this shop (its key, platform.url, the network, the platform itself); ' +
      `what waits is safe, and the gateway tries one message every 5 to 25 s; "sluice shops" has the platform's whole answer, "sluice shops try ${shop.name}" tries now`;
    if ('failure' in answer) {
      return reason === undefined
        ? skipped(`the gateway could not be asked (${answer.failure})`)
        : warning(`the gateway could not be asked (${answer.failure})${after}`, todo);
    }
    const open = openParts(answer.text, shop.name);
    if (open.length === 0) return ok('closed: messages flow');
    return failed(`open for ${open.join(' and ')}: deliveries are stopped${after}`, todo);
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

function whyStopped({ stopped, now }: BreakerQuestion, shopId: string): string | undefined {
  const own = stopped.filter((each) => each.shopId === shopId);
  const [first] = own.toSorted((a, b) => a.since - b.since);
  if (first === undefined) return undefined;
  const since = counted(Math.max(0, Math.round((now - first.since) / 60_000)), 'minute');
  return `for ${since}: ${withoutQuotes(first.reason)}`;
}

/** What stands after a colon may quote the platform, which may quote the message. */
const withoutQuotes = (reason: string): string => (reason.split(':', 1)[0] ?? '').slice(0, 80);

function mostFrequent(failing: BreakerQuestion['failing'], shopId: string): string | undefined {
  const [most] = failing.filter((each) => each.shopId === shopId);
  if (most === undefined) return undefined;
  const waiting = most.count === 1 ? '1 entry waits' : `${most.count} entries wait`;
  return `${waiting}, the last attempt: ${withoutQuotes(most.reason)}`;
}
