import { z } from 'zod';
import {
  contactFields,
  conversationFields,
  messageFields,
  ticketFields,
} from '../../../platform-api/resources.ts';
import { listContactsQuerySchema, listMessagesQuerySchema } from '../../../platform-api/schemas.ts';
import { actionSchema } from '../actions.ts';
import { auditFilterSchema, auditQuerySchema } from '../audit-routes.ts';
import { listSchema } from '../entry-search.ts';
import * as desk from './desk-answers.ts';
import {
  deskAssignSchema,
  deskChangeSchema,
  deskMessageSchema,
  deskPresenceSchema,
  deskQueueSchema,
  deskSeenSchema,
  deskTextsSchema,
  deskTicketSchema,
  deskUploadSchema,
} from '../desk-routes.ts';
import { outboxSchema, replyActionSchema, sendBySchema } from '../outbox-routes.ts';
import { conversationsQuerySchema, ticketsQuerySchema } from '../platform-routes.ts';
import { personSchema } from '../people-routes.ts';
import { loginSchema } from '../sign-in.ts';
import { newTokenSchema } from '../token-routes.ts';
import { historyQuerySchema } from '../stream.ts';
import { testMessageSchema } from '../upkeep-routes.ts';
import * as answers from './answers.ts';
import * as entries from './entry-answers.ts';
import * as status from './status-answers.ts';

/** Who may send a request: `operator` excludes tokens. */
export type Access = 'anyone' | 'read' | 'operate' | 'operator';

export interface AdminOperation {
  readonly id: string;
  readonly tag: string;
  readonly method: 'get' | 'post' | 'delete';
  readonly path: string;
  readonly summary: string;
  readonly description?: string;
  readonly access: Access;
  readonly query?: z.ZodObject;
  readonly body?: { readonly schema: z.ZodObject; readonly example: object };
  /** Whether the body is a file. */
  readonly isUpload?: boolean;
  readonly success: Success;
  /** Further statuses than those of every operation with this access. */
  readonly errors?: readonly ErrorStatus[];
}

interface Success {
  readonly status: 200 | 201 | 202 | 204;
  readonly description: string;
  readonly schema?: z.ZodType;
  /** Of a body that is not JSON. */
  readonly type?: string;
}

/** The errors that more than one operation has. */
export const ERRORS = {
  400: ['Invalid', 'invalid', 'The request is not valid; the message names the field.'],
  401: ['SignedOut', 'signed_out', 'Without credentials, or with wrong, expired or revoked ones.'],
  403: [
    'Forbidden',
    'forbidden',
    'The token or the role does not permit this, or a change lacks its header.',
  ],
  404: ['NotFound', 'not_found', 'There is no such thing, or not any more.'],
  409: ['Conflict', 'conflict', 'The state forbids it.'],
  429: ['TooManyTries', 'too_many_tries', 'Too many wrong passwords or tokens: see `Retry-After`.'],
  500: ['Internal', 'internal', 'A fault of the gateway; its log has the details.'],
  502: ['PlatformFailed', 'unavailable', "The shop's platform refused, or did not answer."],
  503: ['Unavailable', 'unavailable', 'Not possible now: see the message and `Retry-After`.'],
} as const;
export type ErrorStatus = keyof typeof ERRORS;

type Rest = Omit<AdminOperation, 'id' | 'method' | 'path' | 'summary' | 'access' | 'tag'> &
  Partial<Pick<AdminOperation, 'access'>>;

const json = (schema: z.ZodType, description = 'The answer.'): { readonly success: Success } => ({
  success: { status: 200, description, schema },
});
const file = (type: string, description: string): { readonly success: Success } => ({
  success: { status: 200, description, type },
});
const nothing: { readonly success: Success } = {
  success: { status: 204, description: 'Done; no body.' },
};

/** The operations of one tag: reading needs `read`, and changes need `operate`, unless said otherwise. */
function group(tag: string) {
  const of =
    (method: AdminOperation['method'], access: Access) =>
    (id: string, path: string, summary: string, rest: Rest): AdminOperation => ({
      ...{ id, tag, method, path, summary, access },
      ...rest,
    });
  return { get: of('get', 'read'), post: of('post', 'operate'), remove: of('delete', 'operate') };
}

const state = group('State');
const list = group('Entries');
const actions = group('Actions');
const platform = group('Platform');
const people = group('Desk');
const upkeep = group('Upkeep');
const access = group('Access');

