/**
 * Runs `work` for each item, `width` at a time.
 * @returns the elapsed seconds
 */
export async function inLanes<Item>(
  items: readonly Item[],
  width: number,
  work: (item: Item) => Promise<void>,
): Promise<number> {
  const queue = items.values();
  const lane = async (): Promise<void> => {
    for (const item of queue) await work(item);
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: width }, lane));
  return (performance.now() - started) / 1000;
}
