import type { Received } from './platform-model-server.ts';
import type { SceneShop, ShopsScene } from './shops-scene.ts';
import { waitFor } from './wait-for.ts';

/** A message that is on its way to a silent platform as a probe, after its shop's deliveries paused. */
export async function probeUnderWay(
  scene: ShopsScene<string>,
  shop: SceneShop,
): Promise<Received & { readonly remoteId: string }> {
  const isOpen = async (): Promise<boolean> =>
    (await scene.metric('sluice_breaker_open', { shop: shop.name })) > 0;
  await waitFor('deliveries to pause', isOpen, 100);
  const before = shop.platform.received.length;
  return waitFor('a probe', () => shop.platform.received.slice(before).find(isMessageUnderWay));
}

const isMessageUnderWay = (received: Received): received is Received & { remoteId: string } =>
  received.remoteId !== undefined && !received.isOver;
