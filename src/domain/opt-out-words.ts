/** A longer text is a message, whatever words it has. */
const MAX_LENGTH = 80;
const MAX_WORDS = 6;

/** A single word, with punctuation, emoji and what is invisible around it. */
const WITHIN_MARKS = /^[\s\p{P}\p{S}\p{Cf}\ufe0f]*([A-Za-z]+)[\s\p{P}\p{S}\p{Cf}\ufe0f]*$/u;

const STOPS: ReadonlySet<string> = new Set('STOP STOPALL UNSUBSCRIBE OPTOUT REVOKE'.split(' '));
const STARTS: ReadonlySet<string> = new Set('START YES UNSTOP'.split(' '));

/**
 * What people write instead of a keyword, by who names it. In the United States any reasonable way
 * revokes a consent (47 CFR §64.1200(a)(10)). CANCEL, END and QUIT, which all of them name, are as
 * often about an order.
 */
const REQUESTS_BY_SOURCE: Readonly<Record<string, string>> = {
  'AWS End User Messaging SMS, "Required opt-out keywords"': 'arret|opt out|optout|remove|td',
  'Telnyx, "Advanced Opt-In/Out"': 'stop all',
  'Twilio, "Industry Standards for Spanish-language Short Code campaigns"': 'alto',
  'Notifycame, "Funciones de SMS"': 'baja|parar',
  'ActiveCampaign, "Anforderungen an SMS STOP-Klauseln"': 'stopp|abmelden|abbestellen',
  'TLDCRM, "TCPA SMS Opt-Out Compliance"': 'please stop|please unsubscribe',
  'iVip Mobile, "What Key Words Will Automatically Unsubscribe a Contact?"': `stop this|stop texts|
    stop texting|don't text|don't text me|leave me alone`,
  'OptInFix, "TCPA Consent Revocation"': `stop texting me|remove me|remove me from your list|
    i don't want these messages`,
};
const REQUESTS: ReadonlySet<string> = new Set(
  Object.values(REQUESTS_BY_SOURCE).flatMap((words) =>
    words.split('|').map((request) => request.trim()),
  ),
);

/**
 * What a keyword with marks around it means, which no provider answers: "Stop.", "START!".
 * CANCEL, END and QUIT are as often about an order.
 */
export function keywordWithinMarks(text: string): 'stop' | 'start' | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const word = WITHIN_MARKS.exec(text)?.[1]?.toUpperCase() ?? '';
  if (STOPS.has(word)) return 'stop';
  return STARTS.has(word) ? 'start' : undefined;
}

/** Whether the whole text asks for no more messages, so that a person should see it. */
export function asksToStop(text: string): boolean {
  if (keywordWithinMarks(text) === 'stop') return true;
  if (text.length > MAX_LENGTH) return false;
  const words = text
    .toLowerCase()
    // Without accents: ARRÊT is ARRET.
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replaceAll('’', "'")
    .split(/[^\p{L}']+/u)
    .filter((word) => word !== '');
  return words.length <= MAX_WORDS && REQUESTS.has(words.join(' ').replace('dont ', "don't "));
}
