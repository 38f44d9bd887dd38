import { phrases } from '../quotes/lines.ts';

/**
 * The beginnings of the subjects of automatic answers in the languages of common mail systems, one
 * language after another.
 */
const AUTO_REPLY = phrases(`automatic reply|automated reply|automatic response|automated response|
  auto reply|auto-reply|autoreply|auto response|auto-response|autoresponse|auto:|out of office|
  out-of-office|out of the office|away from my mail|vacation reply|vacation response|on vacation|
  on annual leave|ooo:|automatische antwort|automatische rückantwort|autom. antwort|
  abwesenheitsnotiz|abwesenheitsnachricht|abwesenheitsmeldung|abwesenheitsassistent|abwesenheit|
  abwesend|nicht im büro|urlaubsbenachrichtigung|réponse automatique|reponse automatique|
  absence du bureau|absent du bureau|absence :|message d’absence|message d'absence|
  notification d’absence|notification d'absence|respuesta automática|respuesta automatica|
  fuera de la oficina|fuera de oficina|risposta automatica|fuori sede|fuori ufficio|assenza dall|
  resposta automática|resposta automatica|fora do escritório|ausência do escritório|
  ausência temporária|resposta automàtica|fora de l’oficina|fora de l'oficina|automatisch antwoord|
  automatische beantwoording|afwezigheidsbericht|afwezigheidsmelding|afwezig|niet aanwezig|autosvar|
  automatiskt svar|frånvaro|frånvaromeddelande|ej på kontoret|automatisk svar|autosvar|
  ikke til stede|fraværsbesked|fravær|automatisk svar|autosvar|fraværsmelding|fravær|
  ikke på kontoret|automaattinen vastaus|poissaoloilmoitus|poissa toimistosta|poissa|lomavastaus|
  sjálfvirkt svar|odpowiedź automatyczna|automatyczna odpowiedź|autoodpowiedź|poza biurem|
  nieobecność|automatická odpověď|mimo kancelář|nepřítomnost|automatická odpoveď|mimo kancelárie|
  neprítomnosť|automatikus válasz|házon kívül|irodán kívül|răspuns automat|raspuns automat|
  în afara biroului|automatski odgovor|izvan ureda|samodejni odgovor|odsotnost|
  automatinis atsakymas|automātiska atbilde|automātiskā atbilde|automaatvastus|automaatne vastus|
  αυτόματη απάντηση|εκτός γραφείου|автоматичен отговор|извън офиса|автоматический ответ|автоответ|
  нет на рабочем месте|вне офиса|автоматична відповідь|автовідповідь|otomatik yanıt|otomatik cevap|
  ofis dışında|ofis dışı|תשובה אוטומטית|
  מענה אוטומטי|
  מחוץ למשרד|
  رد تلقائي|
  الرد التلقائي|
  خارج المكتب|
  trả lời tự động|thư trả lời tự động|balasan otomatis|jawaban otomatis|ตอบกลับอัตโนมัติ|
  การตอบกลับอัตโนมัติ|自動応答|自動返信|自動回答|不在通知|不在のお知らせ|不在：|不在:|自动回复|自动答复|
  自動回覆|自動回復|外出|不在办公室|자동 회신|자동회신|자동 응답|자동응답|자동 답장|부재중|`);

