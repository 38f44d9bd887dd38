/**
 * The origin of a line of a body, as marked by the sender's mail client in the HTML. Plain text has
 * no marks.
 */
export type Mark =
  /** Within an element that contains the quoted message. */
  | 'quote'
  /** After an element from which on everything is the quoted message (Outlook). */
  | 'rest'
  | 'signature';

/** One line of a body during its conversion to content. */
export interface Line {
  readonly text: string;
  readonly mark?: Mark;
  /**
   * The next line belongs to the same paragraph (`<br>`); otherwise Markdown would join the two.
   */
  readonly hardBreak?: boolean;
}

/**
 * A list of phrases in lower case, read from a text in which `|` ends each of them: a phrase may
 * end in a space, so the spaces before `|` count. The text's line breaks and indentation do not.
 */
export function phrases(list: string): readonly string[] {
  return list.replace(/\n\s*/g, '').split('|').slice(0, -1);
}

/** The lines of a plain text, without trailing white space. */
export function textLines(text: string): readonly Line[] {
  return text.split('\n').map((line) => ({ text: line.trimEnd() }));
}

/** The lines as one text, without leading, trailing and repeated empty lines. */
export function joinLines(lines: readonly Line[], format: 'TEXT' | 'MARKDOWN'): string {
  const out: string[] = [];
  let empty = 0;
  lines.forEach(({ text, hardBreak }, index) => {
    empty = text === '' ? empty + 1 : 0;
    if (empty > 2 || (text === '' && out.length === 0)) return;
    const breaks = format === 'MARKDOWN' && hardBreak === true && lines[index + 1]?.text !== '';
    out.push(breaks && index + 1 < lines.length ? `${text}  ` : text);
  });
  // Yahoo puts a space before the first line.
  return out
    .join('\n')
    .replace(/^ (?=\S)/, '')
    .trimEnd();
}

/** The titles that mail clients put before the message that is answered or forwarded. */
const ORIGINAL = phrases(`original message|original-nachricht|ursprüngliche nachricht|
  message d'origine|message original|mensaje original|messaggio originale|oorspronkelijk bericht|
  mensagem original|wiadomość oryginalna|oryginalna wiadomość|ursprungligt meddelande|
  originalmeddelande|oprindelig meddelelse|opprinnelig melding|alkuperäinen viesti|původní zpráva|
  orijinal ileti|orijinal mesaj|исходное сообщение|元のメッセージ|原始邮件|原始郵件|회신 메시지|
  원본 메시지|початкове повідомлення|αρχικό μήνυμα|ההודעה המקורית|
  הודעה מקורית|
  الرسالة الأصلية|
  eredeti üzenet|mesaj original|original appointment|reply message|`);
const FORWARDED = phrases(`forwarded message|weitergeleitete nachricht|message transféré|
  mensaje reenviado|messaggio inoltrato|doorgestuurd bericht|mensagem encaminhada|
  wiadomość przekazana|przekazana wiadomość|vidarebefordrat meddelande|videresendt meddelelse|
  videresendt melding|välitetty viesti|přeposlaná zpráva|iletilen mesaj|yönlendirilmiş ileti|
  пересылаемое сообщение|пересланное сообщение|転送メッセージ|转发的邮件|转发邮件|轉寄的郵件|
  전달된 메시지|переслане повідомлення|προωθημένο μήνυμα|הודעה שהועברה|
  رسالة معاد توجيهها|
  továbbított üzenet|`);
const FORWARDED_INTRO = phrases(`begin forwarded message|anfang der weitergeleiteten nachricht|
  début du message réexpédié|début du message transféré|inicio del mensaje reenviado|
  inizio messaggio inoltrato|begin doorgestuurd bericht|início da mensagem encaminhada|
  начало переадресованного сообщения|início da mensagem reencaminhada|vidarebefordrat brev|
  start på videresendt besked|videresendt e-post|下面是被转发的邮件|開始轉寄郵件|
  転送されたメッセージ|전달된 메시지|`);
