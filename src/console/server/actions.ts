import { randomUUID } from 'node:crypto';
import express, { type Router } from 'express';
import { z } from 'zod';
import { errorFields, type Logger } from '../../observability/logger.ts';
import type { Entry } from '../../spool/entry.ts';
import { type EntryState, isMoveAllowed } from '../../domain/entry-state.ts';
import type { OperatorStore } from '../../spool/operator-store.ts';
import type { Spool } from '../../spool/spool.ts';
import type { EntryId, ShopId } from '../../domain/ids.ts';
import type { ActionProgress, EntryAction } from '../contract.ts';
import type { Audit } from './audit.ts';
import { entryIdSchema, type Filter, readFilter } from './entry-search.ts';
import { checked, Refusal } from './refusal.ts';
import type { ShopNames } from './shop-routes.ts';
import { visitorOf } from './sign-in.ts';

/** Entries of one action that are worked on at a time. Their writes share commits. */
const AT_ONCE = 16;
/** Actions that run at the same time, so that the store can still accept messages. */
const MAX_RUNNING = 4;
const PAGE = 200;
/** The most entries that one action by filter changes; run it again for the rest. */
const MAX_ENTRIES = 1_000_000;
/** What can be taken back is remembered for each entry, of the latest actions. */
const MAX_UNDO = 100_000;
const MAX_KEPT = 50;
const TELL_EVERY_MS = 200;

type Selection =
  | { readonly kind: 'ids'; readonly ids: readonly EntryId[] }
  | { readonly kind: 'filter'; readonly filter: Filter };

interface ActionParts {
  readonly spool: Pick<Spool, 'get' | 'requeue' | 'discard' | 'requestProbe'>;
  readonly operator: Pick<OperatorStore, 'search' | 'countFound' | 'restore' | 'takeBack'>;
  readonly audit: Audit;
  readonly logger: Logger;
  /** Called when an entry becomes claimable. */
  readonly wake: () => void;
  readonly onProgress: (progress: ActionProgress) => void;
  readonly onChanged: (id: EntryId) => void;
}

/** The state of an entry before the action, which undo restores. */
interface Changed {
  readonly id: EntryId;
  readonly state: EntryState;
  readonly reason: string | undefined;
}

interface Running {
  readonly id: string;
  /** Who began it, or took it back. */
  who: string;
  readonly action: EntryAction;
  total: number;
  done: number;
  changed: number;
  readonly refused: Map<string, number>;
  /** Shops that are tried at once, because one of their messages is retried. */
  readonly probed: Set<ShopId>;
  /** The state is another than before: to be taken back, the last first. */
  undo: Changed[];
  finished: boolean;
  undone: boolean;
  toldAt: number;
}

/**
 * What operators do with entries, one or many, in the background. The state is in the spool: a
 * restart in the middle ends an action where it is, and what was done stays done.
 */
export class Actions {
  readonly #parts: ActionParts;
  readonly #kept = new Map<string, Running>();
  readonly #working = new Set<Promise<void>>();
  /** Actions that are not at work yet: counting a million takes time as well. */
  #counting = 0;
  #stopping = false;

  constructor(parts: ActionParts) {
    this.#parts = parts;
  }

