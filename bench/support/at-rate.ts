import { setTimeout as delay } from 'node:timers/promises';

/**
 * Begins the work for this many items a second, whether or not earlier work has ended.
 * @throws the first failure, once all work has ended
 */
export async function atRate<Item>(
  items: readonly Item[],
  perSecond: number,
  work: (item: Item) => Promise<unknown>,
): Promise<void> {
  const begun: Promise<unknown>[] = [];
  let failure: { readonly error: unknown } | undefined;
  const startedAt = performance.now();
  for (const [index, item] of items.entries()) {
    const early = startedAt + (index / perSecond) * 1000 - performance.now();
    if (early > 0) await delay(early);
    begun.push(work(item).catch((error: unknown) => (failure ??= { error })));
  }
  await Promise.all(begun);
  if (failure !== undefined) throw failure.error;
}