const FROM_LABELS: ReadonlySet<string> = new Set(
  phrases(`from|von|de|da|van|od|från|fra|lähettäjä|kimden|gönderen|от|от кого|差出人|发件人|寄件者|
  від|από|מאת|
  من|
  보낸 사람|feladó|de la|odesílatel|`),
);
const SUBJECT_LABELS: ReadonlySet<string> = new Set(
  phrases(`subject|betreff|objet|asunto|oggetto|onderwerp|assunto|temat|ämne|emne|aihe|předmět|konu|
  тема|件名|主题|主旨|θέμα|נושא|
  الموضوع|
  제목|tárgy|subiect|`),
);
const OTHER_LABELS: ReadonlySet<string> = new Set([
  ...phrases(`sent|date|to|cc|gesendet|datum|an|envoyé|à|enviado|enviado el|fecha|para|inviato|data|
    a|verzonden|aan|enviada|enviada em|wysłano|do|skickat|till|sendt|til|dato|lähetetty|
    vastaanottaja|odesláno|komu|gönderildi|tarih|kime|отправлено|дата|кому|送信日時|日付|宛先|发送时间|日期|
    收件人|寄件日期|收件者|надіслано|στάλθηκε|εστάλη|ημερομηνία|προς|נשלח|
    תאריך|
    אל|
    إلى|
    تم الإرسال|
    التاريخ|
    보낸 날짜|날짜|받는 사람|elküldve|címzett|trimis|către|`),
  ...SUBJECT_LABELS,
]);
/** A header block has From and its other fields within this many lines. */
const HEADER_BLOCK_LINES = 7;

/** `-----Original Message-----` and its translations; Zoho's `---- On … X <x@y> wrote ---`. */
export function isOriginalMessageLine(line: Line): boolean {
  return isDashedTitle(line, ORIGINAL) || isDashedAttribution(line);
}

/** A line with which a mail client introduces a forwarded message. */
export function isForwardLine(line: Line): boolean {
  if (isDashedTitle(line, FORWARDED)) return true;
  const text = bareText(line).toLowerCase();
  return FORWARDED_INTRO.some((intro) => text.startsWith(intro));
}

/**
 * Whether a block of From, Sent, To and Subject lines starts here, as in Outlook; GMX puts Sent
 * first. It must have a subject or an address: "From: Berlin, To: Paris" may be written by a
 * person.
 */
export function startsHeaderBlock(lines: readonly Line[], index: number): boolean {
  const first = label(lines[index]);
  if (!FROM_LABELS.has(first) && !OTHER_LABELS.has(first)) return false;
  let from = FROM_LABELS.has(first);
  let others = from ? 0 : 1;
  let marked = SUBJECT_LABELS.has(first) || (from && hasAddress(lines[index]));
  for (let at = index + 1; at < index + HEADER_BLOCK_LINES && at < lines.length; at += 1) {
    const name = label(lines[at]);
    // Lines before From must belong to the block too.
    if (!from && name === '') return false;
    from ||= FROM_LABELS.has(name);
    if (OTHER_LABELS.has(name)) others += 1;
    marked ||= SUBJECT_LABELS.has(name) || (FROM_LABELS.has(name) && hasAddress(lines[at]));
  }
  return from && others >= 2 && marked;
}

/** A separator line; it belongs to the quote that follows. */
export function isRule(line: Line): boolean {
  const text = bareText(line);
  return text.length >= 3 && /^[-_=\u2014\u2500]{3,600}$/.test(text);
}

function isDashedTitle(line: Line, titles: readonly string[]): boolean {
  const bare = bareText(line);
  if (!/^[-_]{2}/.test(bare)) return false;
  // QQ Mail writes the entity into its plain text.
  const text = bare.toLowerCase().replaceAll('&nbsp;', ' ');
  const title = text.replace(/^[-_\s]+/, '').replace(/[-_\s:：]{1,600}$/, '');
  return titles.includes(title);
}

function isDashedAttribution(line: Line): boolean {
  const text = bareText(line);
  return /^-{3,4} \S/.test(text) && /\S -{3,4}$/.test(text) && text.includes('@');
}

function hasAddress(line: Line | undefined): boolean {
  return bareText(line).includes('@');
}

/** The text before the first colon, in lower case: "From" of "**From:** Ann". */
export function label(line: Line | undefined): string {
  const text = bareText(line).replace(/^[>\s]{0,20}/, '');
  const colon = text.slice(0, 30).search(/[:：]/);
  return colon === -1 ? '' : text.slice(0, colon).trim().toLowerCase();
}

