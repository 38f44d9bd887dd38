import { createHash } from 'node:crypto';
import type { ChatShop } from '../channels/chat/shop.ts';
import type { EmailShop, ShopMailSettings, TokenShop } from '../channels/email/shop.ts';
import type { ProviderAccount } from '../channels/sms/provider.ts';
import { telnyxShopAccount, type TelnyxAccount } from '../channels/sms/providers/telnyx/account.ts';
import { type TwilioAccount, twilioShopAccount } from '../channels/sms/providers/twilio/account.ts';
import {
  type WhatsAppAccount,
  whatsappShopAccount,
} from '../channels/sms/providers/whatsapp-cloud/account.ts';
import type { SmsShop } from '../channels/sms/shop.ts';
import type { CompleteConfig } from '../config/complete.ts';
import type { ShopConfig } from '../config/config.ts';
import { LOCAL, platformUrlOf } from './platform-url.ts';
import type { TelnyxShop } from '../operations/doctor/telnyx.ts';
import type { TwilioShop } from '../operations/doctor/twilio/check-shop.ts';
import type { WhatsAppShop } from '../operations/doctor/whatsapp.ts';

/** The settings of a shop for each part. No part reads the configuration itself. */

type With<Key extends 'email' | 'sms' | 'chat'> = ShopConfig & {
  readonly [K in Key]-?: NonNullable<ShopConfig[K]>;
};

const has =
  <Key extends 'email' | 'sms' | 'chat'>(key: Key) =>
  (shop: ShopConfig): shop is With<Key> =>
    shop[key] !== undefined;

export function emailShops(config: CompleteConfig): EmailShop[] {
  return config.shops.filter(has('email')).map(({ shopId, email }) => ({
    shopId,
    addresses: email.addresses,
    formSenders: email.formSenders,
    severalInboxes: email.severalInboxes,
    ...(email.dmarc === 'reject' && {
      refusesForged: {
        trustedArcSealers: email.trustedArcSealers,
        senders: { addresses: email.addresses, formSenders: email.formSenders },
      },
    }),
  }));
}

/** The tokens with which a shop may post email over HTTP. */
export function inboundTokens(config: CompleteConfig): TokenShop[] {
  return config.shops.filter(has('email')).map(({ shopId, email }) => ({
    shopId,
    tokens: email.inboundTokens.map((token) => token.reveal()),
  }));
}

/** How each shop wants its email to be read. */
export function mailSettings(config: CompleteConfig): ShopMailSettings[] {
  return config.shops.filter(has('email')).map(({ shopId, email }) => ({
    shopId,
    addresses: email.addresses,
    formSenders: email.formSenders,
    allowSenders: email.allowSenders,
    replyDomains: email.replyDomains,
    body: email.body,
    showImages: email.mediaPermission === 'public',
    quotes: email.quotes,
    suppress: email.suppress,
    senderRules: { dmarc: email.dmarc, unverified: email.unverified },
    trustedArcSealers: email.trustedArcSealers,
    forwarders: email.forwarders,
    loop: email.loop,
  }));
}

export function smsShops(config: Pick<CompleteConfig, 'shops' | 'platform'>): SmsShop[] {
  return config.shops.filter(has('sms')).map(({ name, shopId, sms, ...shop }) => ({
    name,
    shopId,
    hasNotes: platformUrlOf(config, shop) === LOCAL,
    numbers: sms.numbers,
    services: sms.twilio?.messagingServiceSids ?? sms.whatsappCloud?.phoneNumberIds ?? [],
    account: providerAccount(sms),
    optOut: sms.optOut === 'none' ? 'none' : 'provider',
    whatsapp: sms.whatsapp,
    loop: sms.loop,
  }));
}

type SmsConfig = With<'sms'>['sms'];
type ChatConfig = With<'chat'>['chat'];

function providerAccount(sms: SmsConfig): ProviderAccount {
  const { twilio, telnyx } = sms;
  if (twilio !== undefined) return twilioShopAccount(twilioAccount(twilio));
  if (telnyx !== undefined) return telnyxShopAccount(telnyxAccount(telnyx));
  const whatsapp = whatsappAccount(sms);
  if (whatsapp !== undefined) return whatsappShopAccount(whatsapp);
  throw new Error('a shop without an SMS provider: the configuration was not checked');
}

