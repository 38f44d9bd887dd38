import { randomBytes, randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Config, ShopConfig } from './config.ts';
import { shopSchema } from './shop-schema.ts';

export const DEMO_ADDRESS = 'support@demo.example';
/** Of the block that is set aside for fiction. */
export const DEMO_NUMBER = '+12025550142';
export const DEMO_CHAT_KEY = 'demo';

/** The sample shop of `GET /demo`. No colour: its page chooses one of its own. */
const DEMO_WIDGET = {
  name: 'Harbour Street Shoes',
  greeting:
    'Hello! Ask about orders, sizes, shipping or returns: you get an answer within seconds, at any hour.',
};

/** What is made once for the demo shop and kept in `dataDir/demo.json`. */
export const demoKeysSchema = z.strictObject({
  shopId: z.guid(),
  apiKey: z.string().min(32),
  accountSid: z.string().regex(/^AC[0-9a-f]{32}$/),
  authToken: z.string().min(32),
  /** Absent in a folder from before the demo had a page: it vouches for nobody. */
  identitySecret: z.exactOptional(z.string().min(32)),
});
export type DemoKeys = z.output<typeof demoKeysSchema>;

export function makeDemoKeys(): DemoKeys {
  return {
    shopId: randomUUID(),
    apiKey: randomBytes(24).toString('base64url'),
    accountSid: `AC${randomBytes(16).toString('hex')}`,
    authToken: randomBytes(16).toString('hex'),
    identitySecret: randomBytes(24).toString('base64url'),
  };
}

/** The shop that is there when none is configured, so that everything can be tried at once. */
export function demoShop(keys: DemoKeys, config: Config): ShopConfig {
  const { port, publicUrl } = config.http;
  const own = [new URL(publicUrl).origin, `http://localhost:${port}`, `http://127.0.0.1:${port}`];
  return shopSchema.parse({
    name: 'demo',
    shopId: keys.shopId,
    apiKey: keys.apiKey,
    email: { addresses: [DEMO_ADDRESS, '*@demo.example'] },
    sms: {
      numbers: [DEMO_NUMBER],
      twilio: { accountSid: keys.accountSid, authTokens: [keys.authToken] },
    },
    chat: {
      key: DEMO_CHAT_KEY,
      origins: [...new Set(own)],
      allowNoOrigin: 'true',
      identitySecrets: keys.identitySecret === undefined ? [] : [keys.identitySecret],
      widget: DEMO_WIDGET,
    },
  });
}
