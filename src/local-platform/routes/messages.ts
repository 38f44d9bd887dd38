import type { Router } from 'express';
import { createMessageRequestSchema, listMessagesQuerySchema } from '../../platform-api/schemas.ts';
import { shopOf } from '../authenticate.ts';
import { checked } from '../checked.ts';
import { createMessage } from '../create-message.ts';
import { sendJson } from '../respond.ts';
import { toMessage } from '../store/rows.ts';
import type { RouteContext } from './context.ts';
import { jsonBody } from './json-body.ts';
import { toPage } from './page.ts';
import { found, pathId, resource } from './resource.ts';

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
        const { message, created } = await store.write(() =>
          createMessage(store, shop, body, at, context.agentListens(shop)),
        );
        if (created) context.onMessage(message.conversation_id);
        sendJson(response, created ? 201 : 200, toMessage(message));
      },
    ],
  });
  resource(router, '/messages/:id/', {
    get: (request, response) => {
      const row = store.messages.byId(shopOf(response), pathId(request.params['id']));
      sendJson(response, 200, toMessage(found(row)));
    },
  });
}
