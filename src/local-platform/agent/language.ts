/** The languages in which the agent has its own sentences. */
export type Language = 'en' | 'de' | 'fr' | 'es' | 'it';

/**
 * Frequent words, and some of a shop's. Those that several languages have are in the list of each. The
 * last two languages are only recognized, so that a Dutch text is not taken for German.
 */
const WORDS: Readonly<Record<Language | 'nl' | 'pt', ReadonlySet<string>>> = {
  en: words(
    'the and is are you your my i it of to do does did can could would how what when where which who why with ' +
      'for have this that please hello thanks thank want need from at we be been about there morning afternoon ' +
      'evening good long much many get order shipping return size refund human person they them their these ' +
      'those has had will but not or if any some still just after before off out up too came got didn doesn don ' +
      'isn won were was me him her his she he shoes shoe boots sneakers trainers parcel address wrong small big ' +
      'pay open come' +
      ' a an on in no so as',
  ),
  de: words(
    'der das ist ich und nicht mein meine meinen meiner meinem wie wo wann welche welcher welches kann können ' +
      'könnte könnten sie ihr ihre ihren ihnen habe haben hallo guten danke bitte mit für auf ein eine einen ' +
      'einem einer wurde noch auch wenn zum zur bei von mir mich gibt moin servus möchte sind warum habt mensch ' +
      'vielen dank gerne über grüße euch dem den des im am nur aber oder dass wird werden war hat hatte bin ' +
      'seit aus nach vor als kein keine keinen mal doch schon immer jetzt morgen gestern woche man sich euer ' +
      'eure euren eurem unser unsere beim ab zu bis mehr falsche falsches statt schuhe schuh stiefel größe ' +
      'bestellung bestellt paket lieferung rechnung rückgabe gutschein kriege kriegt muss müssen darf soll ' +
      'sollte hab ihm ihn welchem wegen waren' +
      ' in an was so',
  ),
  fr: words(
    'le les est je vous votre vos mon mes où quand comment quel quelle quels quelles pour avec puis peux ' +
      'pouvez bonjour bonsoir salut merci pas ne une dans ai suis voudrais combien avez êtes sont ce cette ma ' +
      'mais j qu c humain très beaucoup il elle elles ils on nous un du au aux sur par sans sous de des la si ' +
      'se sa son ses leur y a été être avoir avons ont fait faire faut peut peuvent toujours encore deux trop ' +
      'plus moins ça cela donc quoi chez après avant depuis chaussures chaussure bottes baskets commande ' +
      'livraison colis retour taille pointure magasin boutique paiement remboursement reçu livré proposez ' +
      'faites voudrait aimerais près non rien aucun' +
      ' me',
  ),
  es: words(
    'el los las mi mis está están cómo donde dónde cuando cuándo cuál cuánto cuanto cuánta qué por para con ' +
      'quiero puedo puede pueden hola gracias buenos buenas una del tengo tienen hay usted ustedes favor pedido ' +
      'necesito muy humano quisiera zapatos días un unos unas uno la de que se si me te le les nos lo al su sus ' +
      'y o pero como ya más sin sobre entre hasta desde he ha han hace hacen tiene tienes tenéis teneis estoy ' +
      'era fue ser soy somos otro otra otros solo sólo nada también todavía aún aun antes después talla tallas ' +
      'zapato zapatillas botas envío tienda dinero devolver cambiar llegado llega llegó pedí quería podéis ' +
      'podeis vuestra vuestro vuestras vuestros no yo cual cuantos cuántos cuántas' +
      ' a en' +
      ' numero pie pies mas donde cuanto',
  ),
  nl: words(
    'het een ik niet mijn waar wanneer hoe zijn kunt jullie bedankt graag goedemorgen van voor',
  ),
  it: words(
    'il gli che di sono dove mio mia miei mie quando grazie ciao buongiorno buonasera salve posso può puo ' +
      'come per della del delle dei degli nel nella è ho hai avete non uno un quanto quanti vorrei anche ci vi ' +
      'perché perche più umano scarpe ordine spedizione stivali pacco solito giorni la lo le si se mi ti ne da ' +
      'dal dalla al alla alle ai nei sul sulla dell dall dov cos c dopo prima ancora già molto troppo quale ' +
      'quali cosa chi fa fare fate potete siete sarà era erano sta stanno stato stata arrivate arrivato ' +
      'arrivano arriva taglia numero negozio rimborso reso consegna spese codice voglio devo serve servono ' +
      'vostro vostra vostri niente nulla questo questa questi queste quel quello avevo abbiamo sconto sconti ' +
      'pagare cambiare accettate vendete piedi stivale dagli agli sugli me' +
      ' a in no so e',
  ),
  pt: words(
    'não onde meu minha obrigado obrigada olá você vocês os uma quando para por pedido quero',
  ),
};
const LANGUAGES_OF = new Map<string, string[]>();
for (const [language, known] of Object.entries(WORDS)) {
  for (const word of known) LANGUAGES_OF.set(word, [...(LANGUAGES_OF.get(word) ?? []), language]);
}
const READ_CHARS = 4000;
const LEAST_LEAD = 1.5;

