import type { Verdict } from '../../../intake/normalizer.ts';
import type { CreateMessageRequest } from '../../../platform-api/schemas.ts';
import type { Claimed } from '../../../spool/entry.ts';
import type { OptOutStore } from '../../../spool/opt-out-store.ts';
import { type ChannelAddress, isE164 } from '../address.ts';
import type { SmsShop } from '../shop.ts';
import type { FormFields } from '../stored.ts';

/**
 * The meaning of a message for consent. `help`: a request for help, which Twilio has answered.
 * `opt-in-if-out`: a keyword that opts in a person who had opted out, but is ordinary text from
 * others, like YES.
 */
export type Consent = 'opt-out' | 'opt-in' | 'opt-in-if-out' | 'help' | 'none';

const OPT_OUT = new Set('STOP STOPALL UNSUBSCRIBE END QUIT CANCEL REVOKE OPTOUT'.split(' '));
const OPT_IN = new Set(['START', 'UNSTOP', 'YES']);

/** ASCII letters only: other letters become these in upper case (`\u017ftop`, `qu\u0131t`). */
const BARE_WORD = /^[ \t\r\n]*([A-Za-z]+)[ \t\r\n]*$/;

const BY_TYPE: ReadonlyMap<string, Consent> = new Map([
  ['STOP', 'opt-out'],
  ['START', 'opt-in'],
  ['HELP', 'help'],
]);

/**
 * How Twilio has handled a message: `OptOutType` if it sends one (Advanced Opt-Out, with
 * configurable keywords), otherwise its default handling of a message that consists of a keyword
 * only ("Twilio support for opt-out keywords": single-word messages, in any case). HELP and INFO
 * without `OptOutType` are questions.
 *
 * A text that only resembles a keyword (`STOP.`, `STOP!`, fullwidth or Cyrillic letters, an
 * invisible character) goes to the agent: Twilio answers none of these, so suppressing one would
 * leave a person who wants to opt out without any answer. If Twilio did treat one as a keyword, the
 * agent would see it and Twilio would block the answer.
 * @param message with the `body` as received
 * @param keywords whether Twilio's default handling applies to this number and transport
 */
export function consentOf(
  message: { readonly body: string; readonly optOutType: string },
  keywords: boolean,
): Consent {
  const told = BY_TYPE.get(message.optOutType);
  if (told !== undefined) return told;
  if (!keywords) return 'none';
  const word = BARE_WORD.exec(message.body)?.[1]?.toUpperCase() ?? '';
  if (OPT_OUT.has(word)) return 'opt-out';
  return OPT_IN.has(word) ? 'opt-in-if-out' : 'none';
}

/**
 * Undefined if consent is not affected. The state changes before the entry settles; a repeated
 * attempt reaches the same verdict, because the store knows which message changed the state.
 */
export async function consentVerdict(
  shop: SmsShop,
  { entry }: Claimed,
  fields: FormFields,
  from: ChannelAddress,
  request: CreateMessageRequest,
  optOuts: OptOutStore,
): Promise<Verdict | undefined> {
  // Twilio's default keyword handling does not apply to WhatsApp; only OptOutType shows consent
  // there.
  const keywords = shop.optOut === 'twilio' && from.transport !== 'whatsapp';
  const consent = consentOf(
    { body: fields.first('Body') ?? '', optOutType: fields.first('OptOutType') ?? '' },
    keywords,
  );
  const { shopId, lane, remoteId } = entry;
  if (consent === 'none') return undefined;
  if (consent === 'help') return { kind: 'suppressed', reason: 'help-keyword' };
  const reason = consent === 'opt-out' ? 'opt-out' : 'opt-in';
  if (reason === 'opt-out') await optOuts.optOut(shopId, lane, remoteId);
  else {
    const wasOut = await optOuts.optIn(shopId, lane, remoteId);
    if (consent === 'opt-in-if-out' && !wasOut) return undefined;
  }
  const { name } = request.contact;
  // An event finds its contact by a number (API §4.1); the state is stored for the lane.
  if (!isE164(from.address)) return { kind: 'suppressed', reason };
  return {
    kind: 'suppressed',
    reason,
    events: [
      {
        name: `SMS ${reason}`,
        event_time: new Date(entry.receivedAt).toISOString(),
        contact: { phone: from.address, ...(name !== undefined && { name }) },
      },
    ],
  };
}
