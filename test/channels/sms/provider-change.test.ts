import { beforeEach, expect, test } from '@jest/globals';
import { join } from 'node:path';
import { createSmsNormalizer } from '../../../src/channels/sms/normalize.ts';
import { optOutsOf } from '../../../src/channels/sms/person.ts';
import { laneOf } from '../../../src/channels/sms/receive.ts';
import { telnyxShopAccount } from '../../../src/channels/sms/providers/telnyx/account.ts';
import type { SmsShop } from '../../../src/channels/sms/shop.ts';
import type { Claimed } from '../../../src/spool/entry.ts';
import { ends } from '../../support/ends.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { API_KEY, PUBLIC_KEY } from '../../support/telnyx-stand-in.ts';
import {
  inboundForm,
  mediaForm,
  messageSid,
  OUR_NUMBER,
  THEIR_NUMBER,
} from '../../support/twilio-stand-in.ts';
import { type RunningWebhook, smsShop, startWebhook } from './running-door.ts';

/** A shop takes its number to another provider while texts of the first one wait. */

let webhook: RunningWebhook;
const moved: SmsShop = {
  ...smsShop(),
  account: telnyxShopAccount({ apiKey: API_KEY, publicKey: PUBLIC_KEY }),
};

beforeEach(async () => {
  webhook = await startWebhook();
  ends(() => webhook.close());
});

function normalize(claimed: Claimed) {
  const normalizer = createSmsNormalizer(
    { shops: [moved], scratchDir: join(webhook.dir, 'scratch') },
    {
      optOuts: webhook.store.optOuts,
      personOf: (lane) => webhook.store.spool.personOf(lane),
      countMessage: () => Promise.resolve(undefined),
      clock: Date.now,
      logger: silentLogger,
      metrics: webhook.metrics,
    },
  );
  return normalizer(claimed, new AbortController().signal);
}

test('a waiting text is submitted, with a line for the picture that nobody has', async () => {
  const sid = messageSid(1, 'MM');
  await webhook.send(inboundForm({ MessageSid: sid, ...mediaForm(sid, 1) }));
  const claimed = await webhook.claim();
  if (claimed === undefined) throw new Error('nothing to claim');
  const normalized = await normalize(claimed);
  ends(() => normalized.dispose());
  expect(normalized).toMatchObject({
    verdict: { kind: 'deliver' },
    request: {
      contact: { phone: THEIR_NUMBER },
      conversation: { agent_contact: OUR_NUMBER },
      message: { content: 'Where is my order?', remote_id: sid },
    },
    findings: { mediaRefused: 1 },
  });
  const [attachment] = normalized.attachments;
  await expect(attachment?.open(new AbortController().signal)).rejects.toMatchObject({
    name: 'AttachmentUnavailable',
  });
});

test('a waiting STOP still opts out, by the words of the provider that answered it', async () => {
  await webhook.send(inboundForm({ MessageSid: messageSid(1), Body: 'REVOKE' }));
  const claimed = await webhook.claim();
  if (claimed === undefined) throw new Error('nothing to claim');
  expect((await normalize(claimed)).verdict).toMatchObject({ reason: { code: 'opt_out' } });
});

test('an opt-out holds at the next provider, until they opt in there', async () => {
  const { optOuts } = webhook.store;
  const { shopId } = moved;
  const at = (account: string) => laneOf({ account, to: OUR_NUMBER, from: THEIR_NUMBER });
  const own = optOutsOf(optOuts, undefined);
  await own.optOut(shopId, at('AC1'), 'first');
  expect(await own.isOptedOut(shopId, at('telnyx'))).toBe(true);
  expect(await own.isOptedOut(shopId, at('telnyx').replace('/sms/', '/rcs/'))).toBe(false);
  expect(await own.optIn(shopId, at('telnyx'), 'second')).toBe(true);
  for (const account of ['AC1', 'telnyx'])
    expect(await own.isOptedOut(shopId, at(account))).toBe(false);
  // As it was stored before.
  await optOuts.optOut(shopId, at('AC1'), 'third');
  expect(await own.isOptedOut(shopId, at('AC1'))).toBe(true);
  expect(await own.optIn(shopId, at('AC1'), 'fourth')).toBe(true);
  expect(await own.isOptedOut(shopId, at('AC1'))).toBe(false);
});