/**
 * The language of a text when its words speak for that language clearly more than for any other.
 * Undefined when in doubt, and for languages that the agent has no sentences in.
 */
export function languageOf(text: string): Language | undefined {
  const counts = countsOf(text.slice(0, READ_CHARS));
  const [first, second] = [...counts].sort(([, a], [, b]) => b - a);
  if (first === undefined || first[1] < LEAST_LEAD * (second?.[1] ?? 0)) return undefined;
  return isSupported(first[0]) ? first[0] : undefined;
}

/** A word that several languages have says less for each of them. */
function countsOf(text: string): [string, number][] {
  const tokens =
    text
      .toLowerCase()
      .normalize('NFC')
      .match(/\p{L}+/gu) ?? [];
  const counts = new Map<string, number>();
  for (const languages of tokens.map((token) => LANGUAGES_OF.get(token) ?? [])) {
    for (const language of languages)
      counts.set(language, (counts.get(language) ?? 0) + 1 / languages.length);
  }
  return [...counts];
}

const isSupported = (language: string): language is Language =>
  ['en', 'de', 'fr', 'es', 'it'].includes(language);

function words(list: string): ReadonlySet<string> {
  return new Set(list.split(' '));
}

/** Words that carry no meaning for a search. */
const STOP_WORDS: Readonly<Record<Language, ReadonlySet<string>>> = {
  en: words(
    'a about am an and any are as at be been but by can could dear did do does doing for from get give got had ' +
      'has have hello hey hi how i if in is it its just ll me my no not now of off on once or our please re so ' +
      'some than thank thanks that the their them then there they this those to too us ve was we were what ' +
      'which who will with would you your yes regards best kind still tell know need want like something ' +
      'anything everything let more other question questions help asking ask make take find go going when ' +
      'very much really good morning afternoon evening day t s m d don doesn didn isn hope sure think see say ' +
      'explain wonder wondering possible maybe already yet actually mine one guys team whether again cannot anymore last also even ever shall may might must another',
  ),
  de: words(
    'aber als am an auch auf aus bei bin bis bist bitte da danke dann das dass dem den der des die dies diese ' +
      'diesem diesen dieser doch du ein eine einem einen einer eines er es etwas euch eure für gern gerne gibt ' +
      'guten hab habe haben hallo hat hatte ich ihm ihn ihnen ihr ihre ihrem ihren im in ist ja kann kein keine ' +
      'können könnte könnten man mehr mein meine meinem meinen meiner mich mir mit möchte muss müssen nach nicht ' +
      'noch nun nur ob oder schon sehr sich sie sind so soll sollte tag um und uns unser vielen von vor war waren ' +
      'was weil wenn wer werden wie will wir wird wo wollen würde wurde zu zum zur über fragen frage hilfe dank ' +
      'mfg grüße freundliche freundlichen machen mal eigentlich denn heute sagen wissen gehen geht brauche',
  ),
  fr: words(
    'à ai ainsi alors as au aussi aux avec avez avoir avons bien bonjour bonsoir c ce cela ces cet cette chez ' +
      'comme comment d dans de des du elle en est et être eu faire fait faut il ils j je l la le les leur lui ma ' +
      'mais me merci mes mon n ne nous on ont ou par pas peut peux plus pour pouvez puis qu que quel quelle ' +
      'quels quelles qui quoi s sa salut sans se ses si son sont suis sur ta te tu un une vais veux voudrais vos ' +
      'votre vous y êtes très beaucoup question questions aide savoir souhaite souhaiterais cordialement svp plaît',
  ),
  es: words(
    'a al algo como cómo con cual cuál cuando de del desde dime  e el ella ellos en era es esa ese ' +
      'eso esta está están este esto fue gracias ha hace hacer han hasta hay he hola la las le les lo los me mi mis ' +
      'mucho muchas muy ni no nos o para pero por porque puede pueden puedo que qué quiero quisiera saber se ser si ' +
      'sí sin sobre son soy su sus te tengo tiene tienen tu un una uno unos usted ustedes y ya favor buenos buenas ' +
      'días tardes noches pregunta ayuda necesito saludos',
  ),
  it: words(
    'a abbiamo ad ai al alla alle allo altra altro anche ancora avere avete aveva avevo avrei c ce che chi ci ciao come con ' +
      'cosa cui da dai dal dalla dalle davvero degli dei del dell della delle dello di e è ed era ero essere fa fai fare ' +
      'fate fatto favore gentilmente già gli grazie ha hai hanno ho i il in io l la le lei li lo loro ma me mi mia mie ' +
      'miei mio ne nei nel nella nelle no noi non nostra nostro o oggi ogni per perché però più po poi posso possiamo ' +
      'potete potrei prego pure può qual quale quali qualche qualcosa quando quanta quante quanti quanto quella quello ' +
      'questa questo qui salve sapere se sei si sì sia siamo siete solo sono sta stata stato sto su sua sue sul sulla suo ' +
      'suoi te ti tra tu tua tue tuo tuoi tutti tutto un una uno va vi voi volevo vorrei vostra vostre vostri vostro ' +
      'buongiorno buonasera buona giornata sera saluti cordiali domanda aiuto vorremmo quindi così molto bisogno devo',
  ),
};

