import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';
import type { Agent } from '../../src/local-platform/agent/agent.ts';
import { asShopId } from '../../src/domain/ids.ts';
import type { Entry } from '../../src/spool/entry.ts';
import { ChatClient } from '../support/chat-client.ts';
import { ends } from '../support/ends.ts';
import { type ConfigChoices, type ShopChoices, shopNamed } from '../support/gateway-config.ts';
import { PlatformFront } from '../support/platform-front.ts';
import { type RunningGateway, startGateway } from '../support/running-gateway.ts';
import { sendSms } from '../support/sms-sender.ts';
import { waitForEntries, withSpool } from '../support/spool-beside.ts';
import { tempDir } from '../support/temp-dir.ts';
import type { WebhookAnswer } from '../support/twilio-stand-in.ts';
import type { Scene } from './scene.ts';

/** What a test needs of its shop, where that is not as usual. */
type SharedShop = Pick<ShopChoices, 'email' | 'sms' | 'chat'> & { readonly agent?: Agent };

/** One shop of a gateway that others use as well; the platform is the shop's own. */
export interface ShopScene extends Scene {
  /** What the gateway is configured with. */
  readonly shop: ShopChoices;
  /** The shop's entries, newest first. */
  readonly entries: () => Promise<readonly Entry[]>;
  /** Waits for what `probe` finds in the shop's entries, newest first. */
  readonly waitForEntries: <T>(
    what: string,
    probe: (entries: readonly Entry[]) => T | Promise<T>,
  ) => Promise<Exclude<T, undefined | false>>;
  /** A text to the shop's number, as Twilio posts it. */
  readonly sms: (
    text: Readonly<Record<string, string>> & { MessageSid: string },
  ) => Promise<WebhookAnswer>;
}

const STARTED_WITHIN_MS = 60_000;

/**
 * One gateway for all tests of a file, with a shop for each test that names one: what a shop has
 * was made by its own test. `choices` are for all shops; they are asked for when the gateway starts.
 * @returns the scene of a shop, once the tests run
 */
export function sharedGateway<Name extends string>(
  shops: Readonly<Record<Name, SharedShop>>,
  choices: () => Partial<ConfigChoices> = () => ({}),
): (name: Name) => ShopScene {
  const scenes = new Map<string, ShopScene>();
  const stops: (() => unknown)[] = [];

  beforeAll(async () => {
    const dir = tempDir();
    const dataDir = dir.path;
    stops.push(() => dir.remove());
    const all = await Promise.all(
      Object.entries<SharedShop>(shops).map(async ([name, own], n) => {
        const shop = shopNamed(name, n);
        const { agent, ...keys } = own;
        const platform = new PlatformFront({
          dir: join(dir.path, 'platforms', name),
          shop,
          ...(agent && { agent }),
        });
        stops.push(() => platform.stop());
        await platform.start();
        return { platform, shop: { ...shop, ...keys, platformUrl: platform.url } };
      }),
    );
    const gateway = await startGateway({
      dataDir,
      shops: all.map(({ shop }) => shop),
      ...choices(),
    });
    stops.push(() => gateway.stop());
    for (const { platform, shop } of all) {
      scenes.set(shop.name, shopScene({ dataDir, gateway, platform, shop }));
    }
  }, STARTED_WITHIN_MS);

  afterAll(async () => {
    for (const stop of stops.reverse()) await stop();
  });

  return (name) => {
    const scene = scenes.get(name);
    if (scene === undefined) throw new Error(`no gateway has a shop ${name}`);
    return scene;
  };
}

/** Looks into the folder that all shops share. @returns what has come into it since, of any shop */
export function newBlobs({ dataDir }: ShopScene): () => readonly string[] {
  const blobs = () => readdirSync(join(dataDir, 'blobs'));
  const before = new Set(blobs());
  return () => blobs().filter((blob) => !before.has(blob));
}

interface Parts {
  readonly dataDir: string;
  readonly gateway: RunningGateway;
  readonly platform: PlatformFront;
  readonly shop: ShopChoices;
}

function shopScene(parts: Parts): ShopScene {
  const { dataDir, gateway, shop } = parts;
  const filter = { shopId: asShopId(shop.shopId), limit: 1000 };
  return {
    ...parts,
    entries: () => withSpool(dataDir, (spool) => spool.list(filter)),
    waitForEntries: (what, probe) =>
      waitForEntries(dataDir, what, (all) =>
        probe(all.filter(({ shopId }) => shopId === filter.shopId)),
      ),
    sms: (text) => sendSms(gateway.httpUrl, { To: shop.number, ...text }),
    chat: async (auth = {}) => {
      const client = await ChatClient.connect({
        url: gateway.httpUrl,
        auth: { key: shop.chatKey, ...auth },
      });
      ends(() => client.close());
      return client;
    },
  };
}
