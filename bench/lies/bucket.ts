import { allArrived, faultsOf } from '../../test/support/arrivals.ts';
import { type Accepted, customerNumber, sendText } from '../../test/support/customers.ts';
import { answered, type Received } from '../../test/support/platform-model-server.ts';
import type { SceneShop, ShopsScene } from '../../test/support/shops-scene.ts';

const PER_SECOND = 5;
const RETRY_AFTER_MS = 90_000;
/** An answer is on its way, or not read yet on a busy machine, for so long. */
const ANSWERED_WITHIN_MS = 1000;
const PEOPLE = 100;

export interface BucketReport {
  readonly messages: number;
  readonly requests: number;
  readonly tooMany: number;
  /** Requests within a wait that had been announced. */
  readonly withinWaits: readonly string[];
  readonly seconds: number;
  readonly faults: readonly string[];
}

/** A backlog for a platform that takes five requests a second, and says with each further one to wait 90 s. */
export async function fillBucket(
  scene: ShopsScene<string>,
  shop: SceneShop,
  messages: number,
  withinMs: number,
): Promise<BucketReport> {
  let tokens = PER_SECOND;
  let filledAt = Date.now();
  shop.platform.gate = (_received, platform) => {
    const now = Date.now();
    tokens = Math.min(PER_SECOND, tokens + ((now - filledAt) * PER_SECOND) / 1000);
    filledAt = now;
    if (tokens >= 1) {
      tokens -= 1;
      return platform();
    }
    const answer = answered(429);
    // All answers of `answered` are of this kind.
    return answer.kind === 'answer'
      ? { ...answer, headers: { 'retry-after': String(RETRY_AFTER_MS / 1000) } }
      : answer;
  };
  const startedAt = Date.now();
  const accepted: Accepted[] = [];
  for (let n = 0; n < messages; n += 1) {
    accepted.push(await sendText(scene, shop, customerNumber(n % PEOPLE), `bucket ${n}`));
  }
  const late: string[] = [];
  await allArrived(accepted, withinMs).catch((error: unknown) => {
    late.push(error instanceof Error ? error.message : String(error));
  });
  const { received } = shop.platform;
  return {
    ...{ messages, requests: received.length, seconds: (Date.now() - startedAt) / 1000 },
    tooMany: received.filter(({ status }) => status === 429).length,
    withinWaits: withinWaits(received),
    faults: [...late, ...faultsOf(accepted)],
  };
}

function withinWaits(received: readonly Received[]): readonly string[] {
  const waits = received.filter(({ status }) => status === 429).map(({ at }) => at);
  return received.flatMap(({ at, call }) => {
    const since = waits.find(
      (wait) => at > wait + ANSWERED_WITHIN_MS && at < wait + RETRY_AFTER_MS,
    );
    return since === undefined ? [] : [`${call} ${at - since} ms after a 429`];
  });
}
