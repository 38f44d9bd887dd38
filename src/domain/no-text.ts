/**
 * The content of a message that has none, since the platform requires one: it says to people what a
 * program would otherwise have to guess.
 */
export const NO_TEXT = '(no text)';

/**
 * Whether a person has said something. Channels put what they tell about a message, such as its
 * kind, into lines in brackets.
 */
export const hasWords = (content: string): boolean =>
  content
    .split('\n')
    .map((line) => line.trim())
    .some(
      (line) => line !== '' && line !== NO_TEXT && !(line.startsWith('[') && line.endsWith(']')),
    );
