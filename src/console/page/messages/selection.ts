import { OPERATOR_MOVES } from '../../../domain/entry-state.ts';
import type { EntryAction, EntryRow, EntryState } from '../../contract.ts';

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

export const ACTIONS: readonly EntryAction[] = ['retry', 'release', 'discard', 'restore'];

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
