import { randomUUID } from 'node:crypto';
import express, { type Router } from 'express';
import { z } from 'zod';
import { errorFields, type Logger } from '../../observability/logger.ts';
import type { Entry } from '../../spool/entry.ts';
import { isMoveAllowed } from '../../domain/entry-state.ts';
import type { EntryIndex } from '../../spool/entry-index.ts';
import type { OperatorStore } from '../../spool/operator-store.ts';
import type { Spool } from '../../spool/spool.ts';
import type { EntryId, ShopId } from '../../domain/ids.ts';
import type { ActionProgress, EntryAction } from '../contract.ts';
import type { Actor, Audit } from './audit.ts';
import { entryIdSchema, type Filter, readFilter } from './entry-search.ts';
import { checked, Refusal } from './refusal.ts';
import type { ShopNames } from './shop-routes.ts';
import { actorOf } from './sign-in.ts';

/** Entries of one action that are changed concurrently, so that their writes share commits. */
const AT_ONCE = 16;
/** Limit of concurrent actions, so that the store can still accept messages. */
const MAX_RUNNING = 4;
const PAGE = 200;
/** Limit of entries changed by one action with a filter; repeat the action for the rest. */
const MAX_ENTRIES = 1_000_000;
/** Limit of entries, over the latest actions, that can be undone. */
const MAX_UNDO = 100_000;
const MAX_ACTIONS = 50;
const REPORT_EVERY_MS = 200;

type Selection =
  | { readonly kind: 'ids'; readonly ids: readonly EntryId[] }
  | { readonly kind: 'filter'; readonly filter: Filter };

interface ActionParts {
  readonly spool: Pick<Spool, 'get' | 'requeue' | 'discard' | 'requestProbe'>;
  readonly operator: Pick<OperatorStore, 'restore' | 'takeBack'>;
  readonly index: Pick<EntryIndex, 'find' | 'count'>;
  /** Whether the shop is configured. */
  readonly isServed: (shopId: ShopId) => boolean;
  readonly audit: Audit;
  readonly logger: Logger;
  /** Called when an entry becomes claimable. */
  readonly wake: () => void;
  readonly onProgress: (progress: ActionProgress) => void;
  readonly onChanged: (id: EntryId) => void;
}

interface RunningAction {
  readonly id: string;
  /** The operator who started or undid it. */
  by: Actor;
  readonly action: EntryAction;
  total: number;
  done: number;
  changed: number;
  readonly refused: Map<string, number>;
  /** Shops already probed because one of their messages was retried. */
  readonly probed: Set<ShopId>;
  /** The changed entries, for undo. */
  undo: EntryId[];
  finished: boolean;
  undone: boolean;
  reportedAt: number;
}

/**
 * Runs operators' actions on one or many entries in the background. All state is in the spool: a
 * restart ends a running action, and its completed changes remain.
 */
export class Actions {
  readonly #parts: ActionParts;
  readonly #actions = new Map<string, RunningAction>();
  readonly #working = new Set<Promise<void>>();
  /** Actions still counting their entries, which takes time for a million. */
  #counting = 0;
  #stopping = false;

  constructor(parts: ActionParts) {
    this.#parts = parts;
  }

