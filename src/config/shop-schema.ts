import { z } from 'zod';
import { domain, forwarder, httpUrl, origin, platformUrl } from './network-fields.ts';
import {
  bearerSecret,
  bytes,
  choice,
  durationOrForever,
  flag,
  path,
  secret,
  whole,
} from './scalar-fields.ts';
import {
  authorId,
  color,
  ed25519Key,
  inboxAddress,
  label,
  languageTag,
  metaId,
  phoneNumber,
  shownUrl,
  senderPattern,
  shownText,
  templateLanguage,
  templateName,
  timeOfDay,
  timeZone,
  weekday,
  sharedKeySid,
  twilioSid,
  uuid,
} from './shop-fields.ts';

const PRIVATE = () => choice('private', 'public').prefault('private');

const email = z.strictObject({
  addresses: z.array(inboxAddress()).min(1),
  severalInboxes: choice('first', 'each').prefault('first'),
  dmarc: choice('hold', 'reject', 'observe').prefault('hold'),
  unverified: choice('deliver', 'label', 'hold').prefault('deliver'),
  forwarders: z.array(forwarder('mail.acme-hosting.example')).prefault([]),
  unverifiedAnswers: z
    .strictObject({
      perHourPerNetwork: whole(1, 10_000, 10).prefault('10'),
      perHourPerShop: whole(1, 10_000, 60).prefault('60'),
    })
    .prefault({}),
  trustedArcSealers: z
    .array(domain('google.com'))
    .prefault(['google.com', 'microsoft.com', 'outlook.com']),
  suppress: z
    .array(choice('auto-reply', 'bounce', 'complaint', 'report', 'loop', 'bulk'))
    .prefault(['auto-reply', 'bounce', 'complaint', 'report', 'loop', 'bulk']),
  allowSenders: z.array(senderPattern()).prefault([]),
  formSenders: z.array(senderPattern()).prefault([]),
  body: choice('auto', 'html', 'text').prefault('auto'),
  quotes: choice('known', 'always', 'never').prefault('known'),
  replyDomains: z.array(domain('mail.acme.example')).prefault([]),
  mediaPermission: PRIVATE(),
  inboundTokens: z
    .array(bearerSecret('a token of at least 16 characters, for POST /email/inbound', 16))
    .prefault([]),
  loop: z
    .strictObject({
      per10min: whole(1, 1_000_000, 10).prefault('10'),
      perHour: whole(1, 1_000_000, 25).prefault('25'),
      perThreadPer10min: whole(1, 1_000_000, 5).prefault('5'),
      sameBodyPerHour: whole(1, 1_000_000, 3).prefault('3'),
    })
    .prefault({}),
});

const authToken = () =>
  secret('an auth token of the Twilio account, not an SID', 1, [
    [/^[A-Z]{2}[0-9a-f]{32}$/, "copy the auth token, which is below this SID in Twilio's console"],
  ]);

const twilio = z.strictObject({
  accountSid: twilioSid('AC'),
  authTokens: z.array(authToken()).min(1),
  sharedKeys: z
    .array(z.strictObject({ sid: sharedKeySid(), secret: secret('the secret of the shared key') }))
    .prefault([]),
  apiKeySid: z.exactOptional(twilioSid('SK')),
  apiKeySecret: z.exactOptional(secret('the secret of the Twilio API key')),
  messagingServiceSids: z.array(twilioSid('MG')).prefault([]),
  baseUrl: httpUrl("the base URL of Twilio's API", 'https://api.twilio.com').prefault(
    'https://api.twilio.com',
  ),
});

const telnyx = z.strictObject({
  apiKey: bearerSecret('an API key of the Telnyx account: no spaces in it'),
  publicKey: ed25519Key(),
  baseUrl: httpUrl("the base URL of Telnyx's API", 'https://api.telnyx.com', [
    [/\/v2\/?$/, 'write it without /v2, which is added'],
  ]).prefault('https://api.telnyx.com'),
});

const whatsappCloud = z.strictObject({
  phoneNumberIds: z.array(metaId('106540352242922')).min(1),
  accessToken: bearerSecret('an access token of a system user at Meta: no spaces in it', 1, [
    [/^\d{5,20}\|/, "copy the token of a system user: this is the app's own"],
  ]),
  appSecrets: z
    .array(
      secret('an app secret of the Meta app', 1, [
        [/^\d{5,20}$/, 'copy the app secret, 32 hex digits: this is an id'],
      ]),
    )
    .min(1),
  verifyToken: secret('a verify token, which you make up'),
  template: z.exactOptional(z.strictObject({ name: templateName(), language: templateLanguage() })),
  baseUrl: httpUrl(
    "the base URL of Meta's Graph API, with its version",
    'https://graph.facebook.com/v25.0',
    [
      [
        /^https:\/\/graph\.facebook\.com\/?$/,
        'write its version, too: https://graph.facebook.com/v25.0',
      ],
    ],
  ).prefault('https://graph.facebook.com/v25.0'),
});

