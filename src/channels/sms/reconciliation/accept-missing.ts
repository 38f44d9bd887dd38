import type { Arrival, Intake } from '../../../intake/intake.ts';
import type { Logger } from '../../../observability/logger.ts';
import type { Metrics } from '../../../observability/metrics.ts';
import type { Spool } from '../../../spool/spool.ts';
import type { ListedText, MessageLists } from '../provider.ts';
import { arrivalOf } from '../receive.ts';
import { isOurs, type SmsShop } from '../shop.ts';
import { BadParameter } from '../webhook-request.ts';

/** Accepted per call: few enough that little is repeated after a failure. */
const BATCH = 100;

export interface AcceptParts {
  readonly spool: Pick<Spool, 'knownKeys'>;
  readonly intake: Pick<Intake, 'accept'>;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

/** A listed message and its shop. */
export interface ForShop {
  readonly message: ListedText;
  readonly sentAt: number;
  readonly shop: SmsShop;
}

/**
 * Accepts the messages without an entry, in the given order. The look-up avoids requests for
 * them; the intake makes the final decision, so a webhook may arrive in between.
 * @returns the number of new entries
 * @throws {ProviderFailed} {SpoolFull} {SpoolUnavailable} earlier messages were accepted
 */
export async function acceptMissing(
  messages: readonly ForShop[],
  lists: Pick<MessageLists, 'receive'>,
  parts: AcceptParts,
): Promise<number> {
  let found = 0;
  for (let start = 0; start < messages.length; start += BATCH) {
    const batch = await withoutKnown(messages.slice(start, start + BATCH), parts.spool);
    const arrivals: ShopArrival[] = [];
    for (const message of batch) {
      const arrival = await read(message, lists, parts);
      if (arrival !== undefined) arrivals.push(arrival);
    }
    if (arrivals.length > 0) found += await accept(arrivals, parts);
  }
  return found;
}

interface ShopArrival extends Arrival {
  readonly shop: SmsShop;
}

async function withoutKnown(
  messages: readonly ForShop[],
  spool: AcceptParts['spool'],
): Promise<ForShop[]> {
  const known = new Set<string>();
  for (const shopId of new Set(messages.map(({ shop }) => shop.shopId))) {
    const ofShop = messages.filter(({ shop }) => shop.shopId === shopId);
    const sids = ofShop.map(({ message }) => message.id);
    for (const sid of await spool.knownKeys(shopId, 'sms', sids)) known.add(sid);
  }
  return messages.filter(({ message }) => !known.has(message.id));
}

async function read(
  { message, sentAt, shop }: ForShop,
  lists: Pick<MessageLists, 'receive'>,
  { logger, metrics }: AcceptParts,
): Promise<ShopArrival | undefined> {
  try {
    const text = await lists.receive(message, (reason) =>
      logger.warn('sms.media_not_listed', { messageSid: message.id, reason }),
    );
    return isOurs(shop, text.from) ? undefined : { ...arrivalOf(shop, text, sentAt), shop };
  } catch (error) {
    if (!(error instanceof BadParameter)) throw error;
    // The webhook refuses such a message too. It must not block the following ones.
    metrics.alarms.inc({ alarm: 'sms_unreadable_message' });
    logger.error('sms.unreadable_message', { shop: shop.name, parameter: error.parameter });
    return undefined;
  }
}

async function accept(
  arrivals: readonly ShopArrival[],
  { intake, metrics, logger }: AcceptParts,
): Promise<number> {
  const accepted = await intake.accept(arrivals);
  let found = 0;
  for (const [index, { shop, dedupKey }] of arrivals.entries()) {
    const result = accepted[index];
    if (result === undefined || result.duplicate) continue;
    found += 1;
    metrics.smsReconciled.inc({ shop: shop.name });
    logger.info('sms.reconciled', { entry: result.id, shop: shop.name, messageSid: dedupKey });
  }
  return found;
}
