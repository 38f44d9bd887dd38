import express, { type Router } from 'express';
import {
  type Entry,
  type EntrySummary,
  type RawForm,
  type TimelineStep as StoredStep,
  waitOf,
} from '../../spool/entry.ts';
import { timelineParts } from '../../spool/timeline.ts';
import type { EntryIndex } from '../../spool/entry-index.ts';
import type { OperatorStore } from '../../spool/operator-store.ts';
import type { Retention, Spool } from '../../spool/spool.ts';
import { rawKeptMs } from '../../spool/sweep.ts';
import type { EntryDetail, EntryList, EntryRow, ShownReason, TimelineStep } from '../contract.ts';
import { movesOf } from '../../domain/entry-state.ts';
import { type Reason, reasonOf, sentence, shownReason } from '../../domain/reasons.ts';
import { checked, Refusal } from './refusal.ts';
import { entryIdSchema, readList } from './entry-search.ts';
import type { ShopNames } from './shop-routes.ts';

const COUNTED_UP_TO = 10_000;

interface EntryRouteParts {
  readonly spool: Pick<Spool, 'get' | 'raw' | 'timeline'>;
  readonly operator: Pick<OperatorStore, 'record'>;
  readonly index: Omit<EntryIndex, 'close'>;
  readonly shops: ShopNames;
  /** The beginning of a text or a chat message. */
  readonly snippetOf: (entry: Entry, raw: RawForm) => string | undefined;
  /** Whether lists show it: what people wrote is hidden unless the operator wants otherwise. */
  readonly showsSnippets: () => boolean;
  readonly retention: () => Retention;
  /** The ticket of the conversation, if the platform returns it at once. */
  readonly ticketOf: (entry: Entry) => Promise<string | undefined>;
}

