import type { Command } from 'commander';
import { counted } from '../runtime/amounts.ts';
import { isServed } from '../spool/locks.ts';
import { type EntryId, type ShopId } from '../domain/ids.ts';
import { reasonInWords } from '../domain/reason-explanations.ts';
import type { ReasonCode } from '../domain/reasons.ts';
import { awaitRetries, type RetryResult, resultWords } from './await-retries.ts';
import { oneLine } from './cell.ts';
import { confirm } from './confirm.ts';
import { eachFound } from './each-found.ts';
import { idOf } from './entry-id.ts';
import { CommandFailed, UsageError } from './exit-codes.ts';
import { interruptible, type ProcessEvents } from './process-end.ts';
import { document } from './json.ts';
import { nothingFound } from './nothing-found.ts';
import { withSpool, type OpenSpool } from './open-spool.ts';
import { previewByFilter, previewMove } from './preview-moves.ts';
import { progressOf } from './progress.ts';
import { type Filter, filterOf, type FilterOptions } from './queue-filter.ts';
import { reasonJson } from './queue-entry.ts';
import { type Move, moveEntry, type Moved } from './queue-moves.ts';
import { note, printable, printableLine, type Terminal } from './terminal.ts';

export interface ChangeOptions extends FilterOptions {
  readonly all?: true;
  readonly text?: string;
  readonly yes?: true;
  readonly dryRun?: true;
  readonly json?: true;
  /** `--no-wait` of a retry. */
  readonly wait?: boolean;
}

/** A retry of at most this many entries waits for their results, for a limited time. */
const MAX_AWAITED = 20;
const AWAITED_MS = 10_000;
/** This many moves share a commit and are in memory at the same time. */
const BATCH_SIZE = 100;
const MAX_COUNTED = 1_000_000;

/** Runs one of the moves, by ids or by a filter. */
export async function changeEntries(
  move: Move,
  ids: readonly string[],
  options: ChangeOptions,
  command: Command,
  terminal: Terminal,
  events: ProcessEvents,
): Promise<void> {
  if (ids.length === 0 && options.all !== true) {
    throw new UsageError('give ids, or --all with filters');
  }
  if (ids.length > 0 && options.all === true) {
    throw new UsageError('give ids or --all, not both');
  }
  await withSpool(command, terminal, (open) =>
    options.all === true
      ? byFilter(open, move, options, terminal, events)
      : byId(open, move, ids, { options, terminal, events }),
  );
}

interface MoveContext {
  readonly options: ChangeOptions;
  readonly terminal: Terminal;
  readonly events: ProcessEvents;
}

async function byId(
  open: OpenSpool,
  move: Move,
  ids: readonly string[],
  context: MoveContext,
): Promise<void> {
  const { options, terminal } = context;
  const triedBefore = new Map<EntryId, number>();
  const results: (Moved & { readonly id: EntryId })[] = [];
  const probed = new ProbedShops(open, move);
  // All before the first is changed: one may have no entry, or several.
  const known: EntryId[] = [];
  for (const text of ids) known.push(await idOf(open, text));
  if (options.dryRun) {
    const previews: Result[] = [];
    for (const id of known) previews.push(await previewMove(open, move, id));
    printResults(previews, options, terminal);
    return;
  }
  for (const id of known) {
    const entry = await open.spool.get(id);
    const moved = await moveEntry(open, move, id, entry);
    results.push({ ...moved, id });
    if (!moved.ok) continue;
    if (entry !== undefined) triedBefore.set(id, entry.lastAttemptAt);
    await open.audit(move.name, id, moved.result);
    await probed.add(entry?.shopId);
  }
  const waits = move.name === 'retry' && options.wait !== false && isDelivering(open);
  const retried =
    waits && triedBefore.size > 0 && triedBefore.size <= MAX_AWAITED
      ? await waitFor(open, triedBefore, context)
      : undefined;
  printResults(
    results.map((each) => ({ ...each, after: retried?.get(each.id) })),
    options,
    terminal,
  );
  if (!options.json) {
    const undoable = results.filter(({ id, canUndo }) => canUndo && !retried?.get(id)?.tried);
    noteUndo(
      move,
      terminal,
      undoable.map(({ id }) => id),
    );
  }
  const failed = results.filter(({ ok }) => !ok).length;
  if (failed > 0)
    throw new CommandFailed(`${failed} of ${results.length} entries were not changed`);
}

