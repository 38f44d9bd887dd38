import { mkdirSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import MailComposer from 'nodemailer/lib/mail-composer';
import { type Outbound, type OutgoingReply, type Sent, Unreachable } from './outbound.ts';

/** Leaves each email as an .eml file in a folder, under the reply's id. */
export class EmailOutbox implements Outbound {
  readonly #folder: string;

  constructor(folder: string) {
    mkdirSync(folder, { recursive: true });
    this.#folder = folder;
  }

  async send(reply: OutgoingReply): Promise<Sent> {
    const path = join(this.#folder, `${reply.id}.eml`);
    // Whoever watches the folder never sees half a file.
    const temporary = `${path}.tmp`;
    await writeFile(temporary, await compose(reply), { mode: 0o600 });
    await rename(temporary, path);
    return { outboxPath: path };
  }
}

/**
 * The reply as a message (RFC 5322 §3.6.4). `Auto-Submitted: auto-replied` (RFC 3834 §5) keeps
 * other machines from answering it.
 */
export async function compose(reply: OutgoingReply): Promise<Buffer> {
  const { email, from, to } = reply;
  if (email === undefined || from === undefined || to === undefined) {
    throw new Unreachable('an address is missing');
  }
  const mail = new MailComposer({
    from: { name: reply.fromName, address: from },
    to: { name: reply.toName ?? '', address: to },
    subject: email.subject,
    date: reply.at,
    messageId: email.messageId,
    ...(email.inReplyTo && { inReplyTo: email.inReplyTo }),
    ...(email.references.length > 0 && { references: [...email.references] }),
    headers: { 'Auto-Submitted': 'auto-replied', 'X-Auto-Response-Suppress': 'All' },
    text: reply.text,
    // The text is the agent's and may quote a customer: never a path or URL to fetch.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return await mail.compile().build();
}
