import type { Router } from 'express';
import { listContactsQuerySchema } from '../../platform-api/schemas.ts';
import { shopOf } from '../authenticate.ts';
import { checked } from '../checked.ts';
import { sendJson } from '../respond.ts';
import { toContact, toConversation } from '../store/rows.ts';
import type { RouteContext } from './context.ts';
import { toPage } from './page.ts';
import { found, pathId, resource } from './resource.ts';

/** API §4.10, §4.11 */
export function contactRoutes(router: Router, { store, baseUrl }: RouteContext): void {
  resource(router, '/contacts/', {
    get: (request, response) => {
      const query = checked(listContactsQuerySchema, request.query);
      const slice = store.contacts.list(shopOf(response), query);
      sendJson(response, 200, toPage(baseUrl(), request, slice, toContact));
    },
  });
  resource(router, '/contacts/:id/', {
    get: (request, response) => {
      const row = store.contacts.byId(shopOf(response), pathId(request.params['id']));
      sendJson(response, 200, toContact(found(row)));
    },
  });
}

/** API §4.9 */
export function conversationRoutes(router: Router, { store }: RouteContext): void {
  resource(router, '/conversations/:id/', {
    get: (request, response) => {
      const row = store.conversations.byId(shopOf(response), pathId(request.params['id']));
      sendJson(response, 200, toConversation(found(row)));
    },
  });
}
