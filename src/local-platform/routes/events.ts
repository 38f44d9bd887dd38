import type { Router } from 'express';
import { type CreateEventRequest, createEventRequestSchema } from '../../platform-api/schemas.ts';
import { ApiError } from '../api-error.ts';
import { shopOf } from '../authenticate.ts';
import { checked } from '../checked.ts';
import { sendJson } from '../respond.ts';
import type { ContactRow } from '../store/rows.ts';
import type { Store } from '../store/store.ts';
import type { RouteContext } from './context.ts';
import { jsonBody } from './json-body.ts';
import { resource } from './resource.ts';

/** API §4.1 */
export function eventRoutes(router: Router, { store, now }: RouteContext): void {
  resource(router, '/events/', {
    post: [
      ...jsonBody,
      async (request, response) => {
        const shop = shopOf(response);
        const event = checked(createEventRequestSchema, request.body);
        const at = new Date(now()).toISOString();
        const { contact, created } = await store.write(() => record(store, shop, event, at));
        sendJson(response, created ? 201 : 200, contact ? { contact: shown(contact) } : {});
      },
    ],
  });
}

function record(
  store: Store,
  shop: string,
  event: CreateEventRequest,
  now: string,
): { contact: ContactRow | undefined; created: boolean } {
  const identity = event.contact;
  if (identity && !identity.email && !identity.phone && !identity.remote_id) {
    throw new ApiError(400, 'the request is not valid', {
      contact: 'expected an email, a phone or a remote_id to find it by',
    });
  }
  const contact = identity ? store.contacts.resolve(shop, 'event', identity, now) : undefined;
  const created = store.events.create(shop, event, contact?.id ?? null, now);
  return { contact, created };
}

const shown = ({ id, email, phone, remote_id }: ContactRow) => ({
  id,
  ...(email !== null && { email }),
  ...(phone !== null && { phone }),
  ...(remote_id !== null && { remote_id }),
});
