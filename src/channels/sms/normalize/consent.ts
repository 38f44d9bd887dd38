import { keywordWithinMarks } from '../../../domain/opt-out-words.ts';
import type { Reason } from '../../../domain/reasons.ts';
import type { ShopId } from '../../../domain/ids.ts';
import type { Intake } from '../../../intake/intake.ts';
import type { Verdict } from '../../../intake/normalizer.ts';
import { eventArrival } from '../../../intake/timeline-event.ts';
import type { CreateEventRequest, CreateMessageRequest } from '../../../platform-api/schemas.ts';
import type { Claimed } from '../../../spool/entry.ts';
import type { OptOutStore } from '../../../spool/opt-out-store.ts';
import { subscriberOf } from '../../../domain/phone-forms.ts';
import { isE164, parseAddress } from '../address.ts';
import { numberLane, optOutsOf } from '../person.ts';
import type { Keywords, ProviderTexts, TextMessage } from '../provider.ts';
import { laneOf } from '../receive.ts';
import type { SmsShop } from '../shop.ts';

/**
 * The meaning of a message for consent. `help`: a request for help, which the provider has
 * answered.
 * `opt-in-if-out`: a keyword that opts in a person who had opted out, but is ordinary text from
 * others, like YES.
 * `said-stop`, `said-start`: the same with marks around it, which the provider has not handled.
 */
export type Consent =
  | 'opt-out'
  | 'opt-in'
  | 'opt-in-if-out'
  | 'said-stop'
  | 'said-start'
  | 'help'
  | 'none';

/**
 * ASCII letters only: other letters become these in upper case (`\u017ftop`, `qu\u0131t`). Some
 * keywords have a space in them.
 */
const BARE_WORDS = /^[ \t\r\n]*([A-Za-z]+(?: [A-Za-z]+)?)[ \t\r\n]*$/;

const BY_TYPE: ReadonlyMap<string, Consent> = new Map([
  ['STOP', 'opt-out'],
  ['START', 'opt-in'],
  ['HELP', 'help'],
]);

/**
 * How the provider has handled a message: as it says, if it does (some have configurable
 * keywords), otherwise by its default for a message that consists of a keyword only, in any case.
 * HELP and INFO are questions unless the provider says that it answered.
 *
 * A text that only resembles a keyword (`STOP.`, `STOP!`, fullwidth or Cyrillic letters) is
 * delivered: the provider answers none of these, so suppressing one would leave a person who wants
 * to opt out without any answer. Of those with marks around the word, the consent is kept here.
 * @param keywords those of the provider; undefined if it handles none on this number and transport
 */
export function consentOf(
  message: Pick<TextMessage, 'body' | 'optOutType'>,
  keywords: Keywords | undefined,
): Consent {
  const told = BY_TYPE.get(message.optOutType);
  if (told !== undefined) return told;
  if (keywords === undefined) return 'none';
  const words = BARE_WORDS.exec(message.body)?.[1]?.toUpperCase() ?? '';
  if (keywords.optOut.has(words)) return 'opt-out';
  if (keywords.optIn.has(words)) return 'opt-in-if-out';
  const said = keywordWithinMarks(message.body);
  // A bare word that this provider does not handle is an ordinary one.
  return said === undefined || words !== '' ? 'none' : `said-${said}`;
}

/**
 * Undefined if consent is not affected. The state changes before the entry settles; a repeated
 * attempt reaches the same verdict, because the store knows which message changed the state.
 */
export async function consentVerdict(
  {
    claimed: { entry },
    shop,
    provider,
    message,
    request,
  }: {
    readonly claimed: Claimed;
    readonly shop: SmsShop;
    readonly provider: ProviderTexts;
    readonly message: TextMessage;
    readonly request: CreateMessageRequest;
  },
  optOuts: OptOutStore,
): Promise<Verdict | undefined> {
  const from = parseAddress(message.from);
  // Elsewhere providers handle no keywords by default: only what they say shows consent.
  const handled = shop.optOut === 'provider' && from.transport === 'sms';
  const consent = consentOf(message, handled ? provider.keywords : undefined);
  const { shopId, lane, remoteId } = entry;
  if (consent === 'none') return undefined;
  if (consent === 'help') return { kind: 'suppressed', reason: { code: 'help_keyword' } };
  const isOut = consent === 'opt-out' || consent === 'said-stop';
  const isSaid = consent === 'said-stop' || consent === 'said-start';
  const reason: Reason = { code: isOut ? 'opt_out' : 'opt_in' };
  if (isOut) await optOuts.optOut(shopId, lane, remoteId);
  else {
    const wasOut = await optOuts.optIn(shopId, lane, remoteId);
    if ((consent === 'opt-in-if-out' || isSaid) && !wasOut) return undefined;
  }
  const { phone, name } = request.contact;
  const number = typeof phone === 'string' ? phone : '';
  const events = consentEvents(isOut, entry.receivedAt, { phone: number, name });
  return isSaid ? { kind: 'deliver', events } : { kind: 'suppressed', reason, events };
}

/** For the timeline. An event finds its contact by a number (API §4.1); the state is stored for the lane. */
const consentEvents = (
  isOut: boolean,
  at: number,
  { phone, name }: { readonly phone: string; readonly name?: string | undefined },
): CreateEventRequest[] => {
  if (!isE164(phone)) return [];
  return [
    {
      name: isOut ? 'SMS opt-out' : 'SMS opt-in',
      event_time: new Date(at).toISOString(),
      contact: { phone, ...(name !== undefined && { name }) },
    },
  ];
};

/** A text that the provider refused because the person has opted out. */
export interface BlockedText {
  readonly shopId: ShopId;
  readonly account: string;
  /** Both with the prefix of their transport, if they have one. */
  readonly ours: string;
  readonly theirs: string;
  /** Names the refusal: the same one is recorded once. */
  readonly id: string;
}

/**
 * Records an opt-out that only the provider has known: from a STOP before this gateway was used, or
 * to another number of the same service. The event first, so that a crash in between repeats both.
 * @throws {SpoolFull} {SpoolUnavailable} it is not recorded
 */
export async function recordBlocked(
  { shopId, account, ours, theirs, id }: BlockedText,
  { optOuts, intake }: { readonly optOuts: OptOutStore; readonly intake: Pick<Intake, 'accept'> },
): Promise<void> {
  const { transport, address } = parseAddress(theirs);
  const own = laneOf({ account, to: ours, from: theirs });
  const isNamed = transport === 'whatsapp' && isE164(address);
  const lane = isNamed ? numberLane(own, subscriberOf(address)) : own;
  const theirOptOuts = optOutsOf(optOuts, undefined);
  if (await theirOptOuts.isOptedOut(shopId, lane)) return;
  const events = consentEvents(true, Date.now(), { phone: address });
  const key = { shopId, channel: 'sms', lane, dedupKey: `blocked/${id}` } as const;
  if (events.length > 0) await intake.accept(events.map((event) => eventArrival(event, key)));
  await theirOptOuts.optOut(shopId, lane, id);
}
