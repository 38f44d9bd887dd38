/** What mail clients put before the subject of a forward, in the usual languages. */
const FORWARD =
  /^(?:\[[^\]]{0,60}\]\s*)?(?:fwd?|wg|tr|rv|enc|i|vs|vb|vl|pd|ilt|doorst|转发|轉寄|転送|전달|πρθ|προώθ|пересл|пер|továbbítás|הועבר|إعادة توجيه)\s*[:：]/i;

/** Only the first prefix tells: `Re: Fwd: …` is a reply. */
export function isForwardSubject(subject: string | undefined): boolean {
  return subject !== undefined && FORWARD.test(subject.slice(0, 200).trimStart());
}
