import express, { type Router } from 'express';
import { z } from 'zod';
import type { ReplyAction } from '../../domain/outbox.ts';
import type { OutboxList } from '../contract.ts';
import type { Audit } from './audit.ts';
import type { DeskAccess, OutboxPort } from './desk-access.ts';
import { idOf, orRefusal, placeOf } from './desk-place.ts';
import { integer, wholeNumber } from './entry-search.ts';
import { checked } from './refusal.ts';
import { actorOf, callerOf } from './sign-in.ts';

const LISTED_MAX = 200;

export const outboxSchema = z.strictObject({
  limit: wholeNumber
    .pipe(z.number().min(1).max(LISTED_MAX))
    .optional()
    .meta({ ...integer, minimum: 1, maximum: LISTED_MAX, default: LISTED_MAX }),
});
export const replyActionSchema = z.strictObject({});
export const sendBySchema = z.strictObject({ channel: z.enum(['email', 'sms']) });

interface OutboxRouteParts {
  readonly desk: DeskAccess;
  readonly audit: Audit;
}

/** `/platform/desk/outbox` and `/platform/desk/:shop/replies/...`: replies that have not arrived. */
export function outboxRoutes({ desk, audit }: OutboxRouteParts): Router {
  const router = express.Router();
  const json = express.json({ limit: '1kb' });

  router.get('/platform/desk/outbox', (req, res) => {
    const { limit = LISTED_MAX } = checked(outboxSchema, req.query);
    const outbox = desk.outbox();
    const shops = desk.shops().filter(({ isLocal }) => isLocal);
    const listed = (list: 'failed' | 'deferred') =>
      shops.flatMap(({ name: shop, shopId }) =>
        (outbox?.[list](shopId, limit) ?? []).map((reply) => ({ ...reply, shop })),
      );
    const failed = listed('failed').sort((a, b) => (b.fate.at ?? 0) - (a.fate.at ?? 0));
    const deferred = listed('deferred').sort((a, b) => (a.nextAt ?? 0) - (b.nextAt ?? 0));
    res.json({
      failed: failed.slice(0, limit),
      deferred: deferred.slice(0, limit),
    } satisfies OutboxList);
  });

  const action = <Body extends object>(
    name: string,
    schema: z.ZodType<Body>,
    act: (outbox: OutboxPort, action: ReplyAction, body: Body) => Promise<void>,
    outcomeOf: (body: Body) => string = () => 'ok',
  ) =>
    router.post(`/platform/desk/:shop/replies/:id/${name}`, json, async (req, res) => {
      const body = checked(schema, req.body ?? {});
      const { outbox, shop, shopId } = placeOf(req, desk);
      const id = idOf(req);
      await orRefusal(() => act(outbox, { shopId, id, who: callerOf(res).operator }, body));
      await audit.write({
        ...{ ...actorOf(res), action: `reply_${name.replace('-', '_')}` },
        ...{ target: `${shop} message ${id}`, outcome: outcomeOf(body) },
      });
      res.status(204).end();
    });

  action('send-again', replyActionSchema, (outbox, reply) => outbox.sendAgain(reply));
  action(
    'send-by',
    sendBySchema,
    (outbox, reply, { channel }) => outbox.sendBy(channel, reply),
    ({ channel }) => `by ${channel}`,
  );
  action('dismiss', replyActionSchema, (outbox, reply) => outbox.dismiss(reply));
  return router;
}