const ENDINGS: Readonly<Record<Language, RegExp>> = {
  en: /(?:ings?|ed|es|s|ly)$/,
  de: /(?:ungen|ung|ern|em|er|en|es|e|n|s|t|st)$/,
  fr: /(?:ements?|ations?|ées?|és?|es|s|x|er|ez|ent|e)$/,
  es: /(?:aciones|acion|os|as|es|s|ar|er|ir|o|a|e|an|en)$/,
  it: /(?:azioni|azione|mente|arle|arlo|erle|erlo|irle|irlo|are|ere|ire|ato|ata|ati|ate|uto|uta|uti|ute|ito|ita|iti|ite|o|a|e|i)$/,
};

/**
 * The search term of a word: without case, accents and ending, so that "returns", "returning" and
 * "returned" have the same term. Null for a stop word. Without a known language, endings are kept.
 */
export const termOf = (word: string, language: Language | undefined): string | null =>
  isStopWord(word, language) ? null : stemOf(word, language);

export const isStopWord = (word: string, language: Language | undefined): boolean =>
  language !== undefined && STOP_WORDS[language].has(word.toLowerCase().normalize('NFC'));

/** A word without case, accents and, in a known language, its ending. */
export function stemOf(word: string, language: Language | undefined): string {
  const lower = word.toLowerCase().normalize('NFC');
  if (language === undefined) return folded(lower);
  const bare = folded(lower);
  if (bare.length <= 3 || /\d/.test(bare)) return bare;
  const stem = bare.replace(ENDINGS[language], '');
  const long = stem.length < 3 ? bare : stem;
  // ship, shipp(ing); siz(es), size; deliver(ed), delivery
  return language === 'en'
    ? long.replace(/([bdfgklmnprstz])\1$/, '$1').replace(/(?<=\p{L}{3})[ey]$/u, '')
    : long;
}

/** Removes accents, and turns ß into ss: people write "Grosse" for "Größe", not "groesse". */
const folded = (word: string) =>
  word.normalize('NFD').replace(/\p{M}/gu, '').replaceAll('ß', 'ss').replaceAll('œ', 'oe');