/** The beginnings of the subjects of non-delivery notices, which speak of mail. */
const BOUNCE = phrases(`undelivered mail|undelivered message|undeliverable mail|undeliverable email|
  undeliverable message|delivery status notification|delivery notification|
  delivery failure notification|delivery failure notice|mail delivery failed|
  mail delivery failure|mail delivery has failed|mail delivery system|mail delivery subsystem|
  mail delivery status|mail delivery error|mail delivery warning|mail delivery delayed|
  email delivery failure|message delivery failure|message delivery failed|
  message delivery has failed|failure notice|permanent delivery failure|failed mail|
  returned mail|mail system error|non-delivery report|non-delivery notification|
  message not delivered|mail not delivered|mail could not be delivered|
  message could not be delivered|could not send message|warning: could not send|
  warning: message|delayed mail|message delayed|unable to deliver mail|
  nondeliverable mail|automatically rejected mail|there was an error sending your mail|
  there was a problem delivering your mail|message you sent blocked|
  message status - undeliverable|benachrichtigung zum übermittlungsstatus|
  benachrichtung zum übermittlungsstatus|nachricht konnte nicht zugestellt|
  mail konnte nicht zugestellt|zustellung der nachricht|notification d'état de remise|
  notification d’état de remise|échec de la remise|message non distribu|
  notificación de estado de la entrega|notificación del estado de entrega|correo devuelto|
  mensaje no entregado|notifica sullo stato del recapito|messaggio non recapitato|
  notificação de status de entrega|mensagem não entregue|não foi possível entregar a mensagem|
  mededeling over de status van|bericht niet bezorgd|powiadomienie o stanie dostarczenia|
  недоставленное сообщение|ваше сообщение не доставлено|сообщение не доставлено|
  メールの配信に失敗|メッセージを配信できません|メール送信エラー|送信エラー|配信エラー|系统退信|邮件退回|退信|郵件退回|
  발송실패|반송메일|메일 반송|`);
/**
 * The same, of words that may be about a parcel: only before a colon or alone. Exchange translates
 * them (`Undeliverable: …`).
 */
const BOUNCE_TITLES = phrases(`undeliverable|undelivered|delivery failure|delivery failed|
  delivery has failed|failed delivery|failure delivery|non-delivery|mail error|delivery delayed|
  failed to deliver|unzustellbar|nicht zustellbar|zustellung fehlgeschlagen|
  zustellung verzögert|non remis|non délivré|no se puede entregar|no entregado|
  non recapitabile|mancato recapito|onbestelbaar|niet bezorgd|não entregue|
  não é possível entregar|nie można dostarczyć|niedostarczona|niedostarczone|olevererbart|
  går inte att leverera|kunde inte levereras|kan ikke leveres|kunne ikke leveres|
  ei voida toimittaa|nedoručitelné|nedoručitelná|nedoručiteľné|kézbesíthetetlen|nelivrabil|
  teslim edilemedi|teslim edilemez|недоставленное|не доставлено|недоставлено|
  לא ניתן למסירה|
  配信不能|未配信|未送达|无法投递|无法送达|無法投遞|無法傳遞|배달되지 않음|`);
/** The beginnings of the subjects of notices that a mail is only late. */
const DELAY =
  phrases(`warning: could not send message|warning: message|delayed mail|message delayed|
  delivery delayed|mail delivery warning|mail delivery delayed|delivery status notification (delay)|
  zustellung verzögert|`);

/** Grouped by first character, because every message's subject is looked up. */
type Starts = ReadonlyMap<string, readonly string[]>;
const AUTO_REPLY_STARTS = byFirst(AUTO_REPLY);
const BOUNCE_STARTS = byFirst(BOUNCE);
const TITLE_STARTS = byFirst(BOUNCE_TITLES);
const DELAY_STARTS = byFirst(DELAY);

function byFirst(starts: readonly string[]): Starts {
  const groups = new Map<string, string[]>();
  for (const start of starts) {
    const group = groups.get(start.charAt(0)) ?? [];
    group.push(start);
    groups.set(start.charAt(0), group);
  }
  return groups;
}

/** Tags that mail gateways put before a subject: `[EXTERNAL]`, `***SPAM***`. */
const TAGS = /^(?:\s|\[[^\]]{0,40}\]|\*{1,3}[^*]{1,40}\*{1,3})*/;
const LETTER = /^[\p{L}\p{M}]/u;
/** Scripts without spaces between words. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]$/u;

/**
 * Whether a decoded subject begins like that of an out-of-office answer. Reads a bounded part of
 * it.
 */
