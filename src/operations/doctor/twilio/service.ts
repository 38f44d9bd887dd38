import { type CheckResult, verdicts } from '../check-result.ts';
import { checkInbound } from './inbound.ts';
import type { MessagingService } from './settings.ts';

const IN_THE_CONSOLE =
  "set it in Twilio's console, Messaging, Services, Integration (--fix changes numbers alone)";

/**
 * Whether the texts of a messaging service come here: by the webhook of each number when
 * UseInboundWebhookOnNumber is set, else by InboundRequestUrl and FallbackUrl. Without an
 * InboundRequestUrl Twilio drops what arrives, unlogged.
 * @param service undefined when the account has none with this SID
 */
export function checkService(
  shop: string,
  sid: string,
  service: MessagingService | undefined,
  publicUrl: string,
): CheckResult[] {
  const subject = `${shop} ${sid}`;
  const { ok, failed } = verdicts('twilio.service', subject, 'a messaging service of the account');
  if (service === undefined) {
    const todo = 'correct sms.twilio.messagingServiceSids';
    return [failed('the account has no such service', todo)];
  }
  if (service.usesNumbersOwn) return [ok('it uses the webhook of each number')];
  const dropped = service.url === '' ? ', and with none it receives nothing' : '';
  return [
    ok(`its own webhook decides for its numbers${dropped}`),
    ...checkInbound({ name: subject, todo: IN_THE_CONSOLE }, service, publicUrl),
  ];
}

/** The services could not be read: whether a number's own webhook counts is not known then. */
export function servicesUnknown(shop: string, configured: boolean, said: string): CheckResult {
  const { warning, failed } = verdicts(
    'twilio.service',
    shop,
    'messaging services that can be looked at',
  );
  const todo = 'see in the console that no messaging service takes the texts of these numbers';
  return configured ? failed(said, todo) : warning(said, todo);
}
