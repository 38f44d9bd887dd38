import { parsePhoneNumberFromString } from 'libphonenumber-js/min';
import { subscriberOf } from '../../domain/phone-forms.ts';

/**
 * The transport of a message, which is a prefix of its addresses; SMS and MMS have none.
 */
export const TRANSPORTS = ['sms', 'whatsapp', 'rcs'] as const;
export type Transport = (typeof TRANSPORTS)[number];
/** For people. */
export const TRANSPORT_NAMES: Readonly<Record<Transport, string>> = {
  sms: 'SMS',
  whatsapp: 'WhatsApp',
  rcs: 'RCS',
};

export interface ChannelAddress {
  readonly transport: Transport;
  /** Without the prefix: E.164, a short code, an alphanumeric sender or an RCS agent. */
  readonly address: string;
}

const MAX_ADDRESS_LENGTH = 320;

/** Whether it can be an address of a message. No transport has one with a control character. */
export function isAddress(value: string): boolean {
  const isPlain = value.length <= MAX_ADDRESS_LENGTH && !/\p{Cc}/u.test(value);
  return isPlain && parseAddress(value).address !== '';
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
 * Whether the address is a telephone number in E.164 (ITU-T E.164 §6): a plus sign, an existing
 * country code, and a valid number of digits for that country. Whether the number is assigned is
 * not checked, because numbering plans change faster than any table. A Mexican number with its
 * former 1 is valid: the library no longer knows that form, but carriers still send it.
 */
export function isE164(address: string): boolean {
  if (!/^\+[1-9]\d{1,14}$/.test(address)) return false;
  return [address, subscriberOf(address)].some(
    (form) => parsePhoneNumberFromString(form)?.isPossible() ?? false,
  );
}

/**
 * Whether a WhatsApp user is identified without a number. Since the introduction of usernames, a
 * number may be withheld, and Meta's business-scoped user id is sent instead: two letters of a
 * country and up to 128 letters and digits (`US.13491208655302741918`, `US.ENT.118157992128868`;
 * Meta, "Business-scoped user IDs"). `ID.4566546130240823` has been sent this way, too. A username
 * is accepted as well, because only people write to a business on WhatsApp.
 */
export function isUserId({ transport, address }: ChannelAddress): boolean {
  return (
    transport === 'whatsapp' &&
    /^@?[\p{L}\p{N}._-]{1,140}$/u.test(address) &&
    /\p{L}/u.test(address)
  );
}
