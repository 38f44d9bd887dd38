import { parseAddress } from '../../../channels/sms/address.ts';
import { type Change, type CheckResult, resultsFor } from '../check.ts';
import { differences, shownUrl, webhookUrl } from '../public-url.ts';
import type { InboundSettings, MessagingService, Sender } from './account.ts';

/** Checks whether the text messages of a number or a messaging service reach this gateway. */

/**
 * What determines where a number's texts are sent (Twilio, IncomingPhoneNumber and Service
 * resources).
 */
export type Handler =
  | { readonly kind: 'own' }
  | { readonly kind: 'application'; readonly sid: string; readonly settings: InboundSettings }
  | { readonly kind: 'service'; readonly sid: string };

/** What Twilio's API returns for one configured number. */
export type NumberLookup =
  | { readonly kind: 'missing' }
  | { readonly kind: 'unknown'; readonly message: string }
  | { readonly kind: 'there'; readonly sender: Sender; readonly handler: Handler };

/** Why a configured address cannot be looked up among an account's numbers, if it cannot. */
export function whyNotLookedUp(address: string): string | undefined {
  const { transport } = parseAddress(address);
  if (transport === 'sms') return undefined;
  return (
    `${transport} senders are not among an account's numbers: ` +
    "compare their webhook in Twilio's console with the required one"
  );
}

/** @param why shown to the operator */
export const numberSkipped = (shop: string, number: string, why: string): CheckResult =>
  resultsFor('twilio.number', `${shop} ${number}`, EXISTS).skipped(why);

const EXISTS = 'a number of the account';

/** Whether a number is in the account, and whether its texts are sent to this gateway. */
export function checkNumber(
  shop: string,
  number: string,
  lookup: NumberLookup,
  publicUrl: string,
): CheckResult[] {
  const subject = `${shop} ${number}`;
  const exists = resultsFor('twilio.number', subject, EXISTS);
  if (lookup.kind === 'missing') {
    const todo = 'add the number to this account, or correct sms.numbers and accountSid';
    return [exists.failed('the account has no such number', todo)];
  }
  if (lookup.kind === 'unknown') {
    return [exists.failed(lookup.message, 'try again; check the permissions of the credentials')];
  }
  const { sender, handler } = lookup;
  const there = exists.ok(`${sender.kind} ${sender.sid}`);
  if (handler.kind === 'service') {
    const wanted = `POST ${webhookUrl(publicUrl)}`;
    const ignored =
      `ignored: messaging service ${handler.sid} handles its texts, ` +
      'and does not use the webhook of the number';
    return [
      there,
      resultsFor('twilio.webhook', subject, wanted).skipped(ignored),
      resultsFor('twilio.fallback', subject, wanted).skipped(ignored),
    ];
  }
  const asked =
    handler.kind === 'own'
      ? { todo: `set it in Twilio's console, or run sluice doctor --fix` }
      : {
          by: `SmsUrl is ignored, application ${handler.sid} decides`,
          todo:
            `set it at that application, or clear the number's SmsApplicationSid and run ` +
            'sluice doctor --fix (which does not change applications, since others may use them)',
        };
  const settings = handler.kind === 'own' ? sender : handler.settings;
  return [there, ...checkInbound({ name: subject, ...asked }, settings, publicUrl)];
}

const IN_THE_CONSOLE =
  "set it in Twilio's console, Messaging, Services, Integration (--fix changes only numbers)";

/**
 * Whether the texts of a messaging service are sent to this gateway: by the webhook of each number
 * if UseInboundWebhookOnNumber is set, otherwise by InboundRequestUrl and FallbackUrl. Without an
 * InboundRequestUrl, Twilio drops texts without logging it.
 * @param service undefined when the account has none with this SID
 */
