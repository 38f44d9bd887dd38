import { type Change, type CheckResult, verdicts } from '../check-result.ts';
import { differences, shownUrl, webhookUrl } from '../webhook-url.ts';
import type { InboundSettings } from './settings.ts';

export interface InboundSubject {
  /** `acme +15550001111` */
  readonly name: string;
  /** What decides when it is not the number itself: `application AP…`. */
  readonly by?: string;
  readonly todo: string;
}

/** The webhook and its fallback, as they are set at Twilio, against what they should be. */
export function checkInbound(
  subject: InboundSubject,
  settings: InboundSettings,
  publicUrl: string,
): [webhook: CheckResult, fallback: CheckResult] {
  const check = (name: string, url: string, method: string): CheckResult => {
    const wanted = `POST ${webhookUrl(publicUrl)}`;
    const { ok, failed } = verdicts(name, subject.name, wanted);
    const by = subject.by === undefined ? '' : `${subject.by}: `;
    if (url === '') return failed(`${by}nothing is set`, subject.todo);
    const wrong = wrongWith(url, method, publicUrl);
    const found = `${by}${method} ${shownUrl(url)}`;
    return wrong.length === 0 ? ok(found) : failed(`${found} (${wrong.join(', ')})`, subject.todo);
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

/** What has to change; empty when nothing. What serves already, with timeouts say, stays. */
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

/** What differs between two states of one number, for the webhook and for the fallback. */
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
