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

const BY_TYPE: ReadonlyMap<string, Consent> = new Map([
  ['STOP', 'opt-out'],
  ['START', 'opt-in'],
  ['HELP', 'help'],
]);

/**
 * What Twilio made of a message: `OptOutType` when it sends one (Advanced Opt-Out, where the
 * keywords are the customer's to choose), else what its default handling does with a message
 * that is nothing but a keyword. HELP and INFO without `OptOutType` are questions.
 * @param keywords whether Twilio's default handling applies to this number and transport
 */
export function consentOf(
  message: { readonly body: string; readonly optOutType: string },
  keywords: boolean,
): Consent {
  const told = BY_TYPE.get(message.optOutType);
  if (told !== undefined) return told;
  if (!keywords) return 'none';
  const word = message.body.trim().toUpperCase();
  if (OPT_OUT.has(word)) return 'opt-out';
  return OPT_IN.has(word) ? 'opt-in-if-out' : 'none';
}
