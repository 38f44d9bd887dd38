import type { Router } from 'express';
import {
  type CreateEventRequest,
  createEventRequestSchema,
  createMessageRequestSchema,
  ECHO_HEADER,
  FAILS_POLICY,
  listContactsQuerySchema,
  listMessagesQuerySchema,
  listTicketsQuerySchema,
  ticketFiltersSchema,
  UNKNOWN_NETWORK,
  UNSIGNED_SUBJECT,
  UNVERIFIED_HEADER,
} from '../../platform-api/schemas.ts';
import { readMailFailure } from '../../domain/mail-failure.ts';
import { shopOf } from '../authenticate.ts';
import { checked, jsonBody } from './input.ts';
import { sendJson } from '../respond.ts';
import {
  type ContactRow,
  type MessageRow,
  toContact,
  toConversation,
  toMessage,
  toTicket,
} from '../store/rows.ts';
import { found, pathId, resource, type RouteContext, toPage } from './resource.ts';
import { createEcho } from '../create-echo.ts';
import { createMessage } from '../create-message.ts';

/** API §4.1 */
export function eventRoutes(router: Router, context: RouteContext): void {
  const { store, now, onBounced, onEvent } = context;
  resource(router, '/events/', {
    post: [
      ...jsonBody,
      async (request, response) => {
        const shop = shopOf(response);
        const event = checked(createEventRequestSchema, request.body);
        const at = new Date(now()).toISOString();
        const { contact, created, bounced } = await store.write(() =>
          record(context, shop, event, at),
        );
        if (bounced !== undefined) onBounced(bounced);
        if (created && contact !== undefined) onEvent(contact);
        sendJson(response, created ? 201 : 200, contact ? { contact: shown(contact) } : {});
      },
    ],
  });
}

interface Recorded {
  readonly contact: ContactRow | undefined;
  readonly created: boolean;
  /** The reply that the event says was not delivered. */
  readonly bounced: MessageRow | undefined;
}

function record(
  { store, fates }: RouteContext,
  shop: string,
  event: CreateEventRequest,
  now: string,
): Recorded {
  const identity = event.contact;
  const contact = identity ? store.contacts.resolve(shop, 'event', identity, now) : undefined;
  const created = store.events.create(shop, event, contact?.id ?? null, now);
  const failure = readMailFailure(event);
  const bounced = failure && fates.bounced(shop, failure);
  return { contact, created, bounced: bounced && store.messages.byId(shop, bounced.id) };
}

const shown = ({ id, email, phone, remote_id }: ContactRow) => ({
  id,
  ...(email !== null && { email }),
  ...(phone !== null && { phone }),
  ...(remote_id !== null && { remote_id }),
});

/** API §4.2, §4.3, §4.4 */
export function ticketRoutes(router: Router, { store, now, baseUrl }: RouteContext): void {
  resource(router, '/tickets/', {
    get: (request, response) => {
      const query = checked(listTicketsQuerySchema, request.query);
      const slice = store.tickets.list(shopOf(response), query, now());
      sendJson(response, 200, toPage(baseUrl(), request, slice, toTicket));
    },
  });
  resource(router, '/tickets/count/', {
    get: (request, response) => {
      const filters = checked(ticketFiltersSchema, request.query);
      sendJson(response, 200, { count: store.tickets.count(shopOf(response), filters, now()) });
    },
  });
  getRoute(router, '/tickets/:id/', store.tickets, toTicket);
}

/** API §4.5, §4.6, §4.7 */
export function messageRoutes(router: Router, context: RouteContext): void {
  const { store, now, baseUrl } = context;
  resource(router, '/messages/', {
    get: (request, response) => {
      const query = checked(listMessagesQuerySchema, request.query);
      const slice = store.messages.list(shopOf(response), query);
      sendJson(response, 200, toPage(baseUrl(), request, slice, toMessage));
    },
    post: [
      ...jsonBody,
      async (request, response) => {
        const shop = shopOf(response);
        const body = checked(createMessageRequestSchema, request.body);
        const at = new Date(now()).toISOString();
        const isEcho = request.get(ECHO_HEADER) !== undefined;
        const header = request.get(UNVERIFIED_HEADER);
        const { id: conversationId } = body.conversation;
        // Not known to the gateway, or not known now: then the message alone says whose it is.
        const samePerson = conversationId
          ? await context.samePerson(shop, conversationId).catch(() => undefined)
          : undefined;
        const told = {
          ...{ samePerson, now: at, agentListens: context.agentListens(shop) },
          unverifiedFrom: unverifiedIn(header?.replace(UNSIGNED_SUBJECT, '')),
          isSubjectUnsigned: header?.endsWith(UNSIGNED_SUBJECT),
        };
        const { message, created } = await store.write(() =>
          isEcho ? createEcho(store, shop, body, at) : createMessage(store, shop, body, told),
        );
        if (created) context.onMessage(message.conversation_id);
        sendJson(response, created ? 201 : 200, toMessage(message));
      },
    ],
  });
  getRoute(router, '/messages/:id/', store.messages, toMessage);
}

/** Bounded, because it is stored. Undefined if the client vouches for the sender. */
function unverifiedIn(header: string | undefined): string | undefined {
  if (header === undefined || header === FAILS_POLICY) return header;
  return /^[0-9a-f.:/]{1,50}$/.test(header) ? header : UNKNOWN_NETWORK;
}

/** API §4.10, §4.11 */
export function contactRoutes(router: Router, { store, baseUrl }: RouteContext): void {
  resource(router, '/contacts/', {
    get: (request, response) => {
      const query = checked(listContactsQuerySchema, request.query);
      const slice = store.contacts.list(shopOf(response), query);
      sendJson(response, 200, toPage(baseUrl(), request, slice, toContact));
    },
  });
  getRoute(router, '/contacts/:id/', store.contacts, toContact);
}

/** API §4.9 */
export function conversationRoutes(router: Router, { store }: RouteContext): void {
  getRoute(router, '/conversations/:id/', store.conversations, toConversation);
}

/** Adds the route that returns one resource by its id. */
function getRoute<Row>(
  router: Router,
  path: string,
  table: { byId(shop: string, id: string): Row | undefined },
  toResource: (row: Row) => unknown,
): void {
  resource(router, path, {
    get: (request, response) => {
      const row = table.byId(shopOf(response), pathId(request.params['id']));
      sendJson(response, 200, toResource(found(row)));
    },
  });
}