const STATE: readonly AdminOperation[] = [
  state.get('getOverview', '/api/overview', 'Get the overview', json(status.overview)),
  state.get('getHistory', '/api/history', 'Get the last hour or day', {
    query: historyQuerySchema,
    ...json(status.history),
    errors: [400],
  }),
  state.get('listIncidents', '/api/incidents', 'List incidents', json(status.incidentList)),
  state.get('openStream', '/api/stream', 'Open the stream', {
    description:
      'Server-sent events: `overview` every 2 s, `entries` with the `ids` of new and changed entries, `action` with the progress of an action, `desk` every 2 s with what waits for people, `tickets` with changed ones, `presence` with who has a ticket open, and `signed_out` before the stream ends because the session or token has ended.',
    ...file('text/event-stream', 'The events, until the client disconnects.'),
    errors: [503],
  }),
  state.get('getHealth', '/healthz', 'Check health', {
    access: 'anyone',
    ...file('text/plain', 'The process answers.'),
  }),
  state.get('getReadiness', '/readyz', 'Check readiness', {
    access: 'anyone',
    ...file('text/plain', 'The gateway accepts messages; otherwise the status is 503.'),
    errors: [503],
  }),
  state.get('getMetrics', '/metrics', 'Get the metrics', {
    description: 'Also with `admin.metricsToken`. Errors are plain text.',
    ...file('text/plain', 'The metrics in the text format of Prometheus.'),
  }),
];

const ENTRIES: readonly AdminOperation[] = [
  list.get('listEntries', '/api/entries', 'List entries', {
    query: listSchema,
    ...json(entries.entryList),
    errors: [400],
  }),
  list.get('getEntry', '/api/entries/{id}', 'Get an entry', {
    ...json(entries.entryDetail),
    errors: [400, 404],
  }),
  list.get('getEntryContent', '/api/entries/{id}/content', 'Get the content', {
    description: 'Recorded in the audit log.',
    ...json(entries.entryContent),
    errors: [400, 404, 503],
  }),
  list.get('getEntryReading', '/api/entries/{id}/reading', 'Get how an email was read', {
    description: 'Recorded in the audit log.',
    ...json(entries.entryReading),
    errors: [400, 404, 503],
  }),
  list.get('getEntryRaw', '/api/entries/{id}/raw', 'Download the message as received', {
    description: 'Recorded in the audit log. An email is `message/rfc822`, others are text.',
    ...file('message/rfc822', 'The message.'),
    errors: [400, 404],
  }),
  list.get('getEntryHtml', '/api/entries/{id}/html', 'Get the HTML', {
    description: 'Recorded in the audit log. Sanitized, for a frame without scripts.',
    ...file('text/html', 'The HTML.'),
    errors: [400, 404, 503],
  }),
  list.get('getAttachment', '/api/entries/{id}/attachments/{part}', 'Download an attachment', {
    description: 'Recorded in the audit log.',
    ...file('application/octet-stream', 'The file.'),
    errors: [400, 404, 503],
  }),
];

const ACTIONS: readonly AdminOperation[] = [
  actions.post('startAction', '/api/actions', 'Retry, release, discard or restore', {
    description:
      'Applies to `ids`, or to all entries that match `filter`, in the background. Entries whose state forbids it are counted in `refused`.',
    body: {
      schema: actionSchema,
      example: { action: 'retry', filter: { state: 'dead', shop: 'acme' } },
    },
    success: { status: 202, description: 'The action has begun.', schema: answers.actionProgress },
    errors: [400, 503],
  }),
  actions.get('getAction', '/api/actions/{id}', 'Get the progress of an action', {
    ...json(answers.actionProgress),
    errors: [404],
  }),
  actions.post('undoAction', '/api/actions/{id}/undo', 'Undo an action', {
    description: 'A discard, and a retry or release of entries that were not tried since.',
    success: { status: 202, description: 'The undo has begun.', schema: answers.actionProgress },
    errors: [404, 409, 503],
  }),
  actions.post('tryShop', '/api/shops/{shop}/try', 'Try a shop', {
    description: 'Submits one waiting message at once; the answer comes after 15 s at the latest.',
    ...json(answers.shopTrial),
    errors: [404, 409],
  }),
  actions.post('sendTestMessage', '/api/test-message', 'Send a test message', {
    description: 'Through the channel, as a customer would.',
    body: { schema: testMessageSchema, example: { shop: 'acme', channel: 'sms' } },
    ...json(answers.testMessage),
    errors: [400, 503],
  }),
];

const PERSON = {
  access: 'operator',
  body: { schema: personSchema, example: { address: 'ann@example.com' } },
  errors: [400, 409, 503],
} as const;
const PEOPLE: readonly AdminOperation[] = [
  actions.post('findPerson', '/api/people/search', 'Find what is stored about a person', {
    ...PERSON,
    ...json(answers.personReport),
  }),
  actions.post('exportPerson', '/api/people/export', 'Export what is stored about a person', {
    ...PERSON,
    ...file('application/zip', 'The archive of `sluice export`.'),
  }),
  actions.post('erasePerson', '/api/people/erase', 'Erase what is stored about a person', {
    ...PERSON,
    description: 'Permanently. It can take minutes in a large store.',
    ...json(answers.personReport),
  }),
];

