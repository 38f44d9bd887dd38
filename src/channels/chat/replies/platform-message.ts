import type { Message } from '../../../platform-api/resources.ts';

/**
 * Sorts by `created_at`. A message without a (readable) time keeps its place behind the one that
 * was read before it; equal times keep the order in which they were read.
 */
export function inOrder(messages: readonly Message[]): Message[] {
  let last = Number.NEGATIVE_INFINITY;
  return messages
    .map((message, index) => {
      const time = createdAt(message);
      if (time !== undefined) last = time;
      return { message, index, time: time ?? last };
    })
    .sort((one, other) => compare(one.time, other.time) || one.index - other.index)
    .map(({ message }) => message);
}

/** Which way a platform's lists run, learned from those that show it. */
export class ListDirection {
  #isNewestFirst = false;

  /**
   * One reading of lists with the messages of each conversation the oldest first, so that those
   * with one time keep their order. A conversation all of whose messages have the same time runs
   * as the last one did that showed its direction.
   */
  oldestFirst(messages: readonly Message[]): Message[] {
    const places = new Map<string | null, number[]>();
    for (const [place, { conversation_id: id }] of messages.entries()) {
      const own = places.get(id);
      if (own === undefined) places.set(id, [place]);
      else own.push(place);
    }
    const ordered = [...messages];
    for (const own of places.values()) {
      const listed = own.flatMap((place) => messages[place] ?? []);
      if (isNewestFirst(listed)) this.#isNewestFirst = true;
      else if (new Set(listed.map(createdAt)).size > 1) {
        if (!isOldestFirst(listed)) continue;
        this.#isNewestFirst = false;
      }
      if (!this.#isNewestFirst) continue;
      for (const [nth, place] of own.toReversed().entries()) {
        const message = listed[nth];
        if (message !== undefined) ordered[place] = message;
      }
    }
    return ordered;
  }
}

/** Milliseconds since the epoch. */
export function createdAt({ created_at: text }: Message): number | undefined {
  const time = text === undefined ? Number.NaN : Date.parse(text);
  return Number.isNaN(time) ? undefined : time;
}

/** Whether a page shows by itself that the list is sorted newest first. */
export function isNewestFirst(messages: readonly Message[]): boolean {
  const times = messages.map(createdAt);
  const [first] = times;
  const last = times.at(-1);
  if (first === undefined || last === undefined || first === last) return false;
  return times.every((time, index) => {
    const previous = index === 0 ? first : times[index - 1];
    return time !== undefined && previous !== undefined && time <= previous;
  });
}

/** Whether nothing shows that the list is sorted otherwise. */
export function isOldestFirst(messages: readonly Message[]): boolean {
  const times = messages.map(createdAt);
  return times.every((time, index) => {
    const previous = index === 0 ? time : times[index - 1];
    return time !== undefined && previous !== undefined && time >= previous;
  });
}

/** Infinities included, whose difference is not a number. */
const compare = (one: number, other: number): number => (one === other ? 0 : one < other ? -1 : 1);
