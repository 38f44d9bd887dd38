import express, { type Router } from 'express';
import type { Entry } from '../../spool/entry.ts';
import type { OperatorStore } from '../../spool/operator-store.ts';
import type { Spool } from '../../spool/spool.ts';
import { checked } from './checked.ts';
import type { EntryDetail, EntryList } from '../contract.ts';
import { movesOf } from '../../domain/entry-state.ts';
import { NO_SUMMARY, rowOf } from './entry-rows.ts';
import { entryIdSchema, readList } from './entry-search.ts';
import { authenticationOf, classificationOf, timelineOf } from './entry-timeline.ts';
import { Refusal } from './refusal.ts';
import type { ShopNames } from './shop-names.ts';

const COUNTED_UP_TO = 10_000;

export interface EntryRouteParts {
  readonly spool: Pick<Spool, 'get' | 'raw' | 'timeline'>;
  readonly operator: OperatorStore;
  readonly shops: ShopNames;
  /** The ticket of a conversation, as far as the platform tells at once. */
  readonly ticketOf: (entry: Entry) => Promise<string | undefined>;
}

/** `GET /entries`, `GET /entries/:id` */
export function entryRoutes(parts: EntryRouteParts): Router {
  const router = express.Router();
  router.get('/entries', async (req, res) => {
    const { search, count } = readList(req.query, parts.shops);
    const { operator, shops } = parts;
    const { limit: _limit, before: _before, ...filter } = search;
    const [{ found, next }, backlog, total] = await Promise.all([
      operator.search(search),
      operator.searchBacklog(),
      count ? operator.countFound(filter, COUNTED_UP_TO) : undefined,
    ]);
    res.json({
      entries: found.map(({ entry, summary }) => rowOf(entry, summary, shops)),
      ...(next !== undefined && { next }),
      ...(total !== undefined && { total: { count: total, exact: total < COUNTED_UP_TO } }),
      searchIsComplete: backlog === 0,
    } satisfies EntryList);
  });
  router.get('/entries/:id', async (req, res) => {
    res.json(await detailOf(await entryOf(req.params.id, parts.spool), parts));
  });
  return router;
}

/** @throws {Refusal} there is no such entry */
export async function entryOf(id: unknown, spool: Pick<Spool, 'get'>): Promise<Entry> {
  const entry = await spool.get(checked(entryIdSchema, id));
  if (entry === undefined) throw new Refusal('not_found', 'There is no such entry');
  return entry;
}

async function detailOf(entry: Entry, parts: EntryRouteParts): Promise<EntryDetail> {
  const { spool, operator, shops } = parts;
  const [summaries, steps, raw, record, { older, newer }, ticketId] = await Promise.all([
    operator.summaries([entry.id]),
    spool.timeline(entry.id),
    spool.raw(entry.id),
    operator.record(entry.id),
    operator.neighbours(entry.id),
    parts.ticketOf(entry),
  ]);
  const { state, reason, platformMessageId, conversationId } = entry;
  const authentication = authenticationOf(steps);
  const classification = classificationOf(steps, state, reason);
  const rawKept = raw !== undefined;
  return {
    ...rowOf(entry, summaries.get(entry.id) ?? NO_SUMMARY, shops),
    shopId: entry.shopId,
    lane: entry.lane,
    remoteId: entry.remoteId,
    detached: entry.detached,
    ...(platformMessageId !== undefined && { platformMessageId }),
    ...(conversationId !== undefined && { conversationId }),
    ...(ticketId !== undefined && { ticketId }),
    timeline: timelineOf(steps),
    actions: movesOf(state, rawKept),
    rawKept,
    ...(authentication && { authentication }),
    ...(classification && { classification }),
    hasRecord: record !== undefined,
    ...(older !== undefined && { previous: older }),
    ...(newer !== undefined && { following: newer }),
  };
}
