/** The languages that the agent has sentences of its own in. */
export type Language = 'en' | 'de' | 'fr' | 'es';

/**
 * Words that are frequent in one language and are none, or rare, in the others. The last three are
 * here to be recognised, so that nobody who writes Dutch is answered in German.
 */
const WORDS: Readonly<Record<Language | 'nl' | 'it' | 'pt', ReadonlySet<string>>> = {
  en: words(
    'the and is are you your my i it of to do does did can could would how what when where which who why ' +
      'with for have this that please hello thanks thank want need from at we be been about there ' +
      'morning afternoon evening good long much many get order shipping return size refund human person',
  ),
  de: words(
    'der das ist ich und nicht mein meine meinen meiner meinem wie wo wann welche welcher welches kann ' +
      'können könnte könnten sie ihr ihre ihren ihnen habe haben hallo guten danke bitte mit für auf ein eine ' +
      'einen einem einer wurde noch auch wenn zum zur bei von mir mich gibt moin servus möchte sind ' +
      'warum habt mensch vielen dank gerne über grüße euch',
  ),
  fr: words(
    'le les est je vous votre vos mon mes où quand comment quel quelle quels quelles pour avec puis peux ' +
      'pouvez bonjour bonsoir salut merci pas ne une dans ai suis voudrais combien avez êtes sont ce cette ' +
      'ma mais j qu c humain très beaucoup',
  ),
  es: words(
    'el los las mi mis está están cómo donde dónde cuando cuándo cuál cuánto cuanto cuánta qué por para con ' +
      'quiero puedo puede pueden hola gracias buenos buenas una del tengo tienen hay usted ustedes favor pedido ' +
      'necesito muy humano quisiera zapatos días',
  ),
  nl: words(
    'het een ik niet mijn waar wanneer hoe zijn kunt jullie bedankt graag goedemorgen van voor',
  ),
  it: words('il gli che di sono dove mio mia quando grazie ciao buongiorno posso come per della è'),
  pt: words(
    'não onde meu minha obrigado obrigada olá você vocês os uma quando para por pedido quero',
  ),
};
const READ_CHARS = 4000;

/**
 * The language of a text when it is clearly one of ours: its words are at least twice as many as
 * those of any other. Undefined when in doubt, and for all other languages.
 */
export function languageOf(text: string): Language | undefined {
  const counts = countsOf(text.slice(0, READ_CHARS));
  const [first, second] = [...counts].sort(([, a], [, b]) => b - a);
  if (first === undefined || first[1] === 0 || first[1] < 2 * (second?.[1] ?? 0)) return undefined;
  return isOurs(first[0]) ? first[0] : undefined;
}

function countsOf(text: string): [string, number][] {
  const tokens =
    text
      .toLowerCase()
      .normalize('NFC')
      .match(/\p{L}+/gu) ?? [];
  return Object.entries(WORDS).map(([language, known]) => [
    language,
    tokens.filter((token) => known.has(token)).length,
  ]);
}

const isOurs = (language: string): language is Language =>
  language === 'en' || language === 'de' || language === 'fr' || language === 'es';

function words(list: string): ReadonlySet<string> {
  return new Set(list.split(' '));
}
