import { beforeEach, describe, expect, test } from '@jest/globals';
import { asShopId } from '../../src/domain/ids.ts';
import { textRoutes } from '../../src/gateway/text-routes.ts';
import type { FindTextRoute } from '../../src/local-platform/outbound/text-route.ts';
import { ends } from '../support/ends.ts';
import { openStore } from '../support/store.ts';
import { telnyxId } from '../support/telnyx-stand-in.ts';
import { tempDir } from '../support/temp-dir.ts';
import { messageSid } from '../support/twilio-stand-in.ts';
import { wamid } from '../support/whatsapp-stand-in.ts';

const SHOP = asShopId('11111111-1111-4111-8111-111111111111');

let findRoute: FindTextRoute;

beforeEach(async () => {
  const dir = tempDir();
  ends(() => dir.remove());
  const store = await openStore(dir.path);
  ends(() => store.spool.close());
  findRoute = textRoutes(store);
});

describe('a message without an entry', () => {
  test.each<[label: string, remoteId: string | undefined, route: 'lost' | undefined]>([
    ['with an id of Twilio', messageSid(1), 'lost'],
    ['with an id of Twilio, of an MMS', messageSid(1, 'MM'), 'lost'],
    ['with the id of late media', `${messageSid(1, 'MM')}/media`, 'lost'],
    ['with an id of Telnyx', telnyxId(1), 'lost'],
    ['with the id of late media at Telnyx', `${telnyxId(1)}/media`, 'lost'],
    ['with an id of Meta', wamid(1), 'lost'],
    ['with the id of late media at Meta', `${wamid(1)}/media`, 'lost'],
    ['with an id of another client', 'of-another-client', undefined],
    ['with an id that only begins like one', `${messageSid(1)}-copy`, undefined],
    ['without an id', undefined, undefined],
  ])('%s', async (_label, remoteId, route) => {
    expect(await findRoute({ shop: SHOP, remoteId, conversationId: 'c' })).toBe(route);
  });
});
