import { asksToStop } from '../../domain/opt-out-words.ts';

/** The kind of a message, which is determined before any answer is looked up. */
export type Intent = 'person' | 'greeting' | 'thanks' | 'no' | 'question';

const READ_CHARS = 4000;
/** "I do not need a person". "I do not want a bot, I want a person" is excluded by `MACHINE`. */
const DECLINES_A_PERSON =
  /\b(?:(?:don['’]?t|do not) (?:want|need|have)|no need)\b[^.,;!?\n]{0,40}\b(?:human|person|agent|someone|somebody)\b|\bkeinen? (?:menschen|mitarbeiter)|\bpas besoin\b|\bno (?:quiero|necesito)\b/i;
const MACHINE = /\b(?:bot|chatbot|robot|machine|roboter|maschine|automat|máquina)\b/i;

/** Requests for a person. Each pattern is bounded, so that matching takes linear time. */
const WANTS_A_PERSON: readonly RegExp[] = [
  // English
  /\b(?:speak|talk|chat|write|connect me|transfer me|put me through|pass me) +(?:directly +)?(?:to|with) +(?:(?:a|an|the|one|any|some|your|of|real|live|actual|human|support|customer|service|sales) +){0,5}(?:human|person|people|agent|operator|representative|rep|someone|somebody|manager|supervisor|staff|employee|team|colleagues?|advisor|man|woman)\b/i,
  /\b(?:want|need|like|prefer|get me|give me) +(?:(?:a|an|the|some|to have) +){0,2}(?:(?:real|live|actual) +){0,2}(?:human(?: being)?|(?:real|live|actual) +(?:person|agent|people)|operator|representative|supervisor|manager)\b/i,
  /\b(?:real|live|actual) (?:person|human)\b|\b(?:human|live) (?:agent|support|help|being)\b|\bnot (?:with |to )?an? (?:bot|robot|machine)\b/i,
  /\bcan (?:someone|somebody|a person|a human|you) (?:please )?(?:call|phone|ring) me\b|\bcall me back\b/i,
  // German
  /\bmit (?:(?:einem|einer|jemandem?|dem|der|ihrem|ihren|eurem|euren|echten|richtigen|wirklichen|menschlichen|anderen|aus|support|kundendienst|kundenservice) +){0,5}(?:menschen?|mitarbeiter(?:in|n)?|person|berater(?:in)?|kollegen|kollegin|agenten|chef|support|kundendienst|kundenservice|team) +(?:sprechen|reden|schreiben|chatten|verbunden|verbinden|telefonieren|zu sprechen|zu reden)/i,
  /\bmit jemandem? (?:\p{L}+ ){0,3}(?:sprechen|reden|schreiben|telefonieren)/iu,
  /\b(?:echten?|richtigen?|wirklichen?) (?:mensch|person|mitarbeiter)/i,
  /\b(?:will|möchte|brauche|hätte gern) (?:einen|eine) (?:menschen?|mitarbeiter(?:in)?|berater(?:in)?)\b/i,
  /\brufen sie mich (?:bitte )?(?:an|zurück)|\bruft mich (?:bitte )?(?:an|zurück)|\bbitte um (?:einen )?rückruf\b/i,
  // French
  /\b(?:parler|discuter|échanger|mise? en (?:relation|contact)) +(?:à|avec) +(?:(?:un|une|quelqu['’]un|des|vos|votre|vrai|vraie|être|de|du) *){0,4}(?:humain|personne|conseill(?:er|ère)|agents?|responsable|collègues?|équipe|service client|opérateur|quelqu['’]un)/i,
  /\bparler (?:à|avec) quelqu['’]un/i,
  /\b(?:vraie personne|vrai humain|être humain|un humain|un conseiller)\b/i,
  // Spanish
  /\b(?:hablar|chatear|contactar|comunicarme|póngame|ponme|pasarme) +con +(?:(?:un|una|alguien|algún|alguna|el|la|su|ser|de|del|persona|agente) +){0,4}(?:human[oa]|persona|agente|asesora?|encargad[oa]|responsable|representante|operador|compañer[oa]|alguien|equipo|verdad|real)\b/i,
  /\bhablar con alguien\b/i,
  /\b(?:persona|agente) (?:real|de verdad|humano)\b|\bser humano\b/i,
  // Italian
  /\b(?:parlare|chattare|scrivere|mettermi in contatto) +con +(?:(?:un|una|uno|il|la|vostro|vostra|vero|vera|del|essere) +){0,4}(?:umano|persona|operatore|operatrice|addett[oa]|responsabile|collega|consulente|qualcuno|assistenza)\b/i,
  /\b(?:persona|operatore) (?:reale|vera|vero|umano|umana)\b|\bessere umano\b|\bpasse?rmi (?:un|una) (?:operatore|operatrice|persona|collega)\b/i,
  /\b(?:mi )?(?:potete|può|puo|potreste) (?:ri)?chiamar(?:e|mi)\b|\brichiamatemi\b/i,
];

/** A message of these words only: "human", "Ein Mensch bitte!". */
const ONLY_A_PERSON =
  /^(?:(?:a|an|the|real|live|ein|eine|einen|echter|un|une|vrai|vraie|una|please|bitte|por favor|s['’]il vous plaît|svp|support|customer|service) +)*(?:human|person|agent|operator|representative|someone|staff|manager|mensch|menschen|mitarbeiter|mitarbeiterin|berater|kundendienst|rückruf|humain|personne|conseiller|conseillère|opérateur|humano|humana|persona|agente|asesor|operador|umano|operatore|operatrice|assistente)(?: +(?:please|now|bitte|jetzt|s['’]il vous plaît|svp|por favor|per favore|per piacere))*$/i;

const GREETING =
  /^(?:hi|hello|hey|hiya|howdy|good (?:morning|afternoon|evening|day)|hallo|hej|moin|servus|guten (?:tag|morgen|abend)|grüß gott|grüezi|bonjour|bonsoir|salut|coucou|hola|buen[oa]s (?:días|tardes|noches)|buenas|ciao|salve|buongiorno|buonasera)(?: +(?:there|again|all|everyone|team|zusammen|à tous|a todos|bot|you))*(?: +|$)/i;
/** A name after a greeting. */
const NAME = /^\p{Lu}\p{Ll}{1,20}$/u;

const THANKS =
  /^(?:thanks?|thx|ty|cheers|danke|dankeschön|vielen dank|besten dank|merci|gracias|muchas gracias|grazie|mille grazie)\b/i;
const ACKNOWLEDGEMENT =
  /^(?:ok|okay|k|great|perfect|super|cool|alright|fine|good|yes|ja|oui|sí|sì|si|prima|alles klar|perfekt|passt|parfait|perfecto|vale|genial|d['’]accord|perfetto|va bene|bye|goodbye|tschüss|au revoir|adiós|arrivederci)$/i;
const NO =
  /^(?:no|nope|nah|no thanks|not really|not at all|nein|nö|nicht wirklich|leider nicht|non|pas vraiment|pas du tout|no mucho|para nada|no gracias|purtroppo no|per niente|non proprio)(?: (?:sorry|unfortunately|leider|danke|hélas|désolée?|malheureusement|lo siento|desgraciadamente|purtroppo|grazie|thanks|it does not|it doesn['’]t|es no))*$/i;
const THANKS_MAX_WORDS = 7;

/** @param subject of an email; counts like its text */
export function intentOf(text: string, subject: string | undefined): Intent {
  if (asksToStop(text) || wantsAPerson(text) || wantsAPerson(subject ?? '')) return 'person';
  const tidied = tidy(text.slice(0, READ_CHARS));
  const bare = words(tidied);
  if (ACKNOWLEDGEMENT.test(bare) || isThanks(tidied)) return 'thanks';
  if (NO.test(bare)) return 'no';
  // The question of an email that only says "Hello" is its subject.
  return isGreeting(bare) && words(subject ?? '') === '' ? 'greeting' : 'question';
}

function wantsAPerson(text: string): boolean {
  const tidied = tidy(text.slice(0, READ_CHARS));
  if (ONLY_A_PERSON.test(words(tidied))) return true;
  return tidied
    .split(/(?<=[.!?\n])/)
    .some(
      (sentence) =>
        (MACHINE.test(sentence) || !DECLINES_A_PERSON.test(sentence)) &&
        WANTS_A_PERSON.some((way) => way.test(sentence)),
    );
}

function isGreeting(bare: string): boolean {
  const greeting = GREETING.exec(bare)?.[0];
  if (greeting === undefined) return false;
  const rest = bare.slice(greeting.length);
  return rest === '' || NAME.test(rest);
}

/** True for "Thanks, that helps!", false for "Thanks. Where is it now". */
function isThanks(text: string): boolean {
  const rest = text.replace(
    /^(?:ok|okay|great|perfect|super|cool|alles klar|perfekt)[\s,.!]+/i,
    '',
  );
  return (
    THANKS.test(rest) &&
    !rest.includes('?') &&
    !/[.!\n] ?\p{L}+\s{1,2}\p{L}/u.test(rest) &&
    words(rest).split(' ').length <= THANKS_MAX_WORDS
  );
}

/** Collapses white space, but keeps line breaks. */
const tidy = (text: string) =>
  text
    .normalize('NFC')
    .replace(/[^\S\n]+/g, ' ')
    .trim();

/** The words without punctuation and emoji. */
const words = (text: string) => text.replace(/[^\p{L}\p{M}\p{N}'’]+/gu, ' ').trim();
