import { codeOf } from '../runtime/error-code.ts';

/**
 * The position of a value in its file, counted from 1. Values from the environment have no line.
 */
export interface SourcePosition {
  readonly file: string;
  /** Of a value from the environment. */
  readonly variable?: string;
  readonly line?: number;
  readonly column?: number;
}

/** One mistake in a configuration. No field ever holds the value of a secret. */
export interface Mistake {
  /** `shops[0].email.addresses[1]`; empty for the whole file. */
  readonly path: string;
  /** Absent when nothing was written, such as a missing key. */
  readonly place?: SourcePosition;
  readonly expected: string;
  readonly found: string;
  /** What to write instead. */
  readonly fix?: string;
}

export type Path = readonly (string | number)[];

export function showPath(path: Path): string {
  return path
    .map((part, index) =>
      typeof part === 'number' ? `[${part}]` : index === 0 ? part : `.${part}`,
    )
    .join('');
}

export function showPosition(place: SourcePosition): string {
  const { file, line, column } = place;
  return line === undefined ? file : `${file}:${line}:${column ?? 1}`;
}

/** The report that `config check` and `serve` print: every mistake, in the order of the file. */
export function renderMistakes(
  mistakes: readonly Mistake[],
  warnings: readonly string[] = [],
): string {
  const count = mistakes.length === 1 ? '1 mistake' : `${mistakes.length} mistakes`;
  const doubts = warnings.map((warning) => `warning: ${warning}`).join('\n');
  const parts = [`${count} in the configuration`, ...mistakes.map(renderMistake), doubts];
  return parts.filter((part) => part !== '').join('\n\n') + '\n';
}

/** One mistake: its path and position, what was expected, what was found, and how to fix it. */
export function renderMistake(mistake: Mistake): string {
  const lines = [
    titleOf(mistake),
    `  expected: ${mistake.expected}`,
    `  found:    ${mistake.found}`,
  ];
  if (mistake.fix !== undefined) lines.push(`  fix:      ${mistake.fix}`);
  return lines.join('\n');
}

function titleOf({ path, place }: Mistake): string {
  if (place === undefined) return path === '' ? 'the configuration' : path;
  return path === '' ? showPosition(place) : `${path}  (${showPosition(place)})`;
}

/** Why a file cannot be read: `no such file (ENOENT)`. */
export function whyUnreadable(error: unknown): string {
  const code = codeOf(error) || 'unknown error';
  const words = READ_ERRORS.get(code);
  return words === undefined ? code : `${words} (${code})`;
}

const READ_ERRORS: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'no such file'],
  ['EACCES', 'permission denied'],
  ['EISDIR', 'a folder'],
  ['ENOTDIR', 'no folder'],
]);
