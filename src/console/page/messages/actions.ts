import { isMoveAllowed, OPERATOR_MOVES } from '../../../domain/entry-state.ts';
import type { ActionProgress, EntryAction, EntryRow, EntryState } from '../../contract.ts';
import { plural, STATE_NAMES } from '../formats.ts';
import { Refusal } from '../refusal.ts';

/** The entries that an action applies to: selected ones, or all that match the filters. */
export type Selection =
  | { readonly kind: 'some'; readonly ids: ReadonlySet<string>; readonly anchor?: string }
  | { readonly kind: 'all' };

export const NO_SELECTION: Selection = { kind: 'some', ids: new Set() };
/** The most ids in one request. */
export const MAX_IDS = 10_000;

export const isSelected = (selection: Selection, id: string): boolean =>
  selection.kind === 'all' || selection.ids.has(id);

export const isEmpty = (selection: Selection): boolean =>
  selection.kind === 'some' && selection.ids.size === 0;

/** Selects or deselects one entry and makes it the start of a range. */
export function toggle(selection: Selection, id: string): Selection {
  if (selection.kind === 'all') return { kind: 'some', ids: new Set([id]), anchor: id };
  const ids = new Set(selection.ids);
  if (!ids.delete(id) && ids.size < MAX_IDS) ids.add(id);
  return { kind: 'some', ids, anchor: id };
}

/**
 * Adds the entries from the anchor to `id`, in list order, to the selection. Without a loaded
 * anchor, only `id` is toggled.
 */
export function extendTo(
  selection: Selection,
  id: string,
  between: (a: string, b: string) => readonly string[],
): Selection {
  if (selection.kind === 'all' || selection.anchor === undefined) return toggle(selection, id);
  const range = between(selection.anchor, id);
  if (range.length === 0) return toggle(selection, id);
  const ids = new Set(selection.ids);
  for (const each of range) if (ids.size < MAX_IDS) ids.add(each);
  return { kind: 'some', ids, anchor: selection.anchor };
}

export function selectAll(ids: readonly string[]): Selection {
  const [anchor] = ids;
  return {
    kind: 'some',
    ids: new Set(ids.slice(0, MAX_IDS)),
    ...(anchor !== undefined && { anchor }),
  };
}

const ACTIONS: readonly EntryAction[] = ['retry', 'release', 'discard', 'restore'];

/** The actions allowed in at least one of these states; all actions when the states are unknown. */
export function actionsFor(states: ReadonlySet<EntryState>): readonly EntryAction[] {
  if (states.size === 0) return ACTIONS;
  return ACTIONS.filter((action) => OPERATOR_MOVES[action].some((state) => states.has(state)));
}

/** The number of loaded entries in each state. */
export function countStates(rows: Iterable<EntryRow>): ReadonlyMap<EntryState, number> {
  const counts = new Map<EntryState, number>();
  for (const { state } of rows) counts.set(state, (counts.get(state) ?? 0) + 1);
  return counts;
}

/** The texts of an action: button, progress, result and confirmation. */
interface ActionWords {
  readonly verb: string;
  readonly doing: string;
  readonly done: string;
  readonly undone: string;
  /** What the action does, for one or `many` messages. */
  readonly consequence: (many: boolean) => string;
}

export const ACTION_WORDS: Readonly<Record<EntryAction, ActionWords>> = {
  retry: {
    verb: 'Retry',
    doing: 'Retrying',
    done: 'queued for a retry',
    undone: 'undone',
    consequence: (many) =>
      `${many ? 'They are' : 'It is'} queued again and submitted to the platform in order of arrival, as soon as deliveries of the shop go on. Retries never create duplicates.`,
  },
  release: {
    verb: 'Release',
    doing: 'Releasing',
    done: 'released',
    undone: 'undone',
    consequence: (many) =>
      `${many ? 'They are' : 'It is'} submitted without applying the rules again. The AI agent will answer ${many ? 'them' : 'it'}.`,
  },
  discard: {
    verb: 'Discard',
    doing: 'Discarding',
    done: 'discarded',
    undone: 'restored',
    consequence: (many) =>
      `${many ? 'They are' : 'It is'} not submitted, and the sender is not notified. ${many ? 'They' : 'It'} can be restored as long as ${many ? 'the originals are' : 'the original is'} kept.`,
  },
  restore: {
    verb: 'Restore',
    doing: 'Restoring',
    done: 'restored',
    undone: 'discarded again',
    consequence: (many) =>
      `${many ? 'They return' : 'It returns'} to the state before the discard.`,
  },
};

const messages = (n: number): string => plural(n, 'message');

/** How many entries in known states the action changes, and which it leaves unchanged. */
export function predictEffect(
  action: EntryAction,
  states: ReadonlyMap<EntryState, number>,
): { readonly affected: number; readonly notes: readonly string[] } {
  let affected = 0;
  const notes: string[] = [];
  for (const [state, n] of states) {
    if (isMoveAllowed(action, state)) affected += n;
    else notes.push(`${messages(n)} ${n === 1 ? 'is' : 'are'} ${STATE_NAMES[state].toLowerCase()}`);
  }
  return { affected, notes };
}

/** The result of a finished action, in one line. */
export function resultLine(progress: ActionProgress): string {
  const { action, changed, refused, undone } = progress;
  const words = ACTION_WORDS[action];
  if (undone) return `${messages(changed)} ${words.undone}.`;
  const left = refused.reduce((sum, { count: n }) => sum + n, 0);
  const done = changed === 0 ? `No messages ${words.done}` : `${messages(changed)} ${words.done}`;
  return left === 0 ? `${done}.` : `${done}; ${messages(left)} unchanged.`;
}

export interface RunParts {
  readonly action: (id: string) => Promise<ActionProgress>;
  /** Calls the listener with the progress of actions; returns the unsubscribe function. */
  onAction(listener: (progress: ActionProgress) => void): () => void;
  /** How often to poll, in case the stream is interrupted. */
  readonly pollEveryMs: number;
}

/**
 * Follows an action or its undo to its end, by the stream and by polling. Lower progress is ignored
 * as outdated. While the gateway is unreachable or the operator is signed out, polling continues,
 * since the action does not depend on the page.
 * @throws the error of three failed polls in a row
 * @throws {Refusal} `not_found` when the action is no longer known, as after a restart of the
 *   gateway
 */
export async function follow(
  first: ActionProgress,
  parts: RunParts,
  onProgress: (progress: ActionProgress) => void,
): Promise<ActionProgress> {
  let now = first;
  let resolve = (): void => undefined;
  const ended = new Promise<void>((done) => (resolve = done));
  const take = (progress: ActionProgress) => {
    if (progress.id !== first.id || progress.undone !== first.undone) return;
    if (now.finished || progress.done < now.done) return;
    now = progress;
    onProgress(progress);
    if (progress.finished) resolve();
  };
  const stop = parts.onAction(take);
  let failures = 0;
  try {
    onProgress(first);
    const isOver = (): boolean => now.finished;
    while (!isOver()) {
      await Promise.race([ended, pause(parts.pollEveryMs)]);
      if (isOver()) break;
      try {
        take(await parts.action(first.id));
        failures = 0;
      } catch (error) {
        const code = error instanceof Refusal ? error.code : undefined;
        if (code === 'unreachable' || code === 'signed_out') continue;
        failures += 1;
        if (failures === 3 || code === 'not_found') throw error;
      }
    }
    return now;
  } finally {
    stop();
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