  /** @throws {Refusal} too many actions are running */
  async begin(by: Actor, action: EntryAction, selection: Selection): Promise<ActionProgress> {
    this.#assertCapacity();
    this.#counting += 1;
    let total: number;
    try {
      total = await this.#count(selection);
    } finally {
      this.#counting -= 1;
    }
    this.#assertNotStopping();
    const running: RunningAction = {
      ...{ id: randomUUID(), by, action, total, done: 0, changed: 0 },
      ...{ refused: new Map<string, number>(), undo: [], reportedAt: 0 },
      ...{ finished: false, undone: false, probed: new Set<ShopId>() },
    };
    this.#keep(running);
    const target = targetOf(selection, total);
    this.#work(running, target, async () => {
      if (total > 1) {
        await this.#parts.audit.write({ ...by, action, target, outcome: 'started' });
      }
      await this.#each(this.#entries(selection), running, (id) => this.#changeOne(running, id));
    });
    return progressOf(running);
  }

  /** @throws {Refusal} the action is unknown or no longer kept */
  progress(id: string): ActionProgress {
    return progressOf(this.#actionOf(id));
  }

  /**
   * Undoes an action, for entries where this is still possible. @throws {Refusal} it cannot be
   * undone
   */
  undo(by: Actor, id: string): ActionProgress {
    const running = this.#actionOf(id);
    if (!canUndo(running)) throw new Refusal('conflict', 'This action cannot be undone');
    this.#assertCapacity();
    const { undo } = running;
    // Set before the first await, so that a second click has no effect.
    Object.assign(running, { by, undone: true, undo: [], finished: false });
    Object.assign(running, { total: undo.length, done: 0, changed: 0 });
    running.refused.clear();
    const target = undo.length === 1 ? String(undo[0]) : `${undo.length} entries`;
    this.#work(running, target, () =>
      this.#each([undo], running, (entry) => this.#undoOne(running, entry)),
    );
    return progressOf(running);
  }

  /** Starts no further changes and waits for running writes. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all(this.#working);
  }

  #assertNotStopping(): void {
    if (this.#stopping) throw new Refusal('unavailable', 'The gateway is stopping');
  }

  #assertCapacity(): void {
    this.#assertNotStopping();
    if (this.#working.size + this.#counting < MAX_RUNNING) return;
    const message = 'Too many actions are running; try again in a few seconds';
    throw new Refusal('unavailable', message, { retryAfter: 5 });
  }

  #actionOf(id: string): RunningAction {
    const running = this.#actions.get(id);
    if (running === undefined) throw new Refusal('not_found', 'Action not found');
    return running;
  }

  #keep(running: RunningAction): void {
    this.#actions.set(running.id, running);
    for (const [id, { finished }] of this.#actions) {
      if (this.#actions.size <= MAX_ACTIONS) break;
      if (finished) this.#actions.delete(id);
    }
    let left = MAX_UNDO;
    for (const kept of [...this.#actions.values()].reverse()) {
      left -= kept.undo.length;
      if (left < 0 && kept.finished) kept.undo = [];
    }
  }

  async #count(selection: Selection): Promise<number> {
    if (selection.kind === 'ids') return new Set(selection.ids).size;
    return this.#parts.index.count(selection.filter, MAX_ENTRIES);
  }

  async *#entries(selection: Selection): AsyncGenerator<readonly EntryId[]> {
    if (selection.kind === 'ids') {
      yield [...new Set(selection.ids)];
      return;
    }
    // Changed entries may no longer match, but none is added before the last of a page.
    let before: EntryId | undefined;
    for (let found = 0; found < MAX_ENTRIES;) {
      const page = await this.#parts.index.find({
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

  #work(running: RunningAction, target: string, work: () => Promise<void>): void {
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
    running: RunningAction,
    change: (id: EntryId) => Promise<string | undefined>,
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
        this.#report(running);
        this.#parts.wake();
      }
      if (this.#stopping) return;
    }
  }

  /** Resolves with the reason why the entry was not changed. */
  async #changeOne(running: RunningAction, id: EntryId): Promise<string | undefined> {
    const { spool, operator } = this.#parts;
    const { action } = running;
    const { who } = running.by;
    const entry = await spool.get(id);
    if (entry === undefined) return 'the entry does not exist';
    if (!isMoveAllowed(action, entry.state)) return `it is ${entry.state}`;
    const changed =
      action === 'discard'
        ? await spool.discard(id, who)
        : action === 'restore'
          ? await operator.restore(id, who)
          : await spool.requeue(id, who);
    if (!changed) return 'its state has changed, or its original has been deleted';
    this.#remember(running, entry);
    const { isServed } = this.#parts;
    if (action === 'retry' && isServed(entry.shopId) && !running.probed.has(entry.shopId)) {
      running.probed.add(entry.shopId);
      await spool.requestProbe(entry.shopId);
    }
    return undefined;
  }

  #remember(running: RunningAction, { id, state }: Entry): void {
    // Retrying a queued entry changes only its due time, which is not undone.
    if (running.action === 'restore') return;
    if (running.action === 'retry' && state === 'queued') return;
    if (running.undo.length < MAX_UNDO) running.undo.push(id);
  }

  async #undoOne({ by: { who }, action }: RunningAction, id: EntryId): Promise<string | undefined> {
    const { operator } = this.#parts;
    const done =
      action === 'discard' ? await operator.restore(id, who) : await operator.takeBack(id, who);
    if (done) return undefined;
    return action === 'discard' ? 'it is no longer discarded' : 'an attempt has started';
  }

  #report(running: RunningAction): void {
    const now = Date.now();
    if (now - running.reportedAt < REPORT_EVERY_MS && !running.finished) return;
    running.reportedAt = now;
    this.#parts.onProgress(progressOf(running));
  }

  async #finish(running: RunningAction, target: string): Promise<void> {
    running.finished = true;
    this.#report(running);
    const { by, action, undone } = running;
    const outcome = `${undone ? 'undone, ' : ''}${this.#outcomeOf(running)}`;
    await this.#parts.audit.write({ ...by, action, target, outcome });
  }

  #outcomeOf({ total, done, changed, refused }: RunningAction): string {
    if (done < total && this.#stopping) {
      return `stopped after ${done} of ${total}, ${changed} changed`;
    }
    if (total === 1) return changed === 1 ? 'ok' : ([...refused.keys()][0] ?? 'not changed');
    return `${changed} of ${total} changed`;
  }
}

function refuseOne({ refused }: RunningAction, why: string): void {
  refused.set(why, (refused.get(why) ?? 0) + 1);
}

const canUndo = ({ finished, undone, undo }: RunningAction): boolean =>
  finished && !undone && undo.length > 0;

function progressOf(running: RunningAction): ActionProgress {
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

export const actionSchema = z.strictObject({
  action: z.enum(['retry', 'release', 'discard', 'restore']),
  ids: z
    .array(entryIdSchema)
    .min(1)
    .max(MAX_IDS)
    .optional()
    .describe('The entries; or give `filter`.'),
  filter: z
    .record(z.string(), z.union([z.string(), z.array(z.string()).max(50)]))
    .optional()
    .describe('The parameters of List entries, without `before`, `limit` and `count`.'),
});

/** `POST /actions`, `GET /actions/:id`, `POST /actions/:id/undo` */
export function actionRoutes(actions: Actions, shops: ShopNames): Router {
  const router = express.Router();
  router.post('/actions', express.json({ limit: '1mb' }), async (req, res) => {
    const { action, ids, filter } = checked(actionSchema, req.body);
    if ((ids === undefined) === (filter === undefined)) {
      throw new Refusal('invalid', 'Exactly one of ids and filter is required');
    }
    const selection: Selection =
      ids === undefined
        ? { kind: 'filter', filter: readFilter(filter, shops) }
        : { kind: 'ids', ids };
    res.status(202).json(await actions.begin(actorOf(res), action, selection));
  });
  router.get('/actions/:id', (req, res) => {
    res.json(actions.progress(req.params.id));
  });
  router.post('/actions/:id/undo', (req, res) => {
    res.status(202).json(actions.undo(actorOf(res), req.params.id));
  });
  return router;
}
