import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Transporter } from 'nodemailer';
import MailComposer from 'nodemailer/lib/mail-composer';
import MarkdownIt from 'markdown-it';
import {
  RELAY_TIMEOUTS,
  relayError,
  type RelayOptions,
  relayTransport,
} from '../../runtime/relay-transport.ts';
import {
  type Attempt,
  diskFailure,
  type EmailFooter,
  type Outbound,
  type OutgoingFile,
  type OutgoingReply,
  SendFailed,
  type Sent,
  unreachable,
} from './outbound.ts';
import { durableFiles, makeFolder } from '../../runtime/durable-files.ts';
import { html } from '../../runtime/markup.ts';
import { oneLine } from './address-reply.ts';
import { withoutMarkup } from '../plain-text.ts';

/**
 * Sends each email through an SMTP relay over its own connection: replies are few, and a failing
 * connection then affects one reply only.
 *
 * A crash between the relay's 250 and the note of it causes the reply to be sent twice, which SMTP
 * cannot prevent. Both copies have the same Message-ID, by which mail programs and many servers
 * detect the duplicate.
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
        // A bounce goes to the shop's address; the gateway does not pass bounces to the platform.
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
 * An object, because a string would be parsed as a list. nodemailer sends the domain in ASCII unless
 * the local part is not ASCII (RFC 6531 §3.2).
 */
const mailbox = (address = '') => ({ name: '', address });

/**
 * Classifies a failed attempt through a relay (RFC 5321 §4.2.1):
 *
 * | the relay's answer | the reply |
 * | --- | --- |
 * | 5xx to the sender, the recipient or the message | fails permanently |
 * | 4xx to any command | is retried |
 * | 5xx to the greeting, EHLO, STARTTLS or AUTH; 530, which requires a password or TLS | is retried: an operator can fix the configuration |
 * | 503, bad sequence of commands | is retried on a new connection |
 * | no connection, unknown host, TLS failure, timeout | is retried |
 *
 * The relay's own text is left out, because it quotes the address.
 */
function smtpFailure(error: unknown): SendFailed {
  if (error instanceof SendFailed) return error;
  const { code, responseCode, command } = relayError(error);
  if (responseCode !== undefined) {
    const kind = isRefusal(responseCode, command) ? 'permanent' : 'transient';
    return new SendFailed(kind, `the relay answered ${responseCode}`, {
      code: String(responseCode),
    });
  }
  // The library refused the message before it contacted the relay.
  const isOurs = ['EENVELOPE', 'EMESSAGE', 'ESTREAM'].includes(code) && command !== 'CONN';
  return new SendFailed(isOurs ? 'permanent' : 'transient', 'the relay was not reached', {
    code: code || 'EUNKNOWN',
  });
}

function isRefusal(responseCode: number, command: string): boolean {
  if (responseCode < 500 || responseCode === 503 || responseCode === 530) return false;
  return /^(?:MAIL|RCPT|DATA)/.test(command);
}

/** Writes each email to an .eml file named by the reply's id. A reply is DELIVERED once it is durable. */
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
    // Renamed when complete, so that a program that watches the folder sees whole files only.
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

/** Keeps other programs from answering the agent (RFC 3834 §5). A person's reply has none of it. */
const AUTOMATIC = { 'Auto-Submitted': 'auto-replied', 'X-Auto-Response-Suppress': 'All' };

/**
 * Composes the reply as a message (RFC 5322 §3.6.4). The headers are the same at each attempt.
 * @throws {SendFailed} permanent, when an address is missing; transient, when a file cannot be read
 */
export async function compose(reply: OutgoingReply): Promise<Buffer> {
  const { email, from, to } = reply;
  if (email === undefined || from === undefined || to === undefined) {
    throw unreachable('an address');
  }
  const isMarkdown = reply.format === 'MARKDOWN';
  const attachments = await Promise.all((reply.files ?? []).map(attachment));
  const mail = new MailComposer({
    from: { name: oneLine(reply.fromName), address: from },
    to: { name: oneLine(reply.toName ?? ''), address: reply.shownTo ?? to },
    subject: email.subject,
    date: reply.at,
    messageId: email.messageId,
    ...(email.inReplyTo && { inReplyTo: email.inReplyTo }),
    ...(email.references.length > 0 && { references: [...email.references] }),
    headers: { ...(reply.isByPerson !== true && AUTOMATIC), ...reply.headers },
    text: withFooter(isMarkdown ? withoutMarkup(reply.content) : reply.content, reply.footer),
    ...(isMarkdown && { html: htmlOf(reply.content, reply.footer) }),
    ...(attachments.length > 0 && { attachments }),
    // The text may quote a customer: nothing in it may be read from a file or URL.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return await mail.compile().build();
}

/** After the signature separator, so that mail programs leave it out of an answer (RFC 3676 §4.3). */
const withFooter = (text: string, footer: EmailFooter | undefined): string =>
  footer === undefined ? text : `${text}\n\n-- \n${footer.words}\n${footer.url}\n`;

/** Read here, since the mail library may not read files. */
async function attachment({ name, type, path }: OutgoingFile) {
  try {
    return { filename: oneLine(name), contentType: type, content: await readFile(path) };
  } catch (error) {
    throw diskFailure(error);
  }
}

/** The HTML part ends here; the text part has the whole answer. */
const MAX_CHARS = 100_000;

/** HTML in the answer is escaped, because the agent may quote a customer. */
const markdown = new MarkdownIt({ html: false, breaks: true, linkify: true });
// Loading an image would tell its host that the email was opened.
markdown.disable('image');
markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
markdown.validateLink = (url) => /^(?:https?|mailto|tel):/i.test(url.trim());

/** Renders an answer's Markdown (CommonMark) as the HTML part of an email. */
export function htmlOf(text: string, footer?: EmailFooter): string {
  const below =
    footer &&
    html`<p>
      <small>${footer.words} <a href="${footer.url}">${footer.url}</a></small>
    </p>`;
  const body = `${markdown.render(text.slice(0, MAX_CHARS))}${below?.source ?? ''}`;
  return `<!DOCTYPE html>\n<html><body>\n${body}</body></html>\n`;
}
