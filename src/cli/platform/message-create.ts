import type { Command } from 'commander';
import type { ShopConfig } from '../../config/config.ts';
import type { CreateMessageResult } from '../../platform-api/client.ts';
import type { CreateMessageRequest } from '../../platform-api/schemas.ts';
import { UsageError, CommandFailed } from '../exit-codes.ts';
import { firstInbox } from '../../gateway/sample-messages/first-inbox.ts';
import { quote } from '../quote.ts';
import { note, printable, type Terminal } from '../terminal.ts';
import { bodyOf, field, optionsOf, type RequestFields, withFields } from './request-fields.ts';
import { document } from '../json.ts';
import { withConnection } from './resource-command.ts';
import { instant, mailbox, uuid, uuids } from './values.ts';

interface CreateOptions {
  readonly type?: 'email' | 'sms' | 'web_chat';
  readonly to?: string;
  readonly conversation?: string;
  readonly content: string;
  readonly attach?: readonly string[];
  readonly media?: readonly string[];
  readonly json?: true;
}

const FIELDS: RequestFields = {
  'message.content': field(
    '--content <text>',
    'the content; - reads standard input',
  ).makeOptionMandatory(),
  'contact.email': field('--email <address>', "the customer's address"),
  'contact.name': field('--name <name>', "the customer's name"),
  'contact.phone': field('--phone <number>', "the customer's phone number"),
  'conversation.type': field('--type <type>', 'the channel of a new conversation').choices([
    'email',
    'sms',
    'web_chat',
  ]),
  'conversation.id': field('--conversation <uuid>', 'continues this conversation', uuid),
  'conversation.agent_contact': field(
    '--to <contact>',
    "the support address or number (default: the shop's first)",
  ),
  'message.format': field('--format <format>', 'the format of the content').choices([
    'TEXT',
    'MARKDOWN',
    'HTML',
  ]),
  'message.attachments': field('--media <uuid,...>', 'attaches uploaded files', uuids),
  'message.remote_id': field('--remote-id <id>', 'the deduplication key'),
  'message.timestamp': field(
    '--timestamp <time>',
    'when it was written; local time unless it has an offset',
    instant,
  ),
  'message.email.subject': field('--subject <subject>', 'email: the subject'),
  'message.email.in_reply_to': field(
    '--in-reply-to <message-id>',
    'email: the Message-ID that it replies to',
  ),
  'message.email.references': field(
    '--references <message-id...>',
    'email: the thread that it belongs to',
  ),
  'message.email.cc': field(
    '--cc <mailbox>',
    'email: a recipient of a copy; may be repeated',
    mailbox,
  ),
  'message.email.bcc': field(
    '--bcc <mailbox>',
    'email: a recipient of a blind copy; may be repeated',
    mailbox,
  ),
  'conversation.intent_id': field('--intent <uuid>', 'the intent', uuid),
  'conversation.topic_id': field('--topic <uuid>', 'the topic', uuid),
  'conversation.user_id': field('--user <uuid>', 'the user', uuid),
};

/** The fields that no option sets. */
const START = { contact: {}, conversation: { direction: 'inbound' } };

/** API §4.7 */
export function registerMessageCreate(parent: Command, terminal: Terminal): void {
  withConnection(withFields(parent.command('create'), FIELDS))
    .description('creates an inbound message on behalf of a customer')
    .option('--attach <file...>', 'uploads these files, private, and attaches them')
    .option('--json', 'for programs: {status, message}')
    .addHelpText(
      'after',
      '\nExample:\n  $ sluice platform messages create --type email --email ann@example.com' +
        ' --subject "My order" --content "Where is it?" --attach receipt.pdf' +
        '\n  $ sluice platform messages create --type web_chat --name Ann --content - < question.txt',
    )
    .action(async (options: CreateOptions, command: Command) => {
      if (options.type === undefined && options.conversation === undefined) {
        throw new UsageError(
          'give --type for a new conversation, or --conversation to continue one',
        );
      }
      const { onPlatform } = await import('./connection.ts');
      const { localFiles, upload } = await import('./local-file.ts');
      const files = await localFiles(options.attach ?? []);
      const content = options.content === '-' ? await readInput(terminal) : options.content;
      const uploaded: string[] = [];
      try {
        await onPlatform(
          command,
          terminal,
          async ({ client, shop }) => {
            const to = options.to ?? supportContact(shop, options);
            for (const file of files) {
              uploaded.push((await upload(client, file, 'private', terminal)).id);
            }
            const attached = [...(options.media ?? []), ...uploaded];
            const media = attached.length > 0 ? attached : undefined;
            const message = bodyOf(FIELDS, { ...options, content, media, to }, START);
            // Its required fields are mandatory options, or in `START`.
            const result = await client.createMessage(message as CreateMessageRequest);
            terminal.out(options.json ? document(result) : resultText(result));
          },
          optionsOf(FIELDS),
        );
      } catch (error) {
        if (uploaded.length > 0) {
          const media = quote(printable(uploaded.join(',')));
          terminal.err(`The files are uploaded; try again with: --media ${media}\n`);
        }
        throw error;
      }
    });
}

/** Required for a new conversation by email or SMS (API §4.7). */
function supportContact(
  shop: ShopConfig,
  { type, conversation }: CreateOptions,
): string | undefined {
  if (conversation !== undefined || type === undefined || type === 'web_chat') return undefined;
  const own =
    type === 'email' ? shop.email && firstInbox(shop.email.addresses) : shop.sms?.numbers[0];
  if (own !== undefined) return own;
  throw new UsageError(`the shop ${shop.name} has no ${type} address: give --to`);
}

/** The documentation does not list the success codes; 201 means that the message is new. */
function resultText({ status, message = {} }: CreateMessageResult): string {
  const { id = 'without an id', conversation_id: conversation, ticket_id: ticket } = message;
  const where = [
    `message ${id}`,
    ...(conversation ? [`conversation ${conversation}`] : []),
    ...(ticket ? [`ticket ${ticket}`] : []),
  ].join('\n  ');
  return printable(`${status === 201 ? 'created' : `accepted (${status})`}:\n  ${where}\n`);
}

/** More than any platform accepts as one message. */
const MAX_BYTES = 16 * 1024 * 1024;

/**
 * The text that is typed or piped in, without its final line break.
 * @throws {UsageError} it is too long or not UTF-8
 */
async function readInput(terminal: Terminal): Promise<string> {
  const { input } = terminal;
  if (input === undefined) throw new CommandFailed('standard input is not available');
  if (input.isTTY) note(terminal, 'Type the text and end it with Ctrl-D on an empty line.\n');
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of input) {
    // Without an encoding, a byte stream yields buffers only.
    const bytes = Buffer.from(chunk as Uint8Array);
    size += bytes.length;
    if (size > MAX_BYTES) throw new UsageError('standard input is larger than 16 MiB');
    chunks.push(bytes);
  }
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks, size));
    return text.replace(/\r?\n$/, '');
  } catch (cause) {
    throw new UsageError('standard input is not UTF-8 text', { cause });
  }
}