const page = (item: z.ZodType) =>
  z.object({
    results: z.array(item),
    next: z.string().nullish(),
    previous: z.string().nullish(),
  });
const PLATFORM_RESOURCES = [
  ['Ticket', ticketFields, ticketsQuerySchema],
  ['Contact', contactFields, listContactsQuerySchema],
  ['Message', messageFields, listMessagesQuerySchema],
  ['Conversation', conversationFields, conversationsQuerySchema],
] as const;

/** The platform may leave out fields, and has more than its documentation. */
const PLATFORM: readonly AdminOperation[] = PLATFORM_RESOURCES.flatMap(([noun, fields, query]) => {
  const item = answers.named(fields.loose(), noun, "As the shop's platform returns it.");
  const path = `/api/platform/{shop}/${noun.toLowerCase()}s`;
  return [
    platform.get(`list${noun}s`, path, `List ${noun.toLowerCase()}s`, {
      ...(noun === 'Conversation' && {
        description: 'Those of the newest messages, those with these ids, or those with a person.',
      }),
      query,
      ...json(page(item)),
      errors: [400, 404, 502],
    }),
    platform.get(`get${noun}`, `${path}/{id}`, `Get a ${noun.toLowerCase()}`, {
      ...json(item),
      errors: [400, 404, 502],
    }),
  ];
});

const TICKET = '/api/platform/desk/{shop}/tickets/{id}';
const VERSION = '12.340.WaitingUser';
const MESSAGE = '0d9ee0a6-1c0e-4d07-9b0c-7f7d6ad6e1a5';
const changed: Pick<AdminOperation, 'success' | 'errors'> = {
  ...json(desk.deskTicket, 'The ticket after the change.'),
  errors: [400, 404, 409],
};
const ofTicket = (id: string, name: string, summary: string, rest: Omit<Rest, 'success'>) =>
  people.post(id, `${TICKET}/${name}`, summary, { ...changed, ...rest });
const ofReply = (id: string, name: string, summary: string, rest: Omit<Rest, 'success'>) =>
  people.post(id, `/api/platform/desk/{shop}/replies/{id}/${name}`, summary, {
    ...{ ...nothing, errors: [400, 404, 409] },
    ...rest,
  });
const byVersion = { schema: deskChangeSchema, example: { version: VERSION } };
const reply = { version: VERSION, text: 'We have 41 in blue.', format: 'TEXT', files: [] };

const DESK: readonly AdminOperation[] = [
  people.get('getQueue', '/api/platform/desk/queue', 'List what waits for a person', {
    query: deskQueueSchema,
    ...json(desk.deskQueue, 'The longest waiting first.'),
    errors: [400],
  }),
  people.get('getDeskTicket', TICKET, 'Get a ticket with its conversation', {
    description: 'With internal notes, and the `version` that each change carries.',
    query: deskTicketSchema,
    ...json(desk.deskTicket),
    errors: [400, 404],
  }),
  ofTicket('replyToTicket', 'reply', 'Reply to the customer', {
    description: "By the channel of the customer's last message. Files are for email only.",
    body: { schema: deskMessageSchema, example: reply },
  }),
  ofTicket('noteOnTicket', 'note', 'Add an internal note', {
    body: { schema: deskMessageSchema, example: { ...reply, text: 'They called, too.' } },
  }),
  ofTicket('assignTicket', 'assign', 'Assign a ticket', {
    body: { schema: deskAssignSchema, example: { version: VERSION, to: 'ann' } },
  }),
  ofTicket('completeTicket', 'complete', 'Complete a ticket', { body: byVersion }),
  ofTicket('reopenTicket', 'reopen', 'Reopen a ticket', { body: byVersion }),
  ofTicket('handBackTicket', 'hand-back', 'Hand a ticket back to the agent', { body: byVersion }),
  people.post('noteDeskPresence', `${TICKET}/presence`, 'Say that a ticket is open', {
    description: 'Shown to others for 12 s, by the event `presence` of the stream.',
    body: { schema: deskPresenceSchema, example: { writing: true } },
    ...nothing,
    errors: [400, 404],
  }),
  people.post('noteDeskSeen', `${TICKET}/seen`, 'Say that a person has read a message', {
    description:
      'Shown to the visitor of a chat, as "Seen" below their message. In other channels it has no effect. Reading a ticket does not count.',
    body: { schema: deskSeenSchema, example: { message: MESSAGE } },
    ...nothing,
    errors: [400, 404],
  }),
  people.get('getOutbox', '/api/platform/desk/outbox', 'List the replies that have not arrived', {
    query: outboxSchema,
    ...json(desk.outbox),
    errors: [400],
  }),
  ofReply('sendReplyAgain', 'send-again', 'Send a reply again', {
    description:
      'One that failed, by the same channel. Of a reply in several texts, those before the one that failed are not sent again.',
    body: { schema: replyActionSchema, example: {} },
  }),
  ofReply('sendReplyBy', 'send-by', 'Send a reply by another channel', {
    description: 'One that failed, by one of its `otherChannels`.',
    body: { schema: sendBySchema, example: { channel: 'email' } },
  }),
  ofReply('dismissReply', 'dismiss', 'Take a reply from the outbox', {
    description: 'One that failed: somebody has reached the customer otherwise.',
    body: { schema: replyActionSchema, example: {} },
  }),
  people.post('uploadDeskFile', '/api/platform/desk/{shop}/files', 'Upload a file', {
    description: 'The body is the file. It is sent with a reply that names its id.',
    query: deskUploadSchema,
    isUpload: true,
    success: { status: 201, description: 'The file.', schema: desk.deskFile },
    errors: [400, 404],
  }),
  people.get('getDeskFile', '/api/platform/desk/{shop}/files/{id}', 'Download a file', {
    description: 'Recorded in the audit log.',
    ...file('application/octet-stream', 'The file.'),
    errors: [400, 404],
  }),
  people.get('getDeskPicture', '/api/platform/desk/{shop}/files/{id}/picture', 'Show a picture', {
    description: 'A PNG, JPEG, GIF or WebP by its bytes, of at most 10 MB.',
    ...file('image/*', 'The file.'),
    errors: [400, 404],
  }),
  people.get('findDeskTexts', '/api/platform/desk/texts', 'Find texts for replies', {
    query: deskTextsSchema,
    ...json(desk.cannedTexts, 'The best first.'),
    errors: [400],
  }),
];