/** The shops with an account at Twilio, for the checks of its settings. */
export function twilioShops(config: Pick<CompleteConfig, 'shops'>): TwilioShop[] {
  return config.shops.filter(has('sms')).flatMap(({ name, sms: { numbers, twilio } }) => {
    if (twilio === undefined) return [];
    const { messagingServiceSids } = twilio;
    return [{ name, numbers, messagingServiceSids, twilio: twilioAccount(twilio) }];
  });
}

function twilioAccount(twilio: NonNullable<SmsConfig['twilio']>): TwilioAccount {
  const { accountSid, authTokens, sharedKeys, baseUrl, apiKeySid, apiKeySecret } = twilio;
  return {
    accountSid,
    authTokens: authTokens.map((token) => token.reveal()),
    sharedKeys: sharedKeys.map(({ sid, secret }) => ({ sid, secret: secret.reveal() })),
    apiBaseUrl: baseUrl,
    ...(apiKeySid !== undefined && { apiKeySid }),
    ...(apiKeySecret !== undefined && { apiKeySecret: apiKeySecret.reveal() }),
  };
}

/** The shops with an account at Telnyx, for the checks of its settings. */
export function telnyxShops(config: Pick<CompleteConfig, 'shops'>): TelnyxShop[] {
  return config.shops
    .filter(has('sms'))
    .flatMap(({ name, sms: { numbers, telnyx } }) =>
      telnyx === undefined ? [] : [{ name, numbers, telnyx: telnyxAccount(telnyx) }],
    );
}

const telnyxAccount = (telnyx: NonNullable<SmsConfig['telnyx']>): TelnyxAccount => ({
  apiKey: telnyx.apiKey.reveal(),
  publicKey: telnyx.publicKey,
  apiBaseUrl: telnyx.baseUrl,
});

/** The shops with numbers at Meta, for the checks of its settings. */
export function whatsappShops(config: Pick<CompleteConfig, 'shops'>): WhatsAppShop[] {
  return config.shops.filter(has('sms')).flatMap(({ name, sms }) => {
    const whatsapp = whatsappAccount(sms);
    return whatsapp === undefined ? [] : [{ name, whatsapp }];
  });
}

function whatsappAccount({ numbers, whatsappCloud }: SmsConfig): WhatsAppAccount | undefined {
  if (whatsappCloud === undefined) return undefined;
  const { accessToken, appSecrets, verifyToken, phoneNumberIds, template, baseUrl } = whatsappCloud;
  return {
    accessToken: accessToken.reveal(),
    appSecrets: appSecrets.map((secret) => secret.reveal()),
    verifyToken: verifyToken.reveal(),
    senders: phoneNumberIds.flatMap((phoneNumberId, index) => {
      const number = numbers[index];
      return number === undefined ? [] : [{ number, phoneNumberId }];
    }),
    apiBaseUrl: baseUrl,
    ...(template !== undefined && { template }),
  };
}

export function chatShops(config: CompleteConfig): ChatShop[] {
  return config.shops.filter(has('chat')).map(({ shopId, chat }) => ({
    shopId,
    key: chat.key,
    origins: chat.origins,
    allowNoOrigin: chat.allowNoOrigin,
    identitySecrets: chat.identitySecrets.map((secret) => secret.reveal()),
    limits: chat.limits,
    ...teamOf(chat.widget),
  }));
}

/**
 * The widget's settings without what visitors must not get: the platform's ids, and where
 * pictures and texts are stored.
 */
function teamOf({
  agent,
  people,
  languages,
  ...widget
}: ChatConfig['widget']): Pick<ChatShop, 'widget' | 'people' | 'pictures' | 'texts'> {
  const pictures = new Map<string, string>();
  const shown = (one: { readonly name?: string; readonly picture?: string }) => {
    const { name, picture: file } = one;
    if (file === undefined) return { ...(name !== undefined && { name }) };
    const id = createHash('sha256').update(file).digest('hex').slice(0, 16);
    pictures.set(id, file);
    return { ...(name !== undefined && { name }), picture: `widget/picture/${id}` };
  };
  return {
    widget: { ...widget, ...(agent && { agent: { ...shown(agent), kind: agent.kind } }) },
    people: new Map(people.map((person) => [person.id, shown(person)])),
    pictures,
    texts: new Map(languages.map(({ language, file }) => [language, file])),
  };
}

/** The shops that trust an address that a visitor typed without proof. */
export function trustingShops(config: CompleteConfig): ReadonlySet<string> {
  return new Set(
    config.shops.filter((shop) => shop.chat?.trustUnverifiedEmail).map(({ shopId }) => shopId),
  );
}
