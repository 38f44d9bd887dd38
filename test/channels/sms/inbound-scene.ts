import { join } from 'node:path';
import { createSmsNormalizer } from '../../../src/channels/sms/normalize.ts';
import { Conversations } from '../../../src/delivery/conversations.ts';
import { Dispatcher } from '../../../src/delivery/dispatcher.ts';
import { ShopPlatform } from '../../../src/delivery/shop-platform.ts';
import type { SmsShop } from '../../../src/channels/sms/shop.ts';
import { createIntake } from '../../../src/intake/intake.ts';
import type { Normalizer } from '../../../src/intake/normalizer.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { PlatformClient } from '../../../src/platform-api/client.ts';
import { asShopId } from '../../../src/domain/ids.ts';
import { ScriptedPlatform, uuid } from '../../support/scripted-platform.ts';
import {
  ACCOUNT_SID,
  AUTH_TOKEN,
  OUR_NUMBER,
  startTwilioStandIn,
  type TwilioStandIn,
} from '../../support/twilio-stand-in.ts';
import {
  MESSAGING_SERVICE,
  RCS_AGENT,
  RESOLVED,
  SHORT_CODE,
  STRICT_NUMBER,
} from './inbound-cases.ts';
import { type RunningWebhook, smsShop, startWebhook } from './running-door.ts';

/** The whole way of an SMS: webhook, spool, normalizer and delivery, between two stand-ins. */
export interface InboundScene {
  readonly webhook: RunningWebhook;
  /** A webhook whose spool is closed. */
  readonly closed: RunningWebhook;
  readonly twilio: TwilioStandIn;
  readonly platform: ScriptedPlatform;
  wake(): void;
  close(): Promise<void>;
}

const CONTACT = {
  id: uuid('b', 1),
  parent_contact_id: null,
  created_at: '2026-01-01T00:00:00Z',
  updated_at: '2026-01-01T00:00:00Z',
};

/** A platform that knows every contact, so that events about them are taken. */
async function startPlatform(): Promise<{ platform: ScriptedPlatform; url: string }> {
  const platform = new ScriptedPlatform();
  platform.script = ({ method, path }) =>
    method === 'GET' && path.startsWith('/contacts/')
      ? { status: 200, body: { results: [CONTACT] } }
      : undefined;
  return { platform, url: await platform.start() };
}

const shopsFor = (apiBaseUrl: string) => {
  const twilio = { accountSid: ACCOUNT_SID, authTokens: [AUTH_TOKEN], apiBaseUrl };
  const other = (n: number) => asShopId(`${String(n).repeat(8)}-2222-4222-8222-222222222222`);
  return [
    smsShop({
      numbers: [OUR_NUMBER, `rcs:${RCS_AGENT}`],
      messagingServiceSids: [MESSAGING_SERVICE],
      twilio,
    }),
    smsShop({ name: 'short', shopId: other(2), numbers: [SHORT_CODE], twilio, optOut: 'none' }),
    smsShop({
      name: 'strict',
      shopId: other(3),
      numbers: [STRICT_NUMBER],
      twilio,
      whatsapp: 'hold',
    }),
  ];
};

const notSms: Normalizer = () => Promise.reject(new Error('only texts come here'));

/**
 * @param shopsAt the shops, with their provider at this base URL
 * @param resolved what media hosts resolve to
 */
export async function startInboundScene(
  shopsAt: (baseUrl: string) => readonly SmsShop[] = shopsFor,
  resolved: Readonly<Record<string, string>> = RESOLVED,
): Promise<InboundScene> {
  const [twilio, { platform, url }] = await Promise.all([startTwilioStandIn(), startPlatform()]);
  const shops = shopsAt(twilio.baseUrl);
  const webhook = await startWebhook({ shops });
  const { store, metrics } = webhook;
  const intake = createIntake({
    ...{ spool: store.spool, chat: store.chat, metrics, clock: Date.now },
    onAccepted: () => dispatcher.wake(),
  });
  const sms = createSmsNormalizer(
    {
      shops,
      scratchDir: join(webhook.dir, 'scratch'),
      media: { retry: { retries: 3, minTimeoutMs: 1 } },
    },
    {
      optOuts: store.optOuts,
      personOf: (lane) => store.spool.personOf(lane),
      countMessage: (message, limits) => store.spool.countMessage(message, limits),
      clock: Date.now,
      logger: silentLogger,
      metrics,
      lookup: (host, _options, callback) =>
        callback(null, [{ address: resolved[host] ?? '127.0.0.1', family: 4 }]),
    },
  );
  const platforms = shops.map(({ shopId, name }) => {
    const limits = { requestTimeoutMs: 30_000, mediaTimeoutMs: 30_000 };
    const client = new PlatformClient({ baseUrl: url, apiKey: 'key', shopId, ...limits });
    const mediaPermission = { email: 'private', sms: 'private', web_chat: 'private' } as const;
    const settings = { shopId, name, platformUrl: url, client, mediaPermission };
    return new ShopPlatform(settings, { clock: Date.now, random: () => 0 });
  });
  const dispatcher: Dispatcher = new Dispatcher(
    platforms,
    {
      ...{ spool: store.spool, leases: store.leases },
      ...{ intake, metrics, logger: silentLogger, clock: Date.now },
      conversations: new Conversations(store.spool, Date.now),
      normalizers: { email: notSms, sms, web_chat: notSms },
      random: () => 0,
      giveUpAfterMs: 3_600_000,
      onSettled: () => undefined,
    },
    { concurrency: 4 },
  );
  dispatcher.start();
  const closed = await startWebhook({ shops });
  await closed.store.spool.close();
  return {
    ...{ webhook, closed, twilio, platform },
    wake: () => dispatcher.wake(),
    close: async () => {
      await dispatcher.stop(0);
      for (const { client } of platforms) client.close();
      await Promise.all([webhook.close(), closed.close(), twilio.close(), platform.stop()]);
    },
  };
}
