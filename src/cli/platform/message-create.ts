import { Option, type Command } from 'commander';
import type { ShopConfig } from '../../config/config.ts';
import type { CreateMessageResult } from '../../platform-api/client.ts';
import type { CreateMessageRequest } from '../../platform-api/schemas.ts';
import { UsageError, CommandFailed } from '../exit-codes.ts';
import { firstInbox } from '../../gateway/sample-messages/first-inbox.ts';
import { quote } from '../quote.ts';
import { printable, type Terminal } from '../terminal.ts';
import { withConnection, document } from './resource-command.ts';
import { instant, mailbox, type Mailbox, uuid, uuids } from './values.ts';

const TYPES = ['email', 'sms', 'web_chat'] as const;
const FORMATS = ['TEXT', 'MARKDOWN', 'HTML'] as const;

interface CreateOptions {
  readonly email?: string;
  readonly name?: string;
  readonly phone?: string;
  readonly type?: (typeof TYPES)[number];
  readonly to?: string;
  readonly conversation?: string;
  readonly intent?: string;
  readonly topic?: string;
  readonly user?: string;
  readonly content: string;
  readonly format?: (typeof FORMATS)[number];
  readonly attach?: readonly string[];
  readonly media?: readonly string[];
  readonly remoteId?: string;
  readonly timestamp?: string;
  readonly subject?: string;
  readonly inReplyTo?: string;
  readonly references?: readonly string[];
  readonly cc?: readonly Mailbox[];
  readonly bcc?: readonly Mailbox[];
  readonly json?: true;
}

const OPTION_OF = {
  'contact.email': '--email',
  'contact.name': '--name',
  'contact.phone': '--phone',
  'conversation.type': '--type',
  'conversation.id': '--conversation',
  'conversation.agent_contact': '--to',
  'conversation.intent_id': '--intent',
  'conversation.topic_id': '--topic',
  'conversation.user_id': '--user',
  'message.content': '--content',
  'message.format': '--format',
  'message.attachments': '--media',
  'message.remote_id': '--remote-id',
  'message.timestamp': '--timestamp',
  'message.email.subject': '--subject',
  'message.email.in_reply_to': '--in-reply-to',
  'message.email.references': '--references',
  'message.email.cc': '--cc',
  'message.email.bcc': '--bcc',
};

/** API §4.7 */
export function registerMessageCreate(parent: Command, terminal: Terminal): void {
  withConnection(
    parent
      .command('create')
      .description('creates an inbound message on behalf of a customer')
      .requiredOption('--content <text>', 'what it says; - reads the standard input')
      .option('--email <address>', "the customer's address")
      .option('--name <name>', "the customer's name")
      .option('--phone <number>', "the customer's phone number")
      .addOption(new Option('--type <type>', 'the channel of a new conversation').choices(TYPES))
      .option('--conversation <uuid>', 'continues this conversation', uuid)
      .option('--to <contact>', "the support address or number (default: the shop's first)")
      .addOption(new Option('--format <format>', 'the format of the content').choices(FORMATS))
      .option('--attach <file...>', 'uploads these files, private, and attaches them')
      .option('--media <uuid,...>', 'attaches what has been uploaded', uuids)
      .option('--remote-id <id>', 'the key by which a message is taken once')
      .option('--timestamp <time>', 'when it was written; local without an offset', instant)
      .option('--subject <subject>', 'email: the subject')
      .option('--in-reply-to <message-id>', 'email: the message that it answers')
      .option('--references <message-id...>', 'email: the thread that it belongs to')
      .option('--cc <mailbox>', 'email: who gets a copy; may be repeated', mailbox)
      .option('--bcc <mailbox>', 'email: who gets a hidden copy; may be repeated', mailbox)
      .option('--intent <uuid>', 'the intent', uuid)
      .option('--topic <uuid>', 'the topic', uuid)
      .option('--user <uuid>', 'the user', uuid),
  )
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
            const media = [...(options.media ?? []), ...uploaded];
            const result = await client.createMessage(request(options, content, media, to));
            terminal.out(options.json ? document(result) : resultText(result));
          },
          OPTION_OF,
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

function request(
  options: CreateOptions,
  content: string,
  attachments: readonly string[],
  to: string | undefined,
): CreateMessageRequest {
  const { email, name, phone, type, conversation, intent, topic, user } = options;
  const { format, remoteId, timestamp } = options;
  const headers = emailHeaders(options);
  return {
    contact: {
      ...(email !== undefined && { email }),
      ...(name !== undefined && { name }),
      ...(phone !== undefined && { phone }),
    },
    conversation: {
      direction: 'inbound',
      ...(type !== undefined && { type }),
      ...(conversation !== undefined && { id: conversation }),
      ...(to !== undefined && { agent_contact: to }),
      ...(intent !== undefined && { intent_id: intent }),
      ...(topic !== undefined && { topic_id: topic }),
      ...(user !== undefined && { user_id: user }),
    },
    message: {
      content,
      ...(format !== undefined && { format }),
      ...(attachments.length > 0 && { attachments }),
      ...(remoteId !== undefined && { remote_id: remoteId }),
      ...(timestamp !== undefined && { timestamp }),
      ...(Object.keys(headers).length > 0 && { email: headers }),
    },
  };
}

function emailHeaders(
  options: CreateOptions,
): NonNullable<CreateMessageRequest['message']['email']> {
  const { subject, inReplyTo, references, cc, bcc } = options;
  return {
    ...(subject !== undefined && { subject }),
    ...(inReplyTo !== undefined && { in_reply_to: inReplyTo }),
    ...(references !== undefined && { references }),
    ...(cc !== undefined && { cc }),
    ...(bcc !== undefined && { bcc }),
  };
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
  if (input === undefined) throw new CommandFailed('there is no standard input');
  if (input.isTTY) terminal.err('Type the text and end it with Ctrl-D on an empty line.\n');
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of input) {
    // Without an encoding, a byte stream yields buffers only.
    const bytes = Buffer.from(chunk as Uint8Array);
    size += bytes.length;
    if (size > MAX_BYTES) throw new UsageError('the standard input is larger than 16 MiB');
    chunks.push(bytes);
  }
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks, size));
    return text.replace(/\r?\n$/, '');
  } catch (cause) {
    throw new UsageError('the standard input is not UTF-8 text', { cause });
  }
}
