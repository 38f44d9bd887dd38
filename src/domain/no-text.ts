/**
 * The content of a message that has none, since the platform requires one: it says to people what a
 * program would otherwise have to guess.
 */
export const NO_TEXT = '(no text)';
