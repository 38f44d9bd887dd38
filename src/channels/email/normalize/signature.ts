import { bareText } from './attribution.ts';
import type { Line } from './lines.ts';

/** Longer than this it is no signature, whatever stands before it. */
const MAX_SIGNATURE_LINES = 20;
/** What telephones add below a message. */
const SENT_FROM =
  /^(?:sent from (?:my |yahoo|outlook|mail)|get outlook for |von meinem |gesendet (?:von|mit) |envoyé (?:de|depuis) |enviado (?:desde|do) |inviato da|verzonden vanaf|verstuurd vanaf|wysłane z |skickat från |sendt fra |lähetetty |odesláno z |отправлено (?:с|из) )/i;

/** The lines without what the client marked as signature, and without what follows `-- `. */
export function withoutSignature(lines: readonly Line[]): readonly Line[] {
  const own = lines.filter(({ mark }) => mark !== 'signature');
  const delimiter = own.findLastIndex((line) => bareText(line) === '--');
  const long = own.length - delimiter - 1 > MAX_SIGNATURE_LINES;
  const kept = delimiter === -1 || long ? own : own.slice(0, delimiter);
  const last = kept.findLastIndex(({ text }) => text.trim() !== '');
  const line = kept[last];
  return line !== undefined && line.text.length < 200 && SENT_FROM.test(bareText(line))
    ? kept.slice(0, last)
    : kept;
}
