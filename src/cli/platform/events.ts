import type { Command } from 'commander';
import type { CreatedEvent } from '../../platform-api/resources.ts';
import type { CreateEventRequest } from '../../platform-api/schemas.ts';
import { UsageError } from '../exit-codes.ts';
import { printable, type Terminal } from '../terminal.ts';
import { withConnection, document } from './resource-command.ts';
import { instant, metric, type Metric, property, uuid } from './values.ts';

interface CreateOptions {
  readonly name: string;
  readonly description?: string;
  readonly time?: string;
  readonly email?: string;
  readonly contactName?: string;
  readonly phone?: string;
  readonly remoteId?: string;
  readonly metric?: Metric;
  readonly dedupKey?: string;
  readonly objectType?: string;
  readonly objectId?: string;
  readonly contextType?: string;
  readonly contextId?: string;
  readonly property?: Readonly<Record<string, string>>;
  readonly json?: true;
}

const OPTION_OF = {
  name: '--name',
  description: '--description',
  event_time: '--time',
  contact: '--email, --phone or --remote-id',
  'contact.email': '--email',
  'contact.name': '--contact-name',
  'contact.phone': '--phone',
  'contact.remote_id': '--remote-id',
  'metric.metric_name': '--metric',
  'metric.value': '--metric',
  'metric.deduping_key': '--dedup-key',
  'metric.metric_object_type': '--object-type',
  'metric.metric_object_id': '--object-id',
  'metric.context_object_type': '--context-type',
  'metric.context_object_id': '--context-id',
  'metric.additional_properties': '--property',
};

/** API §4.1 */
export function registerEvents(parent: Command, terminal: Terminal): void {
  const events = parent.command('events').description('records events');
  events.addHelpText(
    'after',
    '\nExample:\n  $ sluice platform events create --name "Order paid" --email ann@example.com',
  );

  withConnection(
    events
      .command('create')
      .description("records an event: on a contact's timeline, as a metric, or both")
      .requiredOption('--name <name>', 'what happened')
      .option('--description <text>', 'a description')
      .option(
        '--time <time>',
        'the time (default: now); local time unless it has an offset',
        instant,
      )
      .option('--email <address>', "contact: the person's address")
      .option('--contact-name <name>', "contact: the person's name")
      .option('--phone <number>', "contact: the person's phone number")
      .option('--remote-id <id>', "contact: the person's id in another system")
      .option('--metric <name=value>', 'metric: its name, with an optional value', metric)
      .option('--dedup-key <key>', 'metric: the deduplication key')
      .option('--object-type <type>', 'metric: the type of its object')
      .option('--object-id <uuid>', 'metric: the id of its object', uuid)
      .option('--context-type <type>', 'metric: the type of its context')
      .option('--context-id <uuid>', 'metric: the id of its context', uuid)
      .option(
        '--property <name=value>',
        'metric: an additional property; may be repeated',
        property,
      ),
  )
    .option('--json', 'for programs: the object as the API returns it')
    .addHelpText(
      'after',
      '\nExample:\n  $ sluice platform events create --name "Order paid" --email ann@example.com' +
        ' --metric order_value=49.90 --dedup-key order-1001',
    )
    .action(async (options: CreateOptions, command: Command) => {
      const { onPlatform } = await import('./connection.ts');
      const request = toRequest(options);
      await onPlatform(
        command,
        terminal,
        async ({ client }) => {
          const event = await client.createEvent(request);
          terminal.out(options.json ? document(event) : resultText(event));
        },
        OPTION_OF,
      );
    });
}

function toRequest(options: CreateOptions): CreateEventRequest {
  const { name, description, time } = options;
  const contact = contactOf(options);
  const measured = metricOf(options);
  if (contact === undefined && measured === undefined) {
    throw new UsageError('give a contact (--email, --phone, --remote-id), a --metric, or both');
  }
  return {
    name,
    ...(description !== undefined && { description }),
    ...(time !== undefined && { event_time: time }),
    ...(contact && { contact }),
    ...(measured && { metric: measured }),
  };
}

function contactOf(options: CreateOptions): CreateEventRequest['contact'] {
  const { email, contactName, phone, remoteId } = options;
  const contact = {
    ...(email !== undefined && { email }),
    ...(contactName !== undefined && { name: contactName }),
    ...(phone !== undefined && { phone }),
    ...(remoteId !== undefined && { remote_id: remoteId }),
  };
  return Object.keys(contact).length > 0 ? contact : undefined;
}

function metricOf(options: CreateOptions): CreateEventRequest['metric'] {
  const { metric: named, dedupKey, objectType, objectId, contextType, contextId } = options;
  const measured = {
    ...named,
    ...(dedupKey !== undefined && { deduping_key: dedupKey }),
    ...(objectType !== undefined && { metric_object_type: objectType }),
    ...(objectId !== undefined && { metric_object_id: objectId }),
    ...(contextType !== undefined && { context_object_type: contextType }),
    ...(contextId !== undefined && { context_object_id: contextId }),
    ...(options.property && { additional_properties: options.property }),
  };
  return Object.keys(measured).length > 0 ? measured : undefined;
}

function resultText({ contact }: CreatedEvent): string {
  if (contact === undefined) return 'recorded\n';
  const { id = 'without an id', email, phone, remote_id: remoteId } = contact;
  const known = [email, phone, remoteId].filter(Boolean).join(', ');
  return printable(`recorded for contact ${id}${known === '' ? '' : ` (${known})`}\n`);
}
