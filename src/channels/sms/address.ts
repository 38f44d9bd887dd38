import { parsePhoneNumberFromString } from 'libphonenumber-js/min';

/** How a message travelled. Twilio names it as a prefix of From and To; plain SMS and MMS have none. */
export type Transport = 'sms' | 'whatsapp' | 'rcs';

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
 * numbering plans grow faster than any table.
 */
export function isE164(address: string): boolean {
  if (!/^\+[1-9]\d{1,14}$/.test(address)) return false;
  return parsePhoneNumberFromString(address)?.isPossible() ?? false;
}
