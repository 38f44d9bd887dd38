import { parsePhoneNumberFromString } from 'libphonenumber-js/min';

/** How a message travelled. Twilio names it as a prefix of From and To; plain SMS and MMS have none. */
export const TRANSPORTS = ['sms', 'whatsapp', 'rcs'] as const;
export type Transport = (typeof TRANSPORTS)[number];

export interface ChannelAddress {
  readonly transport: Transport;
  /** Without the prefix: E.164, a short code, an alphanumeric sender or an RCS agent. */
  readonly address: string;
}

/** Splits `whatsapp:+15551234567` into its transport and its bare address. */
export function parseAddress(value: string): ChannelAddress {
  for (const transport of ['whatsapp', 'rcs'] as const) {
    const prefix = `${transport}:`;
    if (value.toLowerCase().startsWith(prefix)) {
      return { transport, address: value.slice(prefix.length) };
    }
  }
  return { transport: 'sms', address: value };
}

/**
 * Whether the address is a telephone number in E.164 (ITU-T E.164 §6): a plus sign, a country
 * code that exists, and as many digits as that country has. Not whether the number is assigned:
 * numbering plans grow faster than any table. A Mexican number with its former 1 counts: the
 * library no longer knows that form, and carriers still send it.
 */
export function isE164(address: string): boolean {
  if (!/^\+[1-9]\d{1,14}$/.test(address)) return false;
  return [address, subscriberOf(address)].some(
    (form) => parsePhoneNumberFromString(form)?.isPossible() ?? false,
  );
}

/**
 * Whether a WhatsApp user stands for themselves without a number: since there are usernames, a
 * number may be withheld, and Meta's business-scoped user id stands in its place, two letters of a
 * country and up to 128 letters and digits (`US.13491208655302741918`, `US.ENT.118157992128868`;
 * Meta, "Business-scoped user IDs"). Twilio has sent `ID.4566546130240823` so, in ExternalUserId.
 * A username is taken as well: nobody but people writes to a business on WhatsApp.
 */
export function isUserId({ transport, address }: ChannelAddress): boolean {
  return transport === 'whatsapp' && /^@?(?=.*\p{L})[\p{L}\p{N}._-]{1,140}$/u.test(address);
}

/**
 * Mobile numbers that networks write in two ways, each with the form that stands for both.
 * - Brazil: a ninth digit, 9, went before the eight of mobile numbers, which began with 6 to 9
 *   (Anatel, Resolução 553). Eight digits that begin with 2 to 5 are a landline, and the number with
 *   a 9 before them is somebody else's.
 * - Argentina: 9 after the country code marks a mobile number; area code and number are unique
 *   without it (ITU-T national numbering plan, Argentina).
 * - Mexico: 1 after the country code did the same until 2019 (IFT).
 */
const TWO_FORMS: readonly (readonly [form: RegExp, standsFor: string])[] = [
  [/^\+55([1-9][1-9])([6-9]\d{7})$/, '+55$19$2'],
  [/^\+549(\d{10})$/, '+54$1'],
  [/^\+521(\d{10})$/, '+52$1'],
];

/**
 * The same text for both forms of one person's number, else the address as it is. Only to tell
 * who writes: it is a key, and never goes into a payload.
 */
export function subscriberOf(address: string): string {
  const known = TWO_FORMS.find(([form]) => form.test(address));
  return known === undefined ? address : address.replace(...known);
}
