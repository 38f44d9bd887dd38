import type { Verdict } from '../../../intake/normalizer.ts';
import type { CreateMessageRequest } from '../../../platform-api/schemas.ts';
import type { Claimed } from '../../../spool/entry.ts';
import type { OptOutStore } from '../../../spool/opt-out-store.ts';
import { type ChannelAddress, isE164 } from '../address.ts';
import type { FormFields } from '../form.ts';
import type { SmsShop } from '../shop.ts';

/**
 * What a message is, for consent. `help`: Twilio was asked for help, and has answered.
 * `opt-in-if-out`: a keyword that opts in who had opted out, and is plain text from anyone else,
 * as YES is an answer to much.
 */
export type Consent = 'opt-out' | 'opt-in' | 'opt-in-if-out' | 'help' | 'none';

const OPT_OUT = new Set([
  'STOP',
  'STOPALL',
  'UNSUBSCRIBE',
  'END',
  'QUIT',
  'CANCEL',
  'REVOKE',
  'OPTOUT',
]);
const OPT_IN = new Set(['START', 'UNSTOP', 'YES']);

/** ASCII letters alone: other letters become these in upper case (`\u017ftop`, `qu\u0131t`). */
const BARE_WORD = /^[ \t\r\n]*([A-Za-z]+)[ \t\r\n]*$/;

const BY_TYPE: ReadonlyMap<string, Consent> = new Map([
  ['STOP', 'opt-out'],
  ['START', 'opt-in'],
  ['HELP', 'help'],
]);

/**
 * What Twilio made of a message: `OptOutType` when it sends one (Advanced Opt-Out, where the
 * keywords are the customer's to choose), else what its default handling does with a message
 * that is nothing but a keyword ("Twilio support for opt-out keywords": single-word messages, any
 * case). HELP and INFO without `OptOutType` are questions.
 *
 * A text that only looks like a keyword (`STOP.`, `STOP!`, fullwidth or Cyrillic letters, an
 * invisible character) goes to the agent: Twilio answers none of these, so to suppress one would
 * leave a person who wants out with no answer at all. Were Twilio to take one for a keyword, the
 * agent would see it and Twilio would stop the answer.
 * @param message `body` as it came
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
 * Undefined for what is no matter of consent. The state changes before the entry settles; an
 * attempt that ended in between is made again and comes to the same verdict, since the store
 * knows which message changed the state.
 */
export async function consentVerdict(
  shop: SmsShop,
  { entry }: Claimed,
  fields: FormFields,
  from: ChannelAddress,
  request: CreateMessageRequest,
  optOuts: OptOutStore,
): Promise<Verdict | undefined> {
  // Twilio's default keyword handling does not cover WhatsApp; there only OptOutType shows it.
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
  // An event finds its contact by a number (API §4.1); the state is kept for the lane.
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
