import type { ShopConfig } from '../config/config.ts';
import { shopSchema } from '../config/shop-schema.ts';

/**
 * What a shop has when its section says nothing: the defaults of its keys stand in the schema, since
 * the file has none for shops that are not there. Keys without a default have values here that no
 * real shop has.
 */
export function shopDefaults(): ShopConfig {
  return shopSchema.parse({
    name: 'default',
    shopId: '00000000-0000-0000-0000-000000000000',
    apiKey: 'none',
    email: { addresses: ['nobody@default.invalid'] },
    sms: {
      numbers: ['+12025550100'],
      twilio: { accountSid: `AC${'0'.repeat(32)}`, authTokens: ['none'] },
    },
    chat: { key: 'default' },
  });
}