/** Says how a move is undone that changed a few entries; more cannot be told from others by a filter. */
function noteUndo({ undoneBy }: Move, terminal: Terminal, ids: readonly string[]): void {
  if (undoneBy === undefined || ids.length === 0 || ids.length > MAX_AWAITED) return;
  const until = undoneBy === 'undo' ? ', until they are tried' : '';
  note(terminal, `To undo this${until}: sluice queue ${undoneBy} ${ids.join(' ')}\n`);
}

interface Result extends Pick<Moved, 'id' | 'ok' | 'result'> {
  readonly after?: RetryResult | undefined;
}

function printResults(
  results: readonly Result[],
  { json }: ChangeOptions,
  terminal: Terminal,
): void {
  const now = Date.now();
  const line = ({ id, result, after }: Result): string => {
    const words = after === undefined ? result : resultWords(after, now);
    return `${printable(id)}: ${printableLine(words)}\n`;
  };
  terminal.out(json ? document(results.map(resultJson)) : results.map(line).join(''));
}

function resultJson({ id, ok, result, after }: Result): object {
  if (after === undefined) return { id, ok, result };
  const { state, tried, reason } = after;
  return { id, ok, result, state, tried, ...reasonJson(reason) };
}

const isDelivering = ({ config }: OpenSpool): boolean =>
  isServed(config.dataDir) && !config.delivery.paused;

async function waitFor(
  { spool }: OpenSpool,
  before: ReadonlyMap<EntryId, number>,
  { terminal, events }: MoveContext,
): Promise<ReadonlyMap<EntryId, RetryResult>> {
  const progress = progressOf(terminal, { name: 'tried', total: before.size, unit: 'entries' });
  try {
    return await interruptible(events, (signal) =>
      awaitRetries(spool, before, { timeoutMs: AWAITED_MS, signal, onProgress: progress.at }),
    );
  } finally {
    progress.end();
  }
}

/** Asks the gateway to probe each shop whose messages were retried, once. */
class ProbedShops {
  readonly #open: Pick<OpenSpool, 'spool' | 'shops'>;
  readonly #wanted: boolean;
  readonly #known = new Set<ShopId>();

  constructor(open: Pick<OpenSpool, 'spool' | 'shops'>, move: Move) {
    this.#open = open;
    this.#wanted = move.name === 'retry';
  }

