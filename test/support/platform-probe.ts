import type { Received } from './platform-model-server.ts';
import type { SceneShop, ShopsScene } from './shops-scene.ts';
import { waitFor } from './wait-for.ts';

const OPEN_WITHIN_MS = 120_000;
/** More than lies between two probes. */
const PROBED_WITHIN_MS = 60_000;

/** A message that is on its way to a silent platform as a probe, after its shop's deliveries paused. */
export async function probeUnderWay(
  scene: ShopsScene<string>,
  shop: SceneShop,
): Promise<Received & { readonly remoteId: string }> {
  const isOpen = async (): Promise<boolean> =>
    (await scene.metric('sluice_breaker_open', { shop: shop.name })) > 0;
  await waitFor('deliveries to pause', isOpen, OPEN_WITHIN_MS, 100);
  const before = shop.platform.received.length;
  return waitFor(
    'a probe',
    () => shop.platform.received.slice(before).find(isMessageUnderWay),
    PROBED_WITHIN_MS,
  );
}

const isMessageUnderWay = (received: Received): received is Received & { remoteId: string } =>
  received.remoteId !== undefined && !received.isOver;
