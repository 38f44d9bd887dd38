import type { Channel } from '../domain/channel.ts';
import type { EntryId, ShopId, VisitorId } from '../domain/ids.ts';
import type { EntryKind, EntryMeta, TimelineStep } from './entry.ts';
import type { EntryState } from '../domain/entry-state.ts';

/** What is known of an entry without reading its raw form. */
export interface ErasableEntry {
  readonly kind: EntryKind;
  readonly channel: Channel;
  readonly lane: string;
  readonly meta: EntryMeta;
}

/** Who is to be forgotten, as the store asks for him. */
export interface Person {
  /** Whether this address, number, subject or visitor id is his, however it is written. */
  readonly is: (identity: string) => boolean;
  /** Whether he wrote this entry, or it is a line about him. `raw` reads the raw form. */
  readonly wrote: (entry: ErasableEntry, raw: () => Uint8Array | undefined) => boolean;
  /** Whether texts of this lane are his. */
  readonly hasSmsLane: (lane: string) => boolean;
  /** Whether a text names him: in it are his address, number or id, in one of the ways to write it. */
  readonly isNamedIn: (text: string) => boolean;
  /**
   * Whether these bytes, one character each, hold him anywhere: also in the middle of a longer word,
   * as a file has texts side by side.
   */
  readonly occursIn: (bytes: string) => boolean;
  /** Under what his mails are counted (`CountedMessage.person`). */
  readonly countedAs: readonly string[];
}

export interface TracedEntry {
  readonly seq: number;
  readonly id: EntryId;
  readonly shopId: ShopId;
  readonly channel: Channel;
  readonly state: EntryState;
}

export interface TracedVisitor {
  readonly no: number;
  readonly id: VisitorId;
  readonly shopId: ShopId;
  /** Of chat history. */
  readonly lines: number;
  readonly uploads: number;
}

export interface TracedLane {
  readonly shopId: ShopId;
  readonly channel: Channel;
  readonly lane: string;
}

/** What is stored about a person. */
export interface Traces {
  readonly entries: readonly TracedEntry[];
  readonly visitors: readonly TracedVisitor[];
  /** Remembered conversations. */
  readonly conversations: readonly TracedLane[];
  readonly optOuts: readonly TracedLane[];
  /** What the store wrote of other people's entries that names him: it is blackened. */
  readonly notes: readonly Note[];
}

/** A reason, or a part of a timeline, of an entry that stays. */
export interface Note {
  readonly seq: number;
  /** Of the timeline; undefined: the reason. */
  readonly no: number | undefined;
}

export type Where = 'header' | 'body';

/** Somebody else's message that names the person. It stays, and the operator is told. */
export interface Mention {
  readonly id: EntryId;
  readonly shopId: ShopId;
  readonly channel: Channel;
  readonly where: readonly Where[];
}

/** A line of somebody else's chat history. */
export interface LineMention {
  readonly shopId: ShopId;
  readonly visitorId: VisitorId;
  readonly seq: number;
}

/** In place of what named the person. */
export const BLACKENED = '[erased]';

/** The step without the texts that name the person; the same step when none does. */
export function blackened(step: TimelineStep, person: Person): TimelineStep {
  const { detail } = step;
  if (detail === undefined) return step;
  const names = (value: unknown) => typeof value === 'string' && person.isNamedIn(value);
  if (!Object.values(detail).some(names)) return step;
  const clean = Object.entries(detail).map(
    ([key, value]) => [key, names(value) ? BLACKENED : value] as const,
  );
  return { ...step, detail: Object.fromEntries(clean) };
}
