import express, { type Router } from 'express';
import { z } from 'zod';
import type { Actions, Selection } from './actions.ts';
import { checked, Refusal } from './refusal.ts';
import { entryIdSchema, readFilter } from './entry-search.ts';
import type { ShopNames } from './shop-names.ts';
import { visitorOf } from './sign-in.ts';

const MAX_IDS = 10_000;

const requestSchema = z.strictObject({
  action: z.enum(['retry', 'release', 'discard', 'restore']),
  ids: z.array(entryIdSchema).min(1).max(MAX_IDS).optional(),
  filter: z.record(z.string(), z.union([z.string(), z.array(z.string()).max(50)])).optional(),
});

/** `POST /actions`, `GET /actions/:id`, `POST /actions/:id/undo` */
export function actionRoutes(actions: Actions, shops: ShopNames): Router {
  const router = express.Router();
  router.post('/actions', express.json({ limit: '1mb' }), async (req, res) => {
    const { action, ids, filter } = checked(requestSchema, req.body);
    if ((ids === undefined) === (filter === undefined)) {
      throw new Refusal('invalid', 'Either ids or a filter');
    }
    const selection: Selection =
      ids === undefined
        ? { kind: 'filter', filter: readFilter(filter, shops) }
        : { kind: 'ids', ids };
    res.status(202).json(await actions.begin(visitorOf(res).operator, action, selection));
  });
  router.get('/actions/:id', (req, res) => {
    res.json(actions.progress(req.params.id));
  });
  router.post('/actions/:id/undo', (req, res) => {
    res.status(202).json(actions.undo(visitorOf(res).operator, req.params.id));
  });
  return router;
}