const MAX_LENGTH = 600;
/** Clients wrap an attribution at 72 to 78 characters, so it has up to four lines. */
const MAX_LINES = 4;

/** The beginnings of attributions, in the languages in which they begin with a fixed word. */
const STARTS = phrases(`on |am |le |el |il |op |em |no dia |w dniu |dnia |den |på |dne |el día |
  il giorno |vào |în |a(z) |στις |в |في |
  בתאריך |
  在 |`);
/** With a margin, since the lower case can be shorter. */
const LONGEST_START = 2 * Math.max(...STARTS.map(({ length }) => length));
/** The ends of attributions, before the colon. */
const ENDING_VERBS = phrases(`wrote|writes|schrieb|schrieb folgendes|a écrit|escribió|ha scritto|
  schreef|het volgende geschreven|escreveu|napisał|napisał(a)|napisała|pisze|skrev|følgende|
  kirjoitti|napsal|napsal(a)|napsala|şunu yazdı|yazdı|пишет|написал|написала|написал(а)|написал/а|
  пише|написав|написала/в|написав(-ла)|έγραψε|כתב|
  כתבה|
  כתב/ה|
  写道|寫道|さんは書きました|さんが書きました|のメール|작성|쓴 글|写|scris|írta|`);
/** Verbs that precede the name. */
const INNER_VERBS = phrases(`schrieb|schreef|írta|skrev|odesílatel|a écrit|wrote|kirjoitti|yazdı|
  написав|כתב|
  كتب|
  كتب/كتبت|
  بواسطة|`).map((verb) => ` ${verb} `);
/** Years and times of day, in the digits of any script. */
const DATE = /(?<!\p{Nd})(?:(?:19|20)\d\d|[١٢]\p{Nd}{3})(?!\p{Nd})|\p{Nd}{1,2}[:.h]\p{Nd}{2}/u;
/** Yahoo's app puts the quoted text on the same line, after the attribution. */
const WITH_TEXT_BEHIND = /<[^<>\s]{1,250}@[^<>\s]{1,250}>[^<>:\n]{0,40}[:：] {2,}\S/;

/**
 * The line at which the attribution begins that ends at line `index` ("On Monday … X wrote:"), or
 * undefined. Without a quote below, only an attribution with an address is assumed to be a
 * client's, because a person may write "On Monday at 10:00 Ann wrote:". Reads a bounded amount of
 * text for any input.
 */
export function attributionStart(
  lines: readonly Line[],
  index: number,
  quoteFollows: boolean,
): number | undefined {
  if (!/[:：]$/.test(bareText(lines[index]))) return undefined;
  let text = '';
  let nearest: number | undefined;
  for (let start = index; start > index - MAX_LINES && start >= 0; start -= 1) {
    const line = bareText(lines[start]);
    if (line === '' || text.length + line.length > MAX_LENGTH) break;
    if (nearest === start + 1 && !text.includes('@') && /<[^<>\s]+@[^<>\s]+>/.test(line))
      return start;
    text = text === '' ? line : `${line} ${text}`;
    if (!(quoteFollows || text.includes('@')) || !isAttribution(text)) continue;
    if (startsLikeOne(line)) return start;
    nearest ??= start;
  }
  return nearest;
}

/** Whether the line is an attribution followed by the quoted text. */
export function holdsAttributionAndQuote(line: Line): boolean {
  const text = bareText(line);
  return startsLikeOne(text) && DATE.test(text) && WITH_TEXT_BEHIND.test(text);
}

function startsLikeOne(line: string): boolean {
  const first = line.slice(0, LONGEST_START).toLowerCase();
  return STARTS.some((word) => first.startsWith(word));
}

/** The start of a line without Markdown marks, for comparison. */
export function bareText(line: Line | undefined): string {
  return (line?.text ?? '')
    .slice(0, MAX_LENGTH)
    .replace(/[\\*\u200e\u200f]/g, '')
    .trim();
}

function isAttribution(text: string): boolean {
  if (!DATE.test(text)) return false;
  const said = text.slice(0, -1).trimEnd().toLowerCase();
  return (
    ENDING_VERBS.some((verb) => said.endsWith(verb)) ||
    INNER_VERBS.some((verb) => said.includes(verb)) ||
    (said.endsWith('>') && said.includes('@')) ||
    (said.endsWith('>)') && said.includes('@'))
  );
}