export function isAutoReplySubject(subject: string): boolean {
  return startsWithOneOf(subject, AUTO_REPLY_STARTS);
}

/** Whether a decoded subject begins like that of a bounce. Reads a bounded part of it. */
export function isBounceSubject(subject: string): boolean {
  if (startsWithOneOf(subject, BOUNCE_STARTS)) return true;
  return startsWithOneOf(subject, TITLE_STARTS, (rest) => /^\s*(?:[:：([]|$)/.test(rest));
}

/** Whether a decoded subject begins like that of a notice that a mail is late. */
export function isDelaySubject(subject: string): boolean {
  return startsWithOneOf(subject, DELAY_STARTS);
}

/**
 * Whether it begins with one of these as whole words: `Abwesend`, not `Abwesendes`.
 * @param isEnd what may follow, besides the end of a word
 */
function startsWithOneOf(
  subject: string,
  starts: Starts,
  isEnd: (rest: string) => boolean = () => true,
): boolean {
  const text = subject.slice(0, 300).replace(TAGS, '').slice(0, 200).normalize('NFC').toLowerCase();
  const candidates = starts.get(text.charAt(0)) ?? [];
  return candidates.some((start) => {
    if (!text.startsWith(start)) return false;
    const rest = text.slice(start.length);
    return isEnd(rest) && (UNSPACED.test(start) || !LETTER.test(rest));
  });
}

/** The reply prefixes of mail clients in common languages, including numbered ones. */
const REPLY =
  /^(?:re|aw|antw|antwort|sv|vs|vá|ref|rif|res|r|odp|ynt|atb|бу|ответ|відп|отв|απ|σχετ|回复|回覆|答复|答覆|返信|답장|회신|תגובה|השב|رد)(?:\[\d{1,3}\]|\(\d{1,3}\))?\s*[:：]\s*/i;
/** `Re: AW: Re: …` grows with each answer; real mail does not have more prefixes than this. */
const MAX_PREFIXES = 50;

/**
 * The subject that a reply answers, without the prefixes of all earlier replies, in lower case.
 * Undefined if it is not the subject of a reply.
 */
export function answeredSubject(subject: string | undefined): string | undefined {
  let rest = (subject ?? '').slice(0, 500).trim();
  let prefixes = 0;
  for (; prefixes < MAX_PREFIXES; prefixes += 1) {
    const prefix = REPLY.exec(rest)?.[0];
    if (prefix === undefined) break;
    rest = rest.slice(prefix.length);
  }
  return prefixes === 0 ? undefined : rest.toLowerCase();
}

/**
 * The forward prefixes of mail clients in common languages: Outlook's in its languages (WG, TR, RV,
 * VS, VB, VL, PD, İLT …), Thunderbird's and those of the webmails.
 */
const FORWARD =
  /^(?:\[[^\]]{0,60}\]\s*){0,3}(?:fwd?|wg|tr|rv|rtr|enc|i|fs|vs|vb|vl|pd|yml|trs|tov|ilt|İLT|yönl|redir\.?|videresend|vidarebef|prosl|doorst|转发|转寄|轉寄|轉發|転送|전달|πρθ|προώθ|пересл|пер|препр|továbbítás|הועבר|إعادة توجيه|chuyển tiếp)\s*[:：]/i;

/** The words that subjects are recognized by. */
export const subjectWords: readonly string[] = [
  ...[...AUTO_REPLY, ...BOUNCE],
  ...[REPLY, FORWARD].flatMap(({ source }) => source.match(/[\p{L}\p{M}]+/gu) ?? []),
];

/** Only the first prefix counts: `Re: Fwd: …` is a reply. */
export function isForwardSubject(subject: string | undefined): boolean {
  return subject !== undefined && FORWARD.test(subject.slice(0, 200).trimStart());
}