  /** @throws {Refusal} too many are under way */
  async begin(who: string, action: EntryAction, selection: Selection): Promise<ActionProgress> {
    this.#assertRoom();
    this.#counting += 1;
    let total: number;
    try {
      total = await this.#count(selection);
    } finally {
      this.#counting -= 1;
    }
    this.#assertGoing();
    const running: Running = {
      ...{ id: randomUUID(), who, action, total, done: 0, changed: 0 },
      ...{ refused: new Map<string, number>(), undo: [], toldAt: 0 },
      ...{ finished: false, undone: false, probed: new Set<ShopId>() },
    };
    this.#keep(running);
    const target = targetOf(selection, total);
    this.#work(running, target, async () => {
      if (total > 1) {
        await this.#parts.audit.write({ who, action, target, outcome: 'started' });
      }
      await this.#each(this.#entries(selection), running, (id) => this.#changeOne(running, id));
    });
    return progressOf(running);
  }

  /** @throws {Refusal} there is no such action, or no longer */
  progress(id: string): ActionProgress {
    return progressOf(this.#find(id));
  }

  /** Takes back what an action did, where it still can. @throws {Refusal} it cannot be */
  undo(who: string, id: string): ActionProgress {
    const running = this.#find(id);
    if (!canUndo(running)) throw new Refusal('conflict', 'This cannot be taken back');
    this.#assertRoom();
    const { action, undo } = running;
    // Set before anything is awaited, so that a second click has no effect.
    Object.assign(running, { who, undone: true, undo: [], finished: false });
    Object.assign(running, { total: undo.length, done: 0, changed: 0 });
    running.refused.clear();
    const target = undo.length === 1 ? String(undo[0]?.id) : `${undo.length} entries`;
    const before = new Map(undo.map((changed) => [changed.id, changed]));
    this.#work(running, target, () =>
      this.#each([[...before.keys()]], running, (entry) => {
        const changed = before.get(entry);
        return changed === undefined ? undefined : this.#takeBack(action, changed);
      }),
    );
    return progressOf(running);
  }

  /** Starts no further entry, and waits for the writes under way. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all(this.#working);
  }

  #assertGoing(): void {
    if (this.#stopping) throw new Refusal('unavailable', 'The gateway is stopping');
  }

  #assertRoom(): void {
    this.#assertGoing();
    if (this.#working.size + this.#counting < MAX_RUNNING) return;
    const message = 'Other actions are under way; wait for one of them';
    throw new Refusal('unavailable', message, { retryAfter: 5 });
  }

  #find(id: string): Running {
    const running = this.#kept.get(id);
    if (running === undefined) throw new Refusal('not_found', 'There is no such action');
    return running;
  }

  #keep(running: Running): void {
    this.#kept.set(running.id, running);
    for (const [id, { finished }] of this.#kept) {
      if (this.#kept.size <= MAX_KEPT) break;
      if (finished) this.#kept.delete(id);
    }
    let left = MAX_UNDO;
    for (const kept of [...this.#kept.values()].reverse()) {
      left -= kept.undo.length;
      if (left < 0 && kept.finished) kept.undo = [];
    }
  }

  async #count(selection: Selection): Promise<number> {
    if (selection.kind === 'ids') return new Set(selection.ids).size;
    return this.#parts.operator.countFound(selection.filter, MAX_ENTRIES);
  }

  async *#entries(selection: Selection): AsyncGenerator<readonly EntryId[]> {
    if (selection.kind === 'ids') {
      yield [...new Set(selection.ids)];
      return;
    }
    // An entry that changes may no longer be found, and none comes before the last of a page.
    let before: EntryId | undefined;
    for (let found = 0; found < MAX_ENTRIES;) {
      const page = await this.#parts.operator.search({
        ...selection.filter,
        limit: PAGE,
        ...(before !== undefined && { before }),
      });
      if (page.found.length > 0) yield page.found.map(({ entry }) => entry.id);
      found += page.found.length;
      if (page.next === undefined) return;
      before = page.next;
    }
  }

  #work(running: Running, target: string, work: () => Promise<void>): void {
    const { logger } = this.#parts;
    const working = work()
      .catch((error: unknown) => {
        logger.error('console.action_failed', { action: running.action, ...errorFields(error) });
        refuseOne(running, 'the store failed');
      })
      .then(() => this.#finish(running, target))
      .finally(() => this.#working.delete(working));
    this.#working.add(working);
  }

  async #each(
    pages: AsyncIterable<readonly EntryId[]> | Iterable<readonly EntryId[]>,
    running: Running,
    change: (id: EntryId) => Promise<string | undefined> | undefined,
  ): Promise<void> {
    for await (const page of pages) {
      for (let from = 0; from < page.length && !this.#stopping; from += AT_ONCE) {
        const some = page.slice(from, from + AT_ONCE);
        await Promise.all(
          some.map(async (id) => {
            const why = await change(id);
            running.done += 1;
            if (why === undefined) {
              running.changed += 1;
              this.#parts.onChanged(id);
            } else refuseOne(running, why);
          }),
        );
        running.total = Math.max(running.total, running.done);
        this.#tell(running);
        this.#parts.wake();
      }
      if (this.#stopping) return;
    }
  }

  /** Resolves with why it could not be done. */
  async #changeOne(running: Running, id: EntryId): Promise<string | undefined> {
    const { spool, operator } = this.#parts;
    const { action } = running;
    const entry = await spool.get(id);
    if (entry === undefined) return 'there is no such entry';
    if (!isMoveAllowed(action, entry.state)) return `it is ${entry.state}`;
    const changed =
      action === 'discard'
        ? await spool.discard(id)
        : action === 'restore'
          ? await operator.restore(id)
          : await spool.requeue(id);
    if (!changed) return 'it has changed meanwhile, or its raw form is gone';
    this.#remember(running, entry);
    if (action === 'retry' && !running.probed.has(entry.shopId)) {
      running.probed.add(entry.shopId);
      await spool.requestProbe(entry.shopId);
    }
    return undefined;
  }

  #remember(running: Running, { id, state, reason }: Entry): void {
    // Retrying a queued entry only changes when it runs, so there is nothing to undo.
    if (running.action === 'restore') return;
    if (running.action === 'retry' && state === 'queued') return;
    if (running.undo.length < MAX_UNDO) running.undo.push({ id, state, reason });
  }

  async #takeBack(
    action: EntryAction,
    { id, state, reason }: Changed,
  ): Promise<string | undefined> {
    const { operator } = this.#parts;
    const done =
      action === 'discard'
        ? await operator.restore(id)
        : await operator.takeBack(id, state, reason);
    if (done) return undefined;
    return action === 'discard' ? 'it is no longer discarded' : 'an attempt has begun';
  }

  #tell(running: Running): void {
    const now = Date.now();
    if (now - running.toldAt < TELL_EVERY_MS && !running.finished) return;
    running.toldAt = now;
    this.#parts.onProgress(progressOf(running));
  }

  async #finish(running: Running, target: string): Promise<void> {
    running.finished = true;
    this.#tell(running);
    const { who, action, undone } = running;
    const outcome = `${undone ? 'taken back, ' : ''}${this.#outcomeOf(running)}`;
    await this.#parts.audit.write({ who, action, target, outcome });
  }

  #outcomeOf({ total, done, changed, refused }: Running): string {
    if (done < total && this.#stopping) {
      return `ended after ${done} of ${total} by a stop, ${changed} changed`;
    }
    if (total === 1) return changed === 1 ? 'ok' : ([...refused.keys()][0] ?? 'not changed');
    return `${changed} of ${total} changed`;
  }
}

function refuseOne({ refused }: Running, why: string): void {
  refused.set(why, (refused.get(why) ?? 0) + 1);
}

const canUndo = ({ finished, undone, undo }: Running): boolean =>
  finished && !undone && undo.length > 0;

function progressOf(running: Running): ActionProgress {
  const { id, action, total, done, changed, refused, finished, undone } = running;
  return {
    ...{ id, action, total, done, changed, finished, undone },
    refused: [...refused].map(([why, count]) => ({ why, count })),
    canUndo: canUndo(running),
  };
}

function targetOf(selection: Selection, total: number): string {
  const [only] = selection.kind === 'ids' && total === 1 ? selection.ids : [];
  return only ?? `${total} entries`;
}

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