/** The provider is the one that is given: `cross-checks.ts` requires exactly one. */
const sms = z.strictObject({
  numbers: z.array(phoneNumber()).min(1),
  twilio: z.exactOptional(twilio),
  telnyx: z.exactOptional(telnyx),
  // `whatsapp` is a setting of all providers.
  whatsappCloud: z.exactOptional(whatsappCloud),
  continuity: durationOrForever('forever').prefault('forever'),
  // `twilio` is what `provider` was called when there was no other one.
  optOut: choice('provider', 'none', 'twilio').prefault('provider'),
  whatsapp: choice('deliver', 'hold').prefault('deliver'),
  whatsappTemplate: z.exactOptional(twilioSid('HX')),
  mediaPermission: PRIVATE(),
  loop: z
    .strictObject({
      per10min: whole(1, 1_000_000, 30).prefault('30'),
      perHour: whole(1, 1_000_000, 60).prefault('60'),
      perDay: whole(1, 1_000_000, 150).prefault('150'),
      sameBodyPerHour: whole(1, 1_000_000, 5).prefault('5'),
    })
    .prefault({}),
});

/** A page's `data-` attributes override these. */
const widget = z
  .strictObject({
    name: z.exactOptional(shownText(60, 'Acme support')),
    greeting: z.exactOptional(shownText(500, 'Hello! How can we help?')),
    color: z.exactOptional(color('"#0f6fde"')),
    position: choice('auto', 'right', 'left').prefault('auto'),
    offsetX: z.exactOptional(whole(0, 10_000, 10)),
    offsetY: z.exactOptional(whole(0, 10_000, 60)),
    zIndex: z.exactOptional(whole(1, 2_147_483_647, 1_000)),
    logo: z.exactOptional(shownUrl('a picture', 'https://acme.example/logo.png')),
    preChat: choice('off', 'optional', 'required').prefault('off'),
    privacy: z.exactOptional(shownUrl('a page', 'https://acme.example/privacy')),
    starters: z.exactOptional(z.array(shownText(80, 'Where is my order?')).max(6)),
    agent: z.exactOptional(
      z.strictObject({
        name: z.exactOptional(shownText(60, 'Mia')),
        picture: z.exactOptional(path('/etc/sluice/mia.png')),
        kind: choice('ai', 'person').prefault('ai'),
      }),
    ),
    people: z
      .array(
        z.strictObject({
          id: authorId(),
          name: shownText(60, 'Tom Baker'),
          picture: z.exactOptional(path('/etc/sluice/tom.png')),
        }),
      )
      .max(500)
      .prefault([]),
    hours: z.exactOptional(
      z.strictObject({
        zone: timeZone(),
        open: z
          .array(
            z.strictObject({
              days: z.array(weekday()).min(1).max(7),
              from: timeOfDay('"09:00"'),
              to: timeOfDay('"18:00"'),
            }),
          )
          .min(1)
          .max(14),
      }),
    ),
    pageLine: flag().prefault('false'),
    languages: z
      .array(
        z.strictObject({
          language: languageTag(),
          file: path('/etc/sluice/widget-sv.json'),
        }),
      )
      .max(100)
      .prefault([]),
  })
  .prefault({});

const chat = z.strictObject({
  key: label('acme'),
  origins: z.array(origin()).prefault([]),
  allowNoOrigin: flag().prefault('false'),
  identitySecrets: z
    .array(secret('a secret of at least 32 characters, shared with your own server', 32))
    .prefault([]),
  trustUnverifiedEmail: flag().prefault('false'),
  mediaPermission: PRIVATE(),
  limits: z
    .strictObject({
      messagesPer10s: whole(1, 10_000, 10).prefault('10'),
      newVisitorsPerHourPerIp: whole(1, 1_000_000, 60).prefault('60'),
      socketsPerIp: whole(1, 1_000_000, 50).prefault('50'),
      uploadBytesPerHourPerIp: bytes(26_214_400, 1_000_000_000_000, 536_870_912).prefault(
        '536870912',
      ),
    })
    .prefault({}),
  widget,
});

/**
 * One tenant. Keys without a default here are facts about the shop. The defaults are repeated in
 * `config/default.yaml` as comments; a test keeps the two equal.
 */
export const shopSchema = z.strictObject({
  name: label('acme'),
  shopId: uuid(),
  apiKey: bearerSecret("the shop's API key, from the platform's dashboard: no spaces in it"),
  platformUrl: z.exactOptional(platformUrl()),
  agent: choice('on', 'off').prefault('on'),
  desk: z.strictObject({ answerWithin: durationOrForever('4h').prefault('4h') }).prefault({}),
  email: z.exactOptional(email),
  sms: z.exactOptional(sms),
  chat: z.exactOptional(chat),
});