const UPKEEP: readonly AdminOperation[] = [
  upkeep.get('getConfiguration', '/api/configuration', 'Get the configuration', {
    ...json(status.configurationView),
  }),
  upkeep.post('reload', '/api/configuration/reload', 'Reload the configuration', {
    ...json(status.reloadResult),
  }),
  upkeep.get('runDoctor', '/api/doctor', 'Run the checks of doctor', {
    ...json(answers.doctorReport),
    errors: [503],
  }),
  upkeep.get('listAudit', '/api/audit', 'List the audit log', {
    query: auditQuerySchema,
    ...json(answers.auditPage),
    errors: [400],
  }),
  upkeep.get('exportAudit', '/api/audit.csv', 'Export the audit log', {
    description: 'All lines of the filter. Recorded in the audit log itself.',
    query: auditFilterSchema,
    ...file('text/csv', 'The lines, the newest first (RFC 4180).'),
    errors: [400],
  }),
];

const ACCESS: readonly AdminOperation[] = [
  access.get('listTokens', '/api/tokens', 'List tokens', json(answers.apiTokenList)),
  access.post('createToken', '/api/tokens', 'Create a token', {
    access: 'operator',
    body: {
      schema: newTokenSchema,
      example: { name: 'grafana', scope: 'read', lifetimeMs: 7_776_000_000 },
    },
    success: { status: 201, description: 'The token.', schema: answers.madeApiToken },
    errors: [400, 409],
  }),
  access.remove('revokeToken', '/api/tokens/{id}', 'Revoke a token', {
    access: 'operator',
    ...nothing,
    errors: [404],
  }),
  access.post('signIn', '/api/login', 'Sign in', {
    access: 'anyone',
    description: 'For browsers: the answer sets the session cookie. Programs send a token instead.',
    body: { schema: loginSchema, example: { operator: 'ann', password: '…' } },
    ...json(answers.session),
    errors: [400, 401, 403, 429],
  }),
  access.get('getSession', '/api/session', 'Get the session', json(answers.session)),
  access.post('signOut', '/api/logout', 'Sign out', { access: 'operator', ...nothing }),
  access.get('getDocument', '/api/openapi.json', 'Get this document', {
    ...json(z.record(z.string(), z.unknown()), 'OpenAPI 3.1.'),
  }),
  access.get('getReference', '/api/docs', 'Read the reference', {
    ...file('text/html', 'This document as a page.'),
  }),
];

/** All operations on the admin port, in reading order. */
export const OPERATIONS: readonly AdminOperation[] = [
  ...[STATE, ENTRIES, ACTIONS, PEOPLE, PLATFORM, DESK, UPKEEP, ACCESS].flat(),
];

/** The statuses of the errors of an operation, ascending. */
export function errorsOf({ access: needed, method, errors = [] }: AdminOperation): ErrorStatus[] {
  const common: readonly ErrorStatus[] = needed === 'anyone' ? [] : [401, 403, 429, 500];
  const ofChange: readonly ErrorStatus[] = method === 'get' ? [] : [403];
  return [...new Set([...common, ...ofChange, ...errors])].toSorted((a, b) => a - b);
}
