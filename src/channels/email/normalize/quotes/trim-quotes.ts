import {
  attributionStart,
  bareText,
  holdsAttributionAndQuote,
  isForwardLine,
  isOriginalMessageLine,
  isRule,
  type Line,
  phrases,
  startsHeaderBlock,
} from './lines.ts';

interface TrimmedLines {
  /** The lines that are kept. */
  readonly lines: readonly Line[];
  /** The removed lines: signature and quote, in their order. */
  readonly trimmed: readonly Line[];
}

/** Where the quoted message starts, and whether everything after it belongs to it. */
interface QuoteStart {
  readonly index: number;
  readonly rest: boolean;
}

/**
 * Removes the quoted message and the signature from a reply. Everything is kept if new text follows
 * a quote (the answers are between or below the quoted lines) or is announced to be within it, if
 * the message is a forward, and if nothing would be left. Linear in the lines; reads a bounded part
 * of each.
 */
export function trimQuotes(lines: readonly Line[]): TrimmedLines {
  const quote = findQuote(lines);
  if (quote !== undefined && (isForward(lines, quote) || isAnsweredInline(lines, quote))) {
    return { lines, trimmed: [] };
  }
  let end = quote?.index ?? lines.length;
  while (end > 0 && quote !== undefined && isEmptyOrRule(lines[end - 1])) end -= 1;
  const kept = withoutSignature(lines.slice(0, end));
  const saysSomething = kept.some(({ text }) => /[\p{L}\p{N}\p{S}]/u.test(text.slice(0, 1000)));
  if (!saysSomething || (quote !== undefined && pointsIntoQuote(kept))) {
    return { lines, trimmed: [] };
  }
  const staying = new Set(kept);
  return { lines: kept, trimmed: lines.filter((line) => !staying.has(line)) };
}

function findQuote(lines: readonly Line[]): QuoteStart | undefined {
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index];
    if (line === undefined || line.text === '') continue;
    if (
      line.mark === 'rest' ||
      isOriginalMessageLine(line) ||
      holdsAttributionAndQuote(line) ||
      startsHeaderBlock(lines, index)
    ) {
      return { index, rest: true };
    }
    const quoteFollows = isQuoted(nextText(lines, index + 1));
    const attribution = attributionStart(lines, index, quoteFollows);
    if (attribution !== undefined) {
      return { index: attribution, rest: !quoteFollows && line.mark === undefined };
    }
    if (isQuoted(line)) return { index, rest: false };
  }
  return undefined;
}

/**
 * Whether new text follows the start of the quote: without the quote, the answers would lose their
 * context.
 */
function isAnsweredInline(lines: readonly Line[], quote: QuoteStart): boolean {
  if (quote.rest) return false;
  for (let index = quote.index; index < lines.length; index += 1) {
    const line = lines[index];
    if (line === undefined) continue;
    if (line.mark === 'rest' || isOriginalMessageLine(line)) return false;
    if (line.mark === 'signature' || bareText(line) === '--') return false;
    if (isQuoted(line) || isEmptyOrRule(line) || isAttributionLine(lines, index, quote)) continue;
    return true;
  }
  return false;
}

function isAttributionLine(lines: readonly Line[], index: number, quote: QuoteStart): boolean {
  for (let end = index; end < index + 4 && end < lines.length; end += 1) {
    const quoteFollows = isQuoted(nextText(lines, end + 1));
    const start = attributionStart(lines, end, quoteFollows);
    if (start !== undefined && start <= index && start >= quote.index) return true;
  }
  return false;
}

/** The forwarded text is the subject of the message. */
function isForward(lines: readonly Line[], quote: QuoteStart): boolean {
  return lines.slice(0, quote.index + 4).some(isForwardLine);
}

function isQuoted(line: Line | undefined): boolean {
  return line !== undefined && (line.mark === 'quote' || line.text.trimStart().startsWith('>'));
}

