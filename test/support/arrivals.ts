import type { StoredMessage } from '../simulation/platform-store.ts';
import type { Accepted } from './customers.ts';
import type { SceneShop } from './shops-scene.ts';
import { DEADLINE_MS, waitFor } from './wait-for.ts';

interface Arrivals {
  /** How many of the platform's messages are in the index. */
  count: number;
  readonly byRemoteId: Map<string | null, StoredMessage[]>;
}

const indexes = new WeakMap<SceneShop, Arrivals>();

/** What the platform has of a shop, by `remote_id`; of equal ones all, in order. */
export function arrivals(shop: SceneShop): ReadonlyMap<string | null, readonly StoredMessage[]> {
  const index = indexes.get(shop) ?? { count: 0, byRemoteId: new Map() };
  indexes.set(shop, index);
  const messages = shop.platform.model.messages(shop.shopId);
  for (const message of messages.slice(index.count)) {
    append(index.byRemoteId, message.remoteId, message);
  }
  index.count = messages.length;
  return index.byRemoteId;
}

export const hasArrived = ({ shop, remoteId }: Accepted): boolean => arrivals(shop).has(remoteId);

/**
 * Resolves once the platform has all of them.
 * @param withinMs only where the time is what the caller is about
 * @throws with some of those that are missing
 */
export async function allArrived(
  accepted: readonly Accepted[],
  withinMs = DEADLINE_MS,
): Promise<void> {
  try {
    await waitFor('them', () => accepted.every(hasArrived), 20, withinMs);
  } catch (error) {
    const missing = accepted.filter((each) => !hasArrived(each));
    const some = missing.slice(0, 5).map(({ content }) => JSON.stringify(content));
    throw new Error(
      `${missing.length} of ${accepted.length} did not arrive within ${withinMs / 1000} s, ` +
        `for instance ${some.join(', ')}`,
      { cause: error },
    );
  }
}

/**
 * What is wrong with what arrived: messages that came twice, that nobody sent, or before an earlier
 * one of their lane.
 */
export function faultsOf(accepted: readonly Accepted[]): readonly string[] {
  const faults: string[] = [];
  const sent = new Set(accepted.map(({ remoteId }) => remoteId));
  for (const shop of new Set(accepted.map((each) => each.shop))) {
    for (const [remoteId, [first, ...more]] of arrivals(shop)) {
      const content = first?.content.slice(0, 80) ?? '';
      if (more.length > 0) faults.push(`${more.length + 1} times: ${content}`);
      if (remoteId === null || !sent.has(remoteId)) faults.push(`nobody sent: ${content}`);
    }
  }
  const lanes = new Map<string, number[]>();
  for (const { shop, remoteId, lane } of accepted) {
    const place = arrivals(shop).get(remoteId)?.[0]?.seq;
    if (place !== undefined) append(lanes, lane, place);
  }
  for (const [lane, places] of lanes) {
    if (places.some((place, n) => n > 0 && place < (places[n - 1] ?? 0))) {
      faults.push(`out of order: ${lane}`);
    }
  }
  return faults;
}

function append<Key, Value>(map: Map<Key, Value[]>, key: Key, value: Value): void {
  const values = map.get(key);
  if (values === undefined) map.set(key, [value]);
  else values.push(value);
}
