import MailComposer from 'nodemailer/lib/mail-composer';
import { htmlOf } from './markdown-html.ts';
import { type OutgoingReply, unreachable } from './outbound.ts';
import { oneLine } from './threading.ts';
import { withoutMarkup } from '../without-markup.ts';

/**
 * The reply as a message (RFC 5322 §3.6.4). `Auto-Submitted: auto-replied` (RFC 3834 §5) keeps
 * other machines from answering it. The same reply has the same headers each time.
 * @throws {SendFailed} permanent, when an address is missing
 */
export async function compose(reply: OutgoingReply): Promise<Buffer> {
  const { email, from, to } = reply;
  if (email === undefined || from === undefined || to === undefined) {
    throw unreachable('an address');
  }
  const isMarkdown = reply.format === 'MARKDOWN';
  const mail = new MailComposer({
    from: { name: oneLine(reply.fromName), address: from },
    to: { name: oneLine(reply.toName ?? ''), address: to },
    subject: email.subject,
    date: reply.at,
    messageId: email.messageId,
    ...(email.inReplyTo && { inReplyTo: email.inReplyTo }),
    ...(email.references.length > 0 && { references: [...email.references] }),
    headers: { 'Auto-Submitted': 'auto-replied', 'X-Auto-Response-Suppress': 'All' },
    text: isMarkdown ? withoutMarkup(reply.content) : reply.content,
    ...(isMarkdown && { html: htmlOf(reply.content) }),
    // The text is the agent's and may quote a customer: never a path or URL to fetch.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return await mail.compile().build();
}
