/**
 * What Twilio's error codes of single messages mean (Twilio, "Error and warning dictionary"), for
 * people who have to reach the customer otherwise. A code that is not here is shown as it is.
 */
const WORDS: Readonly<Record<string, string>> = {
  21211: 'The number is not valid',
  21408: 'The account may not send to this country',
  21610: 'The number has opted out',
  21612: 'The number cannot be reached from this sender',
  21614: 'The number is not a mobile number',
  30003: 'The phone is off, or has no network',
  30004: 'The recipient or their carrier blocks our messages',
  30005: 'The number is unknown or no longer in use',
  30006: 'The number is a landline, or its carrier cannot be reached',
  30007: 'The carrier filtered the message as spam',
  30008: 'The carrier gave no reason',
  30034: 'The sender is not registered with the carriers (A2P 10DLC)',
  63003: 'The number is not on WhatsApp',
  63013: 'The message breaks a rule of WhatsApp',
  63016: 'More than 24 hours have passed since the customer wrote by WhatsApp',
  63024: 'The recipient cannot get messages by WhatsApp',
};

/** The recipient has opted out at Twilio. */
export const OPT_OUT_CODE = '21610';

/** Undefined for a code that is not known. */
export const wordsOfCode = (code: string): string | undefined => WORDS[code];