export function checkService(
  shop: string,
  sid: string,
  service: MessagingService | undefined,
  publicUrl: string,
): CheckResult[] {
  const subject = `${shop} ${sid}`;
  const { ok, failed } = resultsFor(
    'twilio.service',
    subject,
    'a messaging service of the account',
  );
  if (service === undefined) {
    const todo = 'correct sms.twilio.messagingServiceSids';
    return [failed('the account has no such service', todo)];
  }
  if (service.usesNumbersOwn) return [ok('it uses the webhook of each number')];
  const dropped = service.url === '' ? ', and it is not set, so messages are lost' : '';
  return [
    ok(`its own webhook is used for its numbers${dropped}`),
    ...checkInbound({ name: subject, todo: IN_THE_CONSOLE }, service, publicUrl),
  ];
}

/** The services could not be read, so it is not known whether a number's own webhook is used. */
export function servicesUnknown(shop: string, configured: boolean, message: string): CheckResult {
  const { warning, failed } = resultsFor('twilio.service', shop, 'readable messaging services');
  const todo = "check in Twilio's console that no messaging service handles these numbers";
  return configured ? failed(message, todo) : warning(message, todo);
}

interface InboundSubject {
  /** `acme +15550001111` */
  readonly name: string;
  /** What determines the webhook if it is not the number itself: `application AP…`. */
  readonly by?: string;
  readonly todo: string;
}

/** Compares the webhook and its fallback at Twilio with the expected URLs. */
function checkInbound(
  subject: InboundSubject,
  settings: InboundSettings,
  publicUrl: string,
): [webhook: CheckResult, fallback: CheckResult] {
  const check = (name: string, url: string, method: string): CheckResult => {
    const wanted = `POST ${webhookUrl(publicUrl)}`;
    const { ok, failed } = resultsFor(name, subject.name, wanted);
    const by = subject.by === undefined ? '' : `${subject.by}: `;
    const copy = webhookUrl(publicUrl);
    if (url === '') return { ...failed(`${by}no URL is set`, subject.todo), copy };
    const wrong = wrongWith(url, method, publicUrl);
    const found = `${by}${method} ${shownUrl(url)}`;
    return wrong.length === 0
      ? ok(found)
      : { ...failed(`${found} (${wrong.join(', ')})`, subject.todo), copy };
  };
  const { url, method, fallbackUrl, fallbackMethod } = settings;
  return [
    check('twilio.webhook', url, method),
    check('twilio.fallback', fallbackUrl, fallbackMethod),
  ];
}

function wrongWith(url: string, method: string, publicUrl: string): string[] {
  const wrong = differences(url, publicUrl);
  return isPost(method) ? wrong : [...wrong, `${method || 'no method'} for POST`];
}

const isPost = (method: string): boolean => method.toUpperCase() === 'POST';

/** The required changes. A setting that already works, such as one with timeouts, is kept. */
export function neededChanges(
  settings: InboundSettings,
  publicUrl: string,
): Partial<InboundSettings> {
  const url = webhookUrl(publicUrl);
  return {
    ...(differences(settings.url, publicUrl).length > 0 && { url }),
    ...(!isPost(settings.method) && { method: 'POST' }),
    ...(differences(settings.fallbackUrl, publicUrl).length > 0 && { fallbackUrl: url }),
    ...(!isPost(settings.fallbackMethod) && { fallbackMethod: 'POST' }),
  };
}

const NAMES = {
  url: 'SmsUrl',
  method: 'SmsMethod',
  fallbackUrl: 'SmsFallbackUrl',
  fallbackMethod: 'SmsFallbackMethod',
} as const;

/** The differences between two states of one number, for the webhook and for the fallback. */
export function changesBetween(
  before: InboundSettings,
  after: InboundSettings,
): [webhook: Change[], fallback: Change[]] {
  const changes = (...keys: (keyof InboundSettings)[]): Change[] =>
    keys
      .filter((key) => before[key] !== after[key])
      .map((key) => ({
        setting: NAMES[key],
        before: shownUrl(before[key]),
        after: shownUrl(after[key]),
      }));
  return [changes('url', 'method'), changes('fallbackUrl', 'fallbackMethod')];
}
