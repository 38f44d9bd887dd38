import { NO_TEXT } from '../../../domain/no-text.ts';
import { cleanLine } from '../../../runtime/clean-text.ts';
import type { TextMessage } from '../provider.ts';

/** The content of a message: the person's words, followed by what its provider tells about it. */
export function contentOf({ words, context }: TextMessage): string {
  return [words, ...(context.length > 0 ? [context.join('\n')] : [])].join('\n\n');
}

const MAX_KIND = 60;

/**
 * What a person said, or what stands for it: the kind of a message without words, as the provider
 * names it; for files and for an empty text the usual line.
 * @param kind of a message that has neither words nor files, after the service that it came over
 */
export function wordsOf(
  said: string | undefined,
  kind?: readonly [service: string, name: string | undefined],
): string {
  const words = submittable(said ?? '');
  if (words !== undefined || kind === undefined) return words ?? NO_TEXT;
  const [service, name = ''] = kind;
  const shown = cleanLine(name.replace(/_/g, ' '), MAX_KIND);
  return `[${service}: ${shown === '' ? 'a message of an unknown kind' : shown}]`;
}

const MAX_SHOWN_RECIPIENTS = 20;

/** Names the other recipients of a text to a group, in a line. */
export function groupLines(others: readonly string[]): string[] {
  if (others.length === 0) return [];
  const shown = others.slice(0, MAX_SHOWN_RECIPIENTS).map((each) => cleanLine(each, 40));
  return [`[Sent to a group, also to ${shown.join(', ')}]`];
}

const FIRST_WORDS_CHARS = 60;

/** The content of the follow-up with a text's late media. */
export function followUpContentOf({ words }: Pick<TextMessage, 'words'>): string {
  return `Picture for: \u201C${firstWords(words)}\u201D`;
}

/** The beginning of a text on one line, cut between words if there are any. */
function firstWords(text: string): string {
  const line = text.trim().replace(/\s+/g, ' ');
  // By code points, because half of a surrogate pair is not valid text.
  const chars = Array.from(line);
  if (chars.length <= FIRST_WORDS_CHARS) return line;
  const head = chars.slice(0, FIRST_WORDS_CHARS + 1).join('');
  const words = head.slice(0, Math.max(head.lastIndexOf(' '), 0));
  return `${words === '' ? chars.slice(0, FIRST_WORDS_CHARS).join('') : words}\u2026`;
}

/** C0 and C1 controls, except tab, line feed and carriage return. Includes NUL. */
const CONTROLS = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/g;

/**
 * A text in a form that can be submitted; undefined if nothing is said in it. Without NUL, which
 * databases refuse, and other controls, as in email: people do not type them, and terminals
 * interpret them. An unpaired surrogate (which JSON can contain) is replaced.
 */
export function submittable(text: string): string | undefined {
  const clean = text.replace(CONTROLS, '').replace(/\p{Surrogate}/gu, '\uFFFD');
  return clean.trim() === '' ? undefined : clean;
}
