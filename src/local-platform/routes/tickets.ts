import type { Router } from 'express';
import { listTicketsQuerySchema, ticketFiltersSchema } from '../../platform-api/schemas.ts';
import { shopOf } from '../authenticate.ts';
import { checked } from '../checked.ts';
import { sendJson } from '../respond.ts';
import { toTicket } from '../store/rows.ts';
import type { RouteContext } from './context.ts';
import { toPage } from './page.ts';
import { found, pathId, resource } from './resource.ts';

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
  resource(router, '/tickets/:id/', {
    get: (request, response) => {
      const row = store.tickets.byId(shopOf(response), pathId(request.params['id']));
      sendJson(response, 200, toTicket(found(row)));
    },
  });
}
