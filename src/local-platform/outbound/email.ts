import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Transporter } from 'nodemailer';
import MailComposer from 'nodemailer/lib/mail-composer';
import MarkdownIt from 'markdown-it';
import {
  RELAY_TIMEOUTS,
  type RelayOptions,
  relayTransport,
} from '../../runtime/relay-transport.ts';
import {
  type Attempt,
  diskFailure,
  type Outbound,
  type OutgoingReply,
  SendFailed,
  type Sent,
  unreachable,
} from './outbound.ts';
import { durableFiles, makeFolder } from '../../runtime/durable-files.ts';
import { oneLine } from './addressed.ts';
import { withoutMarkup } from '../plain-text.ts';

/**
 * Sends each email through an SMTP relay, one connection a reply: replies are few, and the trouble
 * of one connection is then the trouble of one reply.
 *
 * Between the relay's 250 and our note of it lies a moment in which a crash makes the reply leave
 * twice; SMTP has no way to ask. Both then carry the same Message-ID, by which mail programs and
 * many servers tell that it is one message.
 */
export class Relay implements Outbound {
  readonly inOrder = false;
  readonly canRepeat = false;
  readonly #transport: Transporter;
  readonly #totalMs: number;

  constructor(options: RelayOptions) {
    this.#totalMs = (options.timeouts ?? RELAY_TIMEOUTS).totalMs;
    this.#transport = relayTransport(options);
  }

  async send(reply: OutgoingReply, { signal }: Attempt): Promise<Sent> {
    const raw = await compose(reply);
    try {
      await this.#transport.sendMail({
        // A bounce goes where the customer's mail went: the gateway keeps bounces from the platform.
        envelope: { from: mailbox(reply.from), to: mailbox(reply.to) },
        raw,
        signal: AbortSignal.any([signal, AbortSignal.timeout(this.#totalMs)]),
      });
      return {};
    } catch (error) {
      throw smtpFailure(error);
    }
  }

  close(): void {
    this.#transport.close();
  }
}

/**
 * As an object: text would be read as a list. Its domain leaves in ASCII, which every relay knows,
 * unless the local part has no such form (RFC 6531 §3.2).
 */
const mailbox = (address = '') => ({ name: '', address });

/** What nodemailer says about a mail that did not go out; its own type is of its callbacks only. */
interface SmtpError {
  readonly code: string;
  readonly responseCode: number | undefined;
  readonly command: string;
}

/**
 * What an attempt through a relay came to (RFC 5321 §4.2.1):
 *
 * | the relay | the reply |
 * | --- | --- |
 * | 5xx to the sender, the recipient or the message | is refused for good |
 * | 4xx, anywhere | is tried again |
 * | 5xx to greeting, EHLO, STARTTLS or AUTH, or to want a password (530) or TLS | is tried again: an operator can mend that, and no reply is lost by a password that was changed |
 * | 503, a reply out of order | is tried again, on a new connection |
 * | no connection, no name, no TLS, nothing said in time | is tried again |
 *
 * The relay's words are left out: they quote the address.
 */
function smtpFailure(error: unknown): SendFailed {
  if (error instanceof SendFailed) return error;
  const { code, responseCode, command } = read(error);
  if (responseCode !== undefined) {
    const kind = isRefusal(responseCode, command) ? 'permanent' : 'transient';
    return new SendFailed(kind, `the relay answered ${responseCode}`, {
      code: String(responseCode),
    });
  }
  // Nobody was asked: the message itself cannot be sent.
  const isOurs = ['EENVELOPE', 'EMESSAGE', 'ESTREAM'].includes(code) && command !== 'CONN';
  return new SendFailed(isOurs ? 'permanent' : 'transient', 'the relay was not reached', { code });
}

function isRefusal(responseCode: number, command: string): boolean {
  if (responseCode < 500 || responseCode === 503 || responseCode === 530) return false;
  return /^(?:MAIL|RCPT|DATA)/.test(command);
}

function read(error: unknown): SmtpError {
  const fields: Readonly<Record<string, unknown>> =
    typeof error === 'object' && error !== null ? { ...error } : {};
  const { code, responseCode, command } = fields;
  return {
    code: typeof code === 'string' ? code : 'EUNKNOWN',
    responseCode: typeof responseCode === 'number' ? responseCode : undefined,
    command: typeof command === 'string' ? command : '',
  };
}

/** Leaves each email as an .eml file in a folder, under the reply's id. DELIVERED is what is on disk. */
export class EmailOutbox implements Outbound {
  readonly inOrder = false;
  readonly canRepeat = true;
  readonly #folder: string;

  constructor(folder: string) {
    makeFolder(folder);
    this.#folder = folder;
  }

  async send(reply: OutgoingReply): Promise<Sent> {
    const path = join(this.#folder, `${reply.id}.eml`);
    // Whoever watches the folder never sees half a file.
    const temporary = `${path}.tmp`;
    const message = await compose(reply);
    try {
      await writeFile(temporary, message, { mode: 0o600, flush: true });
      await durableFiles.rename(temporary, path);
    } catch (error) {
      throw diskFailure(error);
    }
    return { outboxPath: path };
  }
}

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

/** A longer answer is no letter; what comes after is in the text part. */
const MAX_CHARS = 100_000;

/** HTML is text: the agent may repeat what a customer wrote. */
const markdown = new MarkdownIt({ html: false, breaks: true, linkify: true });
// An image is fetched when the mail is opened: it tells somebody that it was.
markdown.disable('image');
markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
markdown.validateLink = (url) => /^(?:https?|mailto|tel):/i.test(url.trim());

/** An answer's Markdown (CommonMark) as the HTML part of an email, without a tag but its own. */
export function htmlOf(text: string): string {
  const body = markdown.render(text.slice(0, MAX_CHARS));
  return `<!DOCTYPE html>\n<html><body>\n${body}</body></html>\n`;
}