function nextText(lines: readonly Line[], from: number): Line | undefined {
  for (let index = from; index < from + 4; index += 1) {
    if (lines[index]?.text.trim() !== '') return lines[index];
  }
  return undefined;
}

function isEmptyOrRule(line: Line | undefined): boolean {
  return line === undefined || line.text.trim() === '' || isRule(line);
}

/** A text that only refers to its quote is short. */
const MAX_POINTER_LINES = 12;
const MAX_POINTER_LENGTH = 600;
/**
 * Outlook does not mark text that is written into a quote, so its users say where their answers
 * are.
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
function pointsIntoQuote(lines: readonly Line[]): boolean {
  const said = lines.filter(({ text }) => text.trim() !== '');
  if (said.length > MAX_POINTER_LINES) return false;
  const text = said.map(bareText).join(' ');
  return text.length <= MAX_POINTER_LENGTH && POINTERS.some((pointer) => pointer.test(text));
}

/** A longer text is not a signature, whatever precedes it. */
const MAX_SIGNATURE_LINES = 20;
const MAX_SENT_FROM_LENGTH = 160;
/** The beginnings of lines that a phone or an app appends to a message. */
const SENT_FROM = phrases(`sent from |sent via |sent with |sent using |get outlook for |
  yahoo mail: search|secured with |von meinem |von meiner |gesendet von |gesendet mit |
  gesendet über |diese nachricht wurde von meinem |outlook für |envoyé de |envoyé depuis |
  envoyé à partir |télécharger outlook |obtenir outlook |enviado desde |enviado do |enviado de |
  enviado a partir |obtener outlook |obter o outlook |inviato da|ottieni outlook |verzonden vanaf |
  verstuurd vanaf |outlook voor |wysłane z |skickat från |hämta outlook |sendt fra |hent outlook |
  lähetetty |hanki outlook |odesláno z |získat outlook |отправлено с |отправлено из |надіслано з |
  στάλθηκε από |εστάλη από |trimis de pe |发自我的|從我的|나의 |내 |נשלח מה|
  أُرسلت من|
  مرسل من|`);
/** The ends of such lines, in languages with the verb at the end. */
const SENT_FROM_ENDS = ['から送信', ' gönderildi', '에서 보냄'];
/** Without a device or an app, it is a sentence: "Von meinem Konto …". */
const DEVICE =
  /i(?:phone|pad)|android|galaxy|samsung|huawei|xiaomi|redmi|pixel|nokia|blackberry|outlook|yahoo|proton|tuta mail|gmx|web\.de|fairemail|k-9|airmail|spark|gmail|\bmail\b|smartphone|handy|tablet|mobil|m[óo]vil|celular|telem[óo]vel|phone|téléphone|telefon|puhelime|cellulare|мобильн|мобільн|телефон|почт/i;

/** The lines without what the client marked as signature, and without what follows `-- `. */
function withoutSignature(lines: readonly Line[]): readonly Line[] {
  const own = lines.filter(({ mark }) => mark !== 'signature');
  const delimiter = own.findLastIndex((line) => bareText(line) === '--');
  const long = own.length - delimiter - 1 > MAX_SIGNATURE_LINES;
  const kept = delimiter === -1 || long ? own : own.slice(0, delimiter);
  const last = kept.findLastIndex(({ text }) => text.trim() !== '');
  const line = kept[last];
  return line !== undefined && isSentFrom(line) ? kept.slice(0, last) : kept;
}

function isSentFrom(line: Line): boolean {
  if (line.text.length > MAX_SENT_FROM_LENGTH || !DEVICE.test(line.text)) return false;
  const text = bareText(line).toLowerCase().replaceAll('[', '');
  if (/[?!,:;]$/.test(text)) return false;
  return (
    SENT_FROM.some((start) => text.startsWith(start)) ||
    SENT_FROM_ENDS.some((end) => text.endsWith(end))
  );
}
