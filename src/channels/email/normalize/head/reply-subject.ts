/** What mail clients put before the subject of a reply, in the usual languages, also counted. */
const REPLY =
  /^(?:re|aw|antw|antwort|sv|vs|vá|ref|rif|res|r|odp|ynt|atb|бу|ответ|відп|отв|απ|σχετ|回复|回覆|答复|答覆|返信|답장|회신|תגובה|השב|رد)(?:\[\d{1,3}\]|\(\d{1,3}\))?\s*[:：]\s*/i;
/** `Re: AW: Re: …` grows with each answer; nobody's grows further than this by hand. */
const MAX_PREFIXES = 50;

/**
 * The subject that a reply answers, without the prefixes of all replies before it, in lower case.
 * Undefined when the subject is no reply's.
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
