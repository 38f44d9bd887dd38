/** Twilio's marks of messages that travel by other ways than SMS. */
const PREFIX = /^(whatsapp|messenger|rcs):/i;

/**
 * Both ends as Twilio wants them: who was written to through WhatsApp, answers through WhatsApp.
 * One of the two may have come without its prefix; with one only, Twilio refuses (error 63007).
 */
export function smsAddresses(from: string, to: string): { from: string; to: string } {
  const prefix = (PREFIX.exec(to) ?? PREFIX.exec(from))?.[0] ?? '';
  const bare = (address: string) => address.trim().replace(PREFIX, '');
  return { from: `${prefix}${bare(from)}`, to: `${prefix}${bare(to)}` };
}
