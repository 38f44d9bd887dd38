import { bareText, type Line } from './lines.ts';

/** A text that only refers to its quote is short. */
const MAX_POINTER_LINES = 12;
const MAX_POINTER_LENGTH = 600;
/**
 * Outlook does not mark text that is written into a quote, so its users say where their answers
 * are: a word for answers, and within some characters behind it one for the place. An ending of the
 * word counts among them.
 */
const POINTERS: readonly (readonly [answers: RegExp, within: number, places: RegExp])[] = [
  [
    /\b(?:answers?|answered|repl(?:y|ies)|comments?|responses?|notes|remarks)\b/gi,
    40,
    /\b(?:below|inline|in-line|in (?:red|blue|green|bold|colou?r|capitals|caps)|underneath|(?:between|within) (?:the|your) \w|in your (?:(?:e-?)?mail|message|text)|next to (?:the|your|each))/i,
  ],
  [
    /\b(?:see|answered|replied|commented|marked|responded)\b/gi,
    20,
    /\b(?:below|inline|in-line|in (?:red|blue|green))\b/i,
  ],
  [
    /antwort|kommentar|anmerkung/gi,
    45,
    /unten|darunter|im text|in (?:rot|blau|grün)|dazwischen|direkt in/i,
  ],
  [
    /réponse|commentaire/gi,
    45,
    /ci-dessous|en dessous|dans le (?:texte|corps)|en (?:rouge|bleu|vert)/i,
  ],
  [
    /respuesta|comentario|resposta|comentário/gi,
    45,
    /\babajo|debajo|abaixo|en (?:rojo|azul|verde)|(?:em|a) (?:vermelho|azul|verde)/i,
  ],
  [/risposte|risposta|commenti/gi, 40, /\bsotto\b|di seguito|in rosso|in blu|nel testo/i],
  [
    /antwoord|opmerking/gi,
    45,
    /hieronder|\bonder\b|in (?:het )?(?:rood|blauw|groen)|tussen de tekst|tussendoor/i,
  ],
  [/svar|kommentar/gi, 45, /nedan|nedenfor|i rött|i rødt|med rødt|herunder/i],
  [/vastau/gi, 45, /\balla\b|alapuolella|punaisella|tekstissä/i],
  [/odpowiedzi|odpowiedź/gi, 40, /poniżej|w treści|na czerwono/i],
  [/odpověd|odpoved/gi, 45, /níže|nižšie|červen|v textu|v texte/i],
  [/válasz/gi, 45, /\blent\b|alább|piros|szövegben/i],
  [/răspuns/gi, 45, /mai jos|cu roșu|în text/i],
  [/απαντήσ|απάντησ/gi, 45, /παρακάτω|με κόκκινο/i],
  [/cevap|yanıt/gi, 45, /aşağıda|kırmızı/i],
  [/ответ|комментари/giu, 45, /ниже|красным|в тексте/iu],
  [/відповід|коментар/giu, 45, /нижче|червоним|в тексті/iu],
  [/回答|返答|返信|答え/g, 20, /下記|以下|下に|赤字|赤で|青字|文中|行間/],
  [/答复|回复|答覆|回覆/g, 12, /见下|見下|如下|下面|下方|红|紅|蓝|藍|文中/],
  [/[红紅蓝藍][字色]/g, 12, /答复|回复|答覆|回覆/],
  [/답변|답장|회신/g, 20, /아래|빨간|파란|본문/],
  [/إجاب|الرد|ردود/g, 30, /أسفل|أدناه|بالأحمر/],
  [/תשוב/g, 30, /למטה|להלן|באדום|בגוף/],
];
const POINTERS_ALONE = [
  /siehe unten|s\. unten|(?:rot|blau|grün) markiert/i,
  /voir (?:ci-dessous|dans le texte)|zie onder|se nedan|se nedenfor|см\. ниже/iu,
];

/** Whether the new text says that there is more of it in the quoted message. */
export function pointsIntoQuote(lines: readonly Line[]): boolean {
  const said = lines.filter(({ text }) => text.trim() !== '');
  if (said.length > MAX_POINTER_LINES) return false;
  const text = said.map(bareText).join(' ');
  if (text.length > MAX_POINTER_LENGTH) return false;
  const isNear = ([answers, within, places]: (typeof POINTERS)[number]) =>
    [...text.matchAll(answers)].some(({ 0: word, index }) => {
      const [sentence = ''] = /^[^.!?。]*/.exec(text.slice(index + word.length)) ?? [];
      const at = sentence.search(places);
      return at !== -1 && at <= within;
    });
  return POINTERS.some(isNear) || POINTERS_ALONE.some((pointer) => pointer.test(text));
}
