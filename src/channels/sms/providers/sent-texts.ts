import { setLatest } from '../../../runtime/keep-latest.ts';
import { hash } from 'node:crypto';
import type { OutgoingText } from '../provider.ts';

/**
 * For a provider that does not list what was sent, but returns with each status a tag that was sent
 * along: the latest of our messages that it accepted or reported on, by their ids, oldest first. So a
 * text whose response was lost can be recognized. The webhook and the sender are in the same process.
 */
const known = new Map<string, SentText>();
const MAX_KNOWN = 10_000;

interface SentText {
  readonly tag: string;
  readonly hasFailed: boolean;
  /** When it was first heard of, in milliseconds since the epoch. */
  readonly at: number;
}

export function noteSent(id: string, text: SentText): void {
  const { at, hasFailed } = known.get(id) ?? text;
  setLatest(known, id, { ...text, at, hasFailed: hasFailed || text.hasFailed }, MAX_KNOWN);
}

/** The ids of messages with this tag that were first heard of since then and have not failed. */
export const idsSent = (tag: string, since: number): readonly string[] =>
  [...known]
    .filter(([, text]) => text.tag === tag && text.at >= since && !text.hasFailed)
    .map(([id]) => id);

/** The same for the same text between the same addresses. */
export function tagOf(text: OutgoingText): string {
  const words = 'body' in text ? text.body : text.shown;
  return hash('sha256', [text.from, text.to, words].join('\0'), 'base64url');
}
