import type { TextMessage } from '../provider.ts';

/** The content of a message: the person's words, followed by what its provider tells about it. */
export function contentOf({ words, context }: TextMessage): string {
  return [words, ...(context.length > 0 ? [context.join('\n')] : [])].join('\n\n');
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
