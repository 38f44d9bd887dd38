import { bareText } from './attribution.ts';
import type { Line } from './lines.ts';

const ORIGINAL = [
  'original message',
  'original-nachricht',
  'ursprüngliche nachricht',
  "message d'origine",
  'message original',
  'mensaje original',
  'messaggio originale',
  'oorspronkelijk bericht',
  'mensagem original',
  'wiadomość oryginalna',
  'oryginalna wiadomość',
  'ursprungligt meddelande',
  'originalmeddelande',
  'oprindelig meddelelse',
  'opprinnelig melding',
  'alkuperäinen viesti',
  'původní zpráva',
  'orijinal ileti',
  'orijinal mesaj',
  'исходное сообщение',
  '元のメッセージ',
  '原始邮件',
  '原始郵件',
  'reply message',
];
const FORWARDED = [
  'forwarded message',
  'weitergeleitete nachricht',
  'message transféré',
  'mensaje reenviado',
  'messaggio inoltrato',
  'doorgestuurd bericht',
  'mensagem encaminhada',
  'wiadomość przekazana',
  'przekazana wiadomość',
  'vidarebefordrat meddelande',
  'videresendt meddelelse',
  'videresendt melding',
  'välitetty viesti',
  'přeposlaná zpráva',
  'iletilen mesaj',
  'yönlendirilmiş ileti',
  'пересылаемое сообщение',
  'пересланное сообщение',
  '転送メッセージ',
  '转发的邮件',
  '转发邮件',
  '轉寄的郵件',
];
const FORWARDED_INTRO = [
  'begin forwarded message',
  'anfang der weitergeleiteten nachricht',
  'début du message réexpédié',
  'début du message transféré',
  'inicio del mensaje reenviado',
  'inizio messaggio inoltrato',
  'begin doorgestuurd bericht',
  'início da mensagem encaminhada',
  'начало переадресованного сообщения',
];
const FROM_LABELS: ReadonlySet<string> = new Set([
  'from',
  'von',
  'de',
  'da',
  'van',
  'od',
  'från',
  'fra',
  'lähettäjä',
  'kimden',
  'gönderen',
  'от',
  'от кого',
  '差出人',
  '发件人',
  '寄件者',
]);
const OTHER_LABELS: ReadonlySet<string> = new Set([
  'sent',
  'date',
  'to',
  'subject',
  'cc',
  'gesendet',
  'datum',
  'an',
  'betreff',
  'envoyé',
  'à',
  'objet',
  'enviado',
  'enviado el',
  'fecha',
  'para',
  'asunto',
  'inviato',
  'data',
  'a',
  'oggetto',
  'verzonden',
  'aan',
  'onderwerp',
  'assunto',
  'enviada',
  'enviada em',
  'wysłano',
  'do',
  'temat',
  'skickat',
  'till',
  'ämne',
  'sendt',
  'til',
  'emne',
  'dato',
  'lähetetty',
  'vastaanottaja',
  'aihe',
  'odesláno',
  'komu',
  'předmět',
  'gönderildi',
  'tarih',
  'kime',
  'konu',
  'отправлено',
  'дата',
  'кому',
  'тема',
  '送信日時',
  '日付',
  '宛先',
  '件名',
  '发送时间',
  '日期',
  '收件人',
  '主题',
  '寄件日期',
  '收件者',
  '主旨',
]);
/** A header block has From and its companions within this many lines. */
const HEADER_BLOCK_LINES = 7;

/** `-----Original Message-----` and its translations. */
export function isOriginalMessageLine(line: Line): boolean {
  return isDashedTitle(line, ORIGINAL);
}

/** A line by which a mail client introduces a forwarded message. */
export function isForwardLine(line: Line): boolean {
  if (isDashedTitle(line, FORWARDED)) return true;
  const text = bareText(line).toLowerCase();
  return FORWARDED_INTRO.some((intro) => text.startsWith(intro));
}

/** Whether a block of From, Sent, To and Subject lines starts here, as Outlook puts it. */
export function startsHeaderBlock(lines: readonly Line[], index: number): boolean {
  if (!FROM_LABELS.has(label(lines[index]))) return false;
  let others = 0;
  for (let at = index + 1; at < index + HEADER_BLOCK_LINES && at < lines.length; at += 1) {
    if (OTHER_LABELS.has(label(lines[at]))) others += 1;
  }
  return others >= 2;
}

/** A line that only separates: it goes with the quote that it stands before. */
export function isRule(line: Line): boolean {
  const text = bareText(line);
  return text.length >= 3 && /^[-_=\u2014\u2500]{3,600}$/.test(text);
}

function isDashedTitle(line: Line, titles: readonly string[]): boolean {
  const text = bareText(line).toLowerCase();
  if (!/^[-_]{2}/.test(text)) return false;
  const title = text.replace(/^[-_\s]+/, '').replace(/[-_\s:：]{1,600}$/, '');
  return titles.includes(title);
}

/** What stands before the first colon, in lower case: "From" of "**From:** Ann". */
function label(line: Line | undefined): string {
  const text = bareText(line).replace(/^[>\s]{0,20}/, '');
  const colon = text.slice(0, 30).search(/[:：]/);
  return colon === -1 ? '' : text.slice(0, colon).trim().toLowerCase();
}
