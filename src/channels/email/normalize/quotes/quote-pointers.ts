import { bareText } from './attribution.ts';
import type { Line } from './lines.ts';

/** A letter that only leads to its quote is short. */
const MAX_LINES = 12;
const MAX_LENGTH = 600;
/**
 * Outlook has no marks between what it quotes and what is written into it, so its users say where
 * their answers are.
 */
const POINTERS = [
  /\b(?:answers?|repl(?:y|ies)|comments?|responses?|notes|remarks)\b.{0,40}\b(?:below|inline|in-line|in (?:red|blue|green|bold|colou?r|capitals|caps)|underneath|between the lines)\b/i,
  /\b(?:see|answered|replied|commented|marked|responded)\b.{0,20}\b(?:below|inline|in-line|in (?:red|blue|green))\b/i,
  /(?:antwort|kommentar|anmerkung)\p{L}*.{0,40}(?:unten|darunter|im text|in (?:rot|blau|grün)|dazwischen)/iu,
  /siehe unten|s\. unten|(?:rot|blau|grün) markiert/i,
  /(?:réponse|commentaire)s?.{0,40}(?:ci-dessous|dans le texte|en (?:rouge|bleu|vert))|voir ci-dessous/i,
  /(?:respuesta|comentario|resposta|comentário)s?.{0,40}(?:abajo|debajo|abaixo|en rojo|en azul|em vermelho|em azul)/i,
  /(?:risposte|risposta|commenti).{0,40}(?:sotto|di seguito|in rosso|in blu|nel testo)/i,
  /(?:antwoord|opmerking)\p{L}*.{0,40}(?:hieronder|onder|in (?:rood|blauw|groen)|tussen de tekst)|zie onder/iu,
  /(?:svar|kommentar)\p{L}*.{0,40}(?:nedan|nedenfor|i rött|i rødt|med rødt|herunder)|se (?:nedan|nedenfor)/iu,
  /(?:odpowiedzi|odpowiedź).{0,40}(?:poniżej|w treści|na czerwono)/i,
  /(?:ответ|комментари)\p{L}*.{0,40}(?:ниже|красным|в тексте)|см\. ниже/iu,
];

/** Whether the new text says that there is more of it in the quoted message. */
export function pointsIntoQuote(lines: readonly Line[]): boolean {
  const said = lines.filter(({ text }) => text.trim() !== '');
  if (said.length > MAX_LINES) return false;
  const text = said.map(bareText).join(' ');
  return text.length <= MAX_LENGTH && POINTERS.some((pointer) => pointer.test(text));
}
