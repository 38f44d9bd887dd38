import { isMoveAllowed, OPERATOR_MOVES } from '../../../domain/entry-state.ts';
import type { ActionProgress, EntryAction, EntryRow, EntryState } from '../../contract.ts';
import { plural, STATE_NAMES } from '../formats.ts';
import { Refusal } from '../refusal.ts';

/** Which entries an action is meant for: picked ones, or all that the filters find. */
export type Selection =
  | { readonly kind: 'some'; readonly ids: ReadonlySet<string>; readonly anchor?: string }
  | { readonly kind: 'all' };

export const NOTHING: Selection = { kind: 'some', ids: new Set() };
/** What one request may name. */
export const MOST_IDS = 10_000;

export const isSelected = (selection: Selection, id: string): boolean =>
  selection.kind === 'all' || selection.ids.has(id);

export const isEmpty = (selection: Selection): boolean =>
  selection.kind === 'some' && selection.ids.size === 0;

/** Picks or drops one, and remembers it as the beginning of a range. */
export function toggle(selection: Selection, id: string): Selection {
  if (selection.kind === 'all') return { kind: 'some', ids: new Set([id]), anchor: id };
  const ids = new Set(selection.ids);
  if (!ids.delete(id) && ids.size < MOST_IDS) ids.add(id);
  return { kind: 'some', ids, anchor: id };
}

/**
 * Picks all from the anchor to `id`, in the order of the list; what was picked before stays.
 * Without an anchor that is still loaded it is the one entry.
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
  for (const each of range) if (ids.size < MOST_IDS) ids.add(each);
  return { kind: 'some', ids, anchor: selection.anchor };
}

export function selectAll(ids: readonly string[]): Selection {
  const [anchor] = ids;
  return {
    kind: 'some',
    ids: new Set(ids.slice(0, MOST_IDS)),
    ...(anchor !== undefined && { anchor }),
  };
}

const ACTIONS: readonly EntryAction[] = ['retry', 'release', 'discard', 'restore'];

/** What can be done with entries of these states; everything, when the states are not known. */
export function actionsFor(states: ReadonlySet<EntryState>): readonly EntryAction[] {
  if (states.size === 0) return ACTIONS;
  return ACTIONS.filter((action) => OPERATOR_MOVES[action].some((state) => states.has(state)));
}

/** How many of each state are picked, of those that are loaded. */
export function countStates(rows: Iterable<EntryRow>): ReadonlyMap<EntryState, number> {
  const counts = new Map<EntryState, number>();
  for (const { state } of rows) counts.set(state, (counts.get(state) ?? 0) + 1);
  return counts;
}

/** The button, the question before it, and what is said when it is done. */
interface ActionWords {
  readonly verb: string;
  readonly doing: string;
  readonly done: string;
  readonly undone: string;
  /** What will happen; `many` messages. */
  readonly consequence: (many: boolean) => string;
}

export const ACTION_WORDS: Readonly<Record<EntryAction, ActionWords>> = {
  retry: {
    verb: 'Retry',
    doing: 'Retrying',
    done: 'retried',
    undone: 'taken back',
    consequence: (many) =>
      `${many ? 'They go' : 'It goes'} back to the queue, due at once, and ${many ? 'are' : 'is'} submitted to the platform again, in the order of arrival. A message that the platform has already is not made twice.`,
  },
  release: {
    verb: 'Release',
    doing: 'Releasing',
    done: 'released',
    undone: 'taken back',
    consequence: (many) =>
      `${many ? 'They are' : 'It is'} submitted as ${many ? 'they are' : 'it is'}, without asking the rules again. The AI agent will answer ${many ? 'them' : 'it'}.`,
  },
  discard: {
    verb: 'Discard',
    doing: 'Discarding',
    done: 'discarded',
    undone: 'restored',
    consequence: (many) =>
      `${many ? 'They are' : 'It is'} set aside and never submitted. Nobody is told. ${many ? 'They' : 'It'} can be restored until ${many ? 'they are' : 'it is'} swept.`,
  },
  restore: {
    verb: 'Restore',
    doing: 'Restoring',
    done: 'restored',
    undone: 'discarded again',
    consequence: (many) =>
      `${many ? 'They go' : 'It goes'} back to the state before ${many ? 'they were' : 'it was'} discarded.`,
  },
};

const messages = (n: number): string => plural(n, 'message');

/** Of a selection whose states are known: how many stay as they are, and why. */
export function leftAlone(
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

/** What a finished action came to, in one line. */
export function resultLine(progress: ActionProgress): string {
  const { action, changed, refused, undone } = progress;
  const words = ACTION_WORDS[action];
  if (undone) return `${messages(changed)} ${words.undone}.`;
  const left = refused.reduce((sum, { count: n }) => sum + n, 0);
  const done = changed === 0 ? `Nothing was ${words.done}` : `${messages(changed)} ${words.done}`;
  return left === 0
    ? `${done}.`
    : `${done}; ${messages(left)} left as ${left === 1 ? 'it was' : 'they were'}.`;
}

export interface RunParts {
  readonly action: (id: string) => Promise<ActionProgress>;
  /** Tells of actions that go on; returns what ends it. */
  onAction(listener: (progress: ActionProgress) => void): () => void;
  /** The stream tells sooner; this is for when it does not. */
  readonly pollEveryMs: number;
}

/**
 * Follows an action, or its taking back, to its end, by the stream and by asking. A number that goes
 * back is an answer that was overtaken. A gateway that is silent, or wants a password first, is asked
 * again: the action goes on without the page.
 * @throws what asking threw three times in a row; Refusal `not_found`: nobody knows of it any more,
 *   as after a restart of the gateway
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