/** `GET /entries`, `GET /entries/:id` */
export function entryRoutes(parts: EntryRouteParts): Router {
  const router = express.Router();
  router.get('/entries', async (req, res) => {
    const { search, count } = readList(req.query, parts.shops);
    const { index, shops } = parts;
    const { limit: _limit, before: _before, ...filter } = search;
    const [{ found, next }, backlog, total] = await Promise.all([
      index.find(search),
      index.backlog(),
      count ? index.count(filter, COUNTED_UP_TO) : undefined,
    ]);
    const snippets = await snippetsOf(
      found.map(({ entry }) => entry),
      parts,
    );
    res.json({
      entries: found.map(({ entry, summary }) => ({
        ...rowOf(entry, summary, shops),
        ...snippets.get(entry.id),
      })),
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

/** Those of a page of the list, which are short and stored beside each other. */
async function snippetsOf(
  entries: readonly Entry[],
  { spool, snippetOf, showsSnippets }: EntryRouteParts,
): Promise<ReadonlyMap<string, Pick<EntryRow, 'snippet'>>> {
  const found = new Map<string, Pick<EntryRow, 'snippet'>>();
  if (!showsSnippets()) return found;
  const short = entries.filter(({ channel, kind }) => channel !== 'email' && kind === 'message');
  await Promise.all(
    short.map(async (entry) => {
      // A row without its beginning is better than no list.
      const raw = await spool.raw(entry.id).catch(() => undefined);
      const snippet = raw && snippetOf(entry, raw);
      if (snippet !== undefined) found.set(entry.id, { snippet });
    }),
  );
  return found;
}

/** @throws {Refusal} the entry does not exist */
export async function entryOf(id: unknown, spool: Pick<Spool, 'get'>): Promise<Entry> {
  const entry = await spool.get(checked(entryIdSchema, id));
  if (entry === undefined) throw new Refusal('not_found', 'Entry not found');
  return entry;
}

async function detailOf(entry: Entry, parts: EntryRouteParts): Promise<EntryDetail> {
  const { spool, operator, index, shops } = parts;
  const [summaries, steps, raw, record, { older, newer }, ticketId] = await Promise.all([
    index.summaries([entry.id]),
    spool.timeline(entry.id),
    spool.raw(entry.id),
    operator.record(entry.id),
    index.neighbours(entry.id),
    parts.ticketOf(entry),
  ]);
  const { state, reason, platformMessageId, conversationId, settledAt } = entry;
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
    ...(rawKept &&
      settledAt !== undefined && { keptUntil: settledAt + rawKeptMs(state, parts.retention()) }),
    ...(authentication && { authentication }),
    ...(classification && { classification }),
    hasRecord: record !== undefined,
    ...(record?.about && { about: record.about }),
    ...(older !== undefined && { previous: older }),
    ...(newer !== undefined && { following: newer }),
  };
}

const NO_SUMMARY: EntrySummary = { from: '', to: '', subject: '' };

/** An entry as a row of the list. */
function rowOf(entry: Entry, summary: EntrySummary, shops: ShopNames): EntryRow {
  const { id, kind, channel, state, receivedAt, attempts, failures, settledAt } = entry;
  const reason = shownReason(entry, shops.isServed(entry.shopId));
  return {
    id,
    kind,
    shop: shops.nameOf(entry.shopId),
    channel,
    state,
    receivedAt,
    ...(settledAt !== undefined && { settledAt }),
    ...(state === 'queued' && whenNext(entry)),
    attempts,
    failures,
    ...(reason !== undefined && reasonFields(reason)),
    from: summary.from,
    to: summary.to,
    subject: summary.subject,
    bytes: entry.rawSize,
  };
}

const reasonFields = (reason: Reason): ShownReason & { readonly reason: string } => ({
  ...{ reason: sentence(reason), reasonCode: reason.code },
  ...(reason.params !== undefined && { reasonParams: reason.params }),
});

/** The time of the next attempt, or what the entry waits for. */
function whenNext(entry: Entry): Pick<EntryRow, 'nextAttemptAt' | 'waitsFor'> {
  const wait = waitOf(entry);
  return wait === 'time' ? { nextAttemptAt: entry.nextAttemptAt } : { waitsFor: wait };
}

const timelineOf = (steps: readonly StoredStep[]): readonly TimelineStep[] =>
  timelineParts(steps).flatMap((part) =>
    part.kind === 'step'
      ? [{ ...part.step, tookMs: 0 }]
      : part.steps.map((step) => ({ ...step, attempt: part.no })),
  );

/** The results of the last sender authentication, one word for each method. */
function authenticationOf(steps: readonly StoredStep[]): EntryDetail['authentication'] | undefined {
  const found = steps.findLast(({ step }) => step === 'authenticated')?.detail;
  if (found === undefined) return undefined;
  return Object.fromEntries(Object.entries(found).map(([name, value]) => [name, String(value)]));
}

/** The classification of the message and its reason; undefined before the first attempt. */
function classificationOf(
  steps: readonly StoredStep[],
  state: string,
  reason: Reason | undefined,
): EntryDetail['classification'] | undefined {
  const last = steps.findLast(({ step }) => step === 'held' || step === 'suppressed');
  const released = steps.some(({ step }) => step === 'requeued' || step === 'released');
  if (last !== undefined && !(state === 'delivered' && released)) {
    return { verdict: last.step, ...whyOf(last, state === last.step ? reason : undefined) };
  }
  if (state === 'held')
    return { verdict: 'held', ...(reason ? reasonFields(reason) : { reason: '' }) };
  if (!steps.some(({ step }) => step === 'normalized')) return undefined;
  const why = last === undefined ? 'no rule applies' : 'released by an operator';
  return { verdict: 'deliver', reason: why };
}

/** The reason of the entry, or else the one in the step. */
function whyOf(
  { detail: { reason: code, ...params } = {} }: StoredStep,
  own: Reason | undefined,
): ShownReason & { readonly reason: string } {
  const reason = own ?? reasonOf(code, params);
  return reason === undefined ? { reason: String(code ?? '') } : reasonFields(reason);
}