  async add(shopId: ShopId | undefined): Promise<void> {
    if (!this.#wanted || shopId === undefined || this.#known.has(shopId)) return;
    this.#known.add(shopId);
    const { spool, shops } = this.#open;
    // No gateway takes the request of a shop that is not configured.
    if (shops.some((shop) => shop.shopId === shopId)) await spool.requestProbe(shopId);
  }
}

async function byFilter(
  open: OpenSpool,
  move: Move,
  options: ChangeOptions,
  terminal: Terminal,
  events: ProcessEvents,
): Promise<void> {
  const filter = movable(move, filterOf(open, options, options.text?.split(/\s+/)));
  if (options.dryRun) {
    const words = inWords(filter, options, open);
    terminal.out(await previewByFilter(open, move, filter, { json: options.json, words }));
    return;
  }
  const count = await open.index.count(filter, MAX_COUNTED);
  if (count > 0 && options.yes !== true) {
    const question = `${move.name} ${counted(count, 'entry', 'entries')} (${inWords(filter, options, open)})?`;
    if (!(await confirm(terminal, question))) throw new CommandFailed('nothing was changed');
  }
  const tally = new Tally();
  const progress = progressOf(terminal, { name: move.name, total: count, unit: 'entries' });
  try {
    await interruptible(events, (signal) =>
      moveAll(open, move, filter, { tally, onProgress: progress.at, signal }),
    );
  } catch (error) {
    terminal.err(`${tally.total} of ${count}: ${tally.words()}; then it was interrupted\n`);
    throw error;
  } finally {
    progress.end();
    // After an interruption too: the entries changed until then stay changed.
    if (tally.total > 0) {
      await open.audit(
        move.name,
        `${counted(tally.total, 'entry', 'entries')}: ${inWords(filter, options, open)}`,
        tally.words(),
      );
    }
  }
  if (options.json) terminal.out(document(tally.json()));
  else if (tally.total > 0) {
    terminal.out(tally.lines());
    noteUndo(move, terminal, tally.undoable);
  } else terminal.out(await nothingFound(open.index, filter));
  // Entries that were never retried are skipped; that is no failure.
  if (tally.failed > 0 && move.name !== 'undo') {
    throw new CommandFailed(`${tally.failed} of ${tally.total} entries were not changed`);
  }
}

/** Only entries that exist now; the confirmation did not cover later ones. */
function movable(move: Move, filter: Filter): Filter {
  const states = filter.states ?? move.usual;
  if (states === undefined) {
    throw new UsageError(
      `${move.name} --all needs --state: one or more of ${move.from.join(', ')}`,
    );
  }
  const wrong = states.filter((state) => !move.from.includes(state));
  if (wrong.length > 0) {
    throw new UsageError(
      `${move.name} is for ${move.from.join(', ')}; not for ${wrong.join(', ')}`,
    );
  }
  return { ...filter, states, to: filter.to ?? Date.now() + 1 };
}

interface Run {
  readonly tally: Tally;
  readonly onProgress: (done: number) => void;
  readonly signal: AbortSignal;
}

async function moveAll(
  open: OpenSpool,
  move: Move,
  filter: Filter,
  { tally, onProgress, signal }: Run,
): Promise<void> {
  const probed = new ProbedShops(open, move);
  let batch: Promise<Moved & { readonly shopId: ShopId }>[] = [];
  const settle = async () => {
    for (const { shopId, ...moved } of await Promise.all(batch)) {
      tally.add(moved);
      if (moved.ok) await probed.add(shopId);
    }
    batch = [];
    onProgress(tally.total);
  };
  for await (const { entry } of eachFound(open.index, filter)) {
    const { id, shopId } = entry;
    batch.push(moveEntry(open, move, id, entry).then((moved) => ({ ...moved, shopId })));
    if (batch.length < BATCH_SIZE) continue;
    await settle();
    signal.throwIfAborted();
  }
  await settle();
}

/** The filter without its search words, which may be an address. */
function inWords(filter: Filter, { until }: ChangeOptions, { shopName }: OpenSpool): string {
  const { states = [], channel, shopId, reason, from, text } = filter;
  return [
    states.join(' or '),
    ...(channel === undefined ? [] : [channel]),
    ...(shopId === undefined ? [] : [`shop ${shopName(shopId)}`]),
    ...(reason === undefined ? [] : ['by reason']),
    ...(text === undefined ? [] : ['by words']),
    ...(from === undefined ? [] : [`since ${new Date(from).toISOString()}`]),
    ...(until === undefined ? [] : [`until ${new Date(until(Date.now())).toISOString()}`]),
  ].join(', ');
}

/** Counts the results of many moves, by result and by the entries' earlier reasons. */
class Tally {
  readonly #groups = new Map<
    string,
    { result: string; ok: boolean; reason: string; reasonCode?: ReasonCode; count: number }
  >();
  total = 0;
  failed = 0;
  /** The first ones. */
  readonly undoable: string[] = [];

  add({ id, ok, canUndo, result, reason }: Moved): void {
    this.total += 1;
    if (!ok) this.failed += 1;
    if (canUndo && this.undoable.length <= MAX_AWAITED) this.undoable.push(id);
    const shown = reason === undefined ? '' : oneLine(reasonInWords(reason)).slice(0, 80);
    const key = `${result}\0${shown}`;
    const group = this.#groups.get(key) ?? {
      ...{ result, ok, reason: shown, count: 0 },
      ...(reason !== undefined && { reasonCode: reason.code }),
    };
    this.#groups.set(key, { ...group, count: group.count + 1 });
  }

  words(): string {
    return this.failed === 0 ? 'all done' : `${this.total - this.failed} done, ${this.failed} not`;
  }

  json(): object {
    return { total: this.total, changed: this.total - this.failed, results: this.#sorted() };
  }

  lines(): string {
    return this.#sorted()
      .map(({ count, result, reason }) => {
        const why = reason === '' ? '' : `  (was: ${printable(reason)})`;
        return `${String(count).padStart(7)}  ${result}${why}\n`;
      })
      .join('');
  }

  #sorted() {
    return [...this.#groups.values()].toSorted((a, b) => b.count - a.count);
  }
}
