import { parsePhoneNumberFromString } from 'libphonenumber-js/min';

/**
 * A telephone number in E.164 ("+1 (555) 000-2222" is "+15550002222"), so that one person is found
 * however his number is written. What cannot be told to be one, such as a short code or a number
 * without its country, stays as it is.
 */
export function normalPhone(text: string): string {
  const trimmed = text.trim();
  const number = parsePhoneNumberFromString(trimmed, { extract: false });
  return number?.isPossible() && !number.ext ? number.number : trimmed;
}
