/** Where a value was written. Lines and columns count from 1; the environment has none. */
export interface Place {
  readonly file: string;
  readonly line?: number;
  readonly column?: number;
}

/** One thing that is wrong with a configuration. No field ever holds the value of a secret. */
export interface Mistake {
  /** `shops[0].email.addresses[1]`; empty for the whole document. */
  readonly path: string;
  /** Absent when nothing was written: a file that cannot be read, a key that is missing. */
  readonly place?: Place;
  readonly expected: string;
  readonly came: string;
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

export function showPlace(place: Place): string {
  const { file, line, column } = place;
  return line === undefined ? file : `${file}:${line}:${column ?? 1}`;
}

/** The report that `config check` and `serve` print: every mistake, in the order of the file. */
export function renderMistakes(mistakes: readonly Mistake[]): string {
  const count = mistakes.length === 1 ? '1 mistake' : `${mistakes.length} mistakes`;
  return [`${count} in the configuration`, ...mistakes.map(renderMistake)].join('\n\n') + '\n';
}

/** One mistake: its path and place, what was expected, what came, what to write instead. */
export function renderMistake(mistake: Mistake): string {
  const where = mistake.place === undefined ? '' : `  (${showPlace(mistake.place)})`;
  const lines = [
    `${mistake.path === '' ? 'the whole document' : mistake.path}${where}`,
    `  expected: ${mistake.expected}`,
    `  came:     ${mistake.came}`,
  ];
  if (mistake.fix !== undefined) lines.push(`  fix:      ${mistake.fix}`);
  return lines.join('\n');
}
