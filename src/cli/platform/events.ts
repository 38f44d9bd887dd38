import type { Command } from 'commander';
import type { CreatedEvent } from '../../platform-api/resources.ts';
import type { CreateEventRequest } from '../../platform-api/schemas.ts';
import { UsageError } from '../exit-codes.ts';
import { printable, type Terminal } from '../terminal.ts';
import { bodyOf, field, optionsOf, type RequestFields, withFields } from './request-fields.ts';
import { document } from '../json.ts';
import { withConnection } from './resource-command.ts';
import { instant, metric, property, uuid } from './values.ts';

const FIELDS: RequestFields = {
  name: field('--name <name>', 'what happened').makeOptionMandatory(),
  description: field('--description <text>', 'a description'),
  event_time: field(
    '--time <time>',
    'the time (default: now); local time unless it has an offset',
    instant,
  ),
  'contact.email': field('--email <address>', "contact: the person's address"),
  'contact.name': field('--contact-name <name>', "contact: the person's name"),
  'contact.phone': field('--phone <number>', "contact: the person's phone number"),
  'contact.remote_id': field('--remote-id <id>', "contact: the person's id in another system"),
  metric: field('--metric <name=value>', 'metric: its name, with an optional value', metric),
  'metric.deduping_key': field('--dedup-key <key>', 'metric: the deduplication key'),
  'metric.metric_object_type': field('--object-type <type>', 'metric: the type of its object'),
  'metric.metric_object_id': field('--object-id <uuid>', 'metric: the id of its object', uuid),
  'metric.context_object_type': field('--context-type <type>', 'metric: the type of its context'),
  'metric.context_object_id': field('--context-id <uuid>', 'metric: the id of its context', uuid),
  'metric.additional_properties': field(
    '--property <name=value>',
    'metric: an additional property; may be repeated',
    property,
  ),
};

const OPTION_OF = {
  ...optionsOf(FIELDS),
  contact: '--email, --phone or --remote-id',
  'metric.metric_name': '--metric',
  'metric.value': '--metric',
};

/** API §4.1 */
export function registerEvents(parent: Command, terminal: Terminal): void {
  const events = parent.command('events').description('records events');
  events.addHelpText(
    'after',
    '\nExample:\n  $ sluice platform events create --name "Order paid" --email ann@example.com',
  );

  withConnection(withFields(events.command('create'), FIELDS))
    .description("records an event: on a contact's timeline, as a metric, or both")
    .option('--json', 'for programs: the object as the API returns it')
    .addHelpText(
      'after',
      '\nExample:\n  $ sluice platform events create --name "Order paid" --email ann@example.com' +
        ' --metric order_value=49.90 --dedup-key order-1001',
    )
    .action(async (options: { json?: true }, command: Command) => {
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

function toRequest(options: object): CreateEventRequest {
  // All required fields are mandatory options.
  const request = bodyOf(FIELDS, options) as CreateEventRequest;
  if (request.contact === undefined && request.metric === undefined) {
    throw new UsageError('give a contact (--email, --phone, --remote-id), a --metric, or both');
  }
  return request;
}

function resultText({ contact }: CreatedEvent): string {
  if (contact === undefined) return 'recorded\n';
  const { id = 'without an id', email, phone, remote_id: remoteId } = contact;
  const known = [email, phone, remoteId].filter(Boolean).join(', ');
  return printable(`recorded for contact ${id}${known === '' ? '' : ` (${known})`}\n`);
}
