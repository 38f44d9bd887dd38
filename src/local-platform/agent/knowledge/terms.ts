import type { Language } from '../language.ts';

/** Words that say nothing about what somebody wants to know. */
const STOP_WORDS: Readonly<Record<Language, ReadonlySet<string>>> = {
  en: stops(
    'a about am an and any are as at be been but by can could dear did do does doing for from get give got had ' +
      'has have hello hey hi how i if in is it its just ll me my no not now of off on once or our please re so ' +
      'some than thank thanks that the their them then there they this those to too us ve was we were what ' +
      'which who will with would you your yes regards best kind still tell know need want like something ' +
      'anything everything let more other question questions help asking ask make take find go going when ' +
      'very much really good morning afternoon evening day t s m d don doesn didn isn hope sure think see say ' +
      'explain wonder wondering possible maybe already yet actually mine one guys team whether again cannot anymore last also even ever shall may might must another',
  ),
  de: stops(
    'aber als am an auch auf aus bei bin bis bist bitte da danke dann das dass dem den der des die dies diese ' +
      'diesem diesen dieser doch du ein eine einem einen einer eines er es etwas euch eure für gern gerne gibt ' +
      'guten hab habe haben hallo hat hatte ich ihm ihn ihnen ihr ihre ihrem ihren im in ist ja kann kein keine ' +
      'können könnte könnten man mehr mein meine meinem meinen meiner mich mir mit möchte muss müssen nach nicht ' +
      'noch nun nur ob oder schon sehr sich sie sind so soll sollte tag um und uns unser vielen von vor war waren ' +
      'was weil wenn wer werden wie will wir wird wo wollen würde wurde zu zum zur über fragen frage hilfe dank ' +
      'mfg grüße freundliche freundlichen machen mal eigentlich denn heute sagen wissen gehen geht brauche',
  ),
  fr: stops(
    'à ai ainsi alors as au aussi aux avec avez avoir avons bien bonjour bonsoir c ce cela ces cet cette chez ' +
      'comme comment d dans de des du elle en est et être eu faire fait faut il ils j je l la le les leur lui ma ' +
      'mais me merci mes mon n ne nous on ont ou par pas peut peux plus pour pouvez puis qu que quel quelle ' +
      'quels quelles qui quoi s sa salut sans se ses si son sont suis sur ta te tu un une vais veux voudrais vos ' +
      'votre vous y êtes très beaucoup question questions aide savoir souhaite souhaiterais cordialement svp plaît',
  ),
  es: stops(
    'a al algo como cómo con cual cuál cuando de del desde dime  e el ella ellos en era es esa ese ' +
      'eso esta está están este esto fue gracias ha hace hacer han hasta hay he hola la las le les lo los me mi mis ' +
      'mucho muchas muy ni no nos o para pero por porque puede pueden puedo que qué quiero quisiera saber se ser si ' +
      'sí sin sobre son soy su sus te tengo tiene tienen tu un una uno unos usted ustedes y ya favor buenos buenas ' +
      'días tardes noches pregunta ayuda necesito saludos',
  ),
};

const ENDINGS: Readonly<Record<Language, RegExp>> = {
  en: /(?:ings?|ed|es|s|ly)$/,
  de: /(?:ungen|ung|ern|em|er|en|es|e|n|s|t|st)$/,
  fr: /(?:ements?|ations?|ées?|és?|es|s|x|er|ez|ent|e)$/,
  es: /(?:aciones|acion|os|as|es|s|ar|er|ir|o|a|e|an|en)$/,
};

/**
 * A word as it is searched for: without case, accents and ending, so that "returns", "returning" and
 * "returned" are one. Null for a word that says nothing. Of a language that is not known, words match
 * as they stand.
 */
export function termOf(word: string, language: Language | undefined): string | null {
  const lower = word.toLowerCase().normalize('NFC');
  if (language === undefined) return folded(lower);
  if (STOP_WORDS[language].has(lower)) return null;
  const bare = folded(lower);
  if (bare.length <= 3 || /\d/.test(bare)) return bare;
  const stem = bare.replace(ENDINGS[language], '');
  const long = stem.length < 3 ? bare : stem;
  // ship, shipp(ing); siz(es), size; deliver(ed), delivery
  return language === 'en'
    ? long.replace(/([bdfgklmnprstz])\1$/, '$1').replace(/(?<=\p{L}{3})[ey]$/u, '')
    : long;
}

/** "Größe" as "groesse" would match nobody's "Grosse": accents go, and ß is ss. */
const folded = (word: string) =>
  word.normalize('NFD').replace(/\p{M}/gu, '').replaceAll('ß', 'ss').replaceAll('œ', 'oe');

function stops(list: string): ReadonlySet<string> {
  return new Set(list.split(' '));
}
