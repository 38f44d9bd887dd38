import { bareText } from './attribution.ts';
import type { Line } from './lines.ts';

/** Longer than this it is no signature, whatever stands before it. */
const MAX_SIGNATURE_LINES = 20;
const MAX_SENT_FROM_LENGTH = 160;
/** How a line starts that a telephone or an app adds below a message. */
const SENT_FROM = [
  'sent from ',
  'sent via ',
  'sent with ',
  'sent using ',
  'get outlook for ',
  'yahoo mail: search',
  'secured with ',
  'von meinem ',
  'von meiner ',
  'gesendet von ',
  'gesendet mit ',
  'gesendet über ',
  'diese nachricht wurde von meinem ',
  'outlook für ',
  'envoyé de ',
  'envoyé depuis ',
  'envoyé à partir ',
  'télécharger outlook ',
  'obtenir outlook ',
  'enviado desde ',
  'enviado do ',
  'enviado de ',
  'enviado a partir ',
  'obtener outlook ',
  'obter o outlook ',
  'inviato da',
  'ottieni outlook ',
  'verzonden vanaf ',
  'verstuurd vanaf ',
  'outlook voor ',
  'wysłane z ',
  'skickat från ',
  'hämta outlook ',
  'sendt fra ',
  'hent outlook ',
  'lähetetty ',
  'hanki outlook ',
  'odesláno z ',
  'získat outlook ',
  'отправлено с ',
  'отправлено из ',
  'надіслано з ',
  'στάλθηκε από ',
  'εστάλη από ',
  'trimis de pe ',
  '发自我的',
  '從我的',
  '나의 ',
  '내 ',
  'נשלח מה',
  'أُرسلت من',
  'مرسل من',
];
/** How one ends, where the verb stands last. */
const SENT_FROM_ENDS = ['から送信', ' gönderildi', '에서 보냄'];
/** Without a device or an app it is a sentence: "Von meinem Konto …". */
const DEVICE =
  /i(?:phone|pad)|android|galaxy|samsung|huawei|xiaomi|redmi|pixel|nokia|blackberry|outlook|yahoo|proton|tuta mail|gmx|web\.de|fairemail|k-9|airmail|spark|gmail|\bmail\b|smartphone|handy|tablet|mobil|m[óo]vil|celular|telem[óo]vel|phone|téléphone|telefon|puhelime|cellulare|мобильн|мобільн|телефон|почт/i;

/** The lines without what the client marked as signature, and without what follows `-- `. */
export function withoutSignature(lines: readonly Line[]): readonly Line[] {
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
