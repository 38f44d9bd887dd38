/** A longer text is a message, whatever words it has. */
const MAX_LENGTH = 80;
const MAX_WORDS = 6;

/** A single word, with punctuation, emoji and what is invisible around it. */
const WITHIN_MARKS = /^[\s\p{P}\p{S}\p{Cf}\ufe0f]*([A-Za-z]+)[\s\p{P}\p{S}\p{Cf}\ufe0f]*$/u;

const STOPS: ReadonlySet<string> = new Set('STOP STOPALL UNSUBSCRIBE OPTOUT REVOKE'.split(' '));
const STARTS: ReadonlySet<string> = new Set('START YES UNSTOP'.split(' '));

/**
 * What people write instead of a keyword. In the United States, words like these revoke a consent,
 * too (47 CFR §64.1200(a)(10)). The table is our own.
 */
const REQUESTS: ReadonlySet<string> = new Set(
  `opt out|opt me out|optout|remove me|remove my number|unsubscribe me|unsub|stop all|stop texting|stop texting me|
  stop messaging me|stop sending me messages|stop sending me texts|stop these messages|no more texts|no more messages|
  do not text me|don't text me|dont text me|do not contact me|take me off your list|take me off this list|
  arret|arrêt|arrêtez|désabonner|se désabonner|désinscription|alto|baja|parar|darme de baja|no más mensajes|
  stopp|abmelden|abbestellen|keine sms mehr|keine nachrichten mehr|cancella|cancellami|disiscrivimi|sair|afmelden`
    .split('|')
    .map((request) => request.trim()),
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
    .replaceAll('’', "'")
    .split(/[^\p{L}\p{M}']+/u)
    .filter((word) => word !== '');
  return words.length <= MAX_WORDS && REQUESTS.has(words.join(' '));
}
