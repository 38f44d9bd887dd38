import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  type Document,
  type Node,
  type Scalar,
} from 'yaml';
import { showPath, type Mistake, type Path, type SourcePosition } from './mistakes.ts';

/**
 * A YAML document in which every value has its position in the file. All scalars are text: the
 * schema decides which are numbers, so `+15550001111` and `0123` are kept as they are. An empty
 * value, or one that is empty after interpolation, counts as not given.
 */
export type SourceNode =
  | {
      readonly kind: 'map';
      readonly place: SourcePosition;
      readonly entries: ReadonlyMap<string, MapEntry>;
    }
  | { readonly kind: 'list'; readonly place: SourcePosition; readonly items: readonly SourceNode[] }
  | {
      readonly kind: 'text';
      readonly place: SourcePosition;
      readonly text: string;
      /** The text as written in the file, if `text` contains values of environment variables. */
      readonly written?: string;
      /** The names of these variables. */
      readonly names?: readonly string[];
    };

export interface MapEntry {
  readonly keyPlace: SourcePosition;
  /** Undefined when the key has no value. */
  readonly value: SourceNode | undefined;
}

export interface Source {
  readonly root: SourceNode | undefined;
  readonly mistakes: readonly Mistake[];
  /** Paths for which a mistake is already reported; no further mistakes are reported below them. */
  readonly broken: readonly Path[];
  /** The environment variables that the document uses. */
  readonly names: readonly string[];
  /** Values that are empty because their variables are. */
  readonly emptied: readonly Emptied[];
  /** Values that are probably meant otherwise, one sentence each. */
  readonly doubts: readonly string[];
}

export interface Emptied {
  readonly path: Path;
  readonly place: SourcePosition;
  readonly names: readonly string[];
  /** It is written with an empty default: `${NAME:-}`. */
  readonly isMeant: boolean;
}

/**
 * Limits the number of nodes after aliases are resolved, since nested aliases grow exponentially.
 */
const MAX_NODES = 100_000;

const BAD_ALIAS =
  'an alias (*name) without an anchor (&name) before it; quote text that starts with *';
const IN_LINE = 'an indentation that fits the lines around it, and every quote and bracket closed';

type Syntax = readonly [expected: string, found: string, fix?: string];

/** The parser's own messages are not used: they quote the document, which contains secrets. */
const SYNTAX: Readonly<Record<string, Syntax>> = {
  BAD_ALIAS: ['YAML', BAD_ALIAS],
  BAD_INDENT: [IN_LINE, 'another indentation, or a bracket left open'],
  BAD_SCALAR_START: ['quotes around a value that starts with @ or `', 'a value without quotes'],
  BLOCK_AS_IMPLICIT_KEY: [
    'one "key: value" on a line, the next key not further to the right, and quotes around a value that has ": " in it',
    'two that are read as one line',
  ],
  DUPLICATE_KEY: [
    'each key once',
    'a key that occurs twice in one mapping',
    'remove this line, and put what is below it under the first one',
  ],
  MISSING_CHAR: [IN_LINE, 'another indentation, or a missing quote, bracket or space'],
  MULTIPLE_DOCS: ['one document', 'a second document (---) in the file'],
  TAB_AS_INDENT: ['spaces as indentation', 'a tab'],
  TAG_RESOLVE_FAILED: [
    'a value without a tag',
    'a tag (!...)',
    'remove the tag; for a value that stands elsewhere, write ${NAME}, a variable',
  ],
};

const MISREAD: Syntax = [
  'YAML',
  'text that is not valid YAML here',
  'compare the line with config/example.yaml',
];

/** Of a line, so that no pattern reads a whole file. */
const LINE_CHARS = 1000;

/** What is on the line of a mistake often says more than its code. */
const ON_LINE: readonly (readonly [found: RegExp, Syntax])[] = [
  [/^(?:<{7}|={7}|>{7})/, ['YAML', 'a merge conflict that is not resolved']],
  [/[[{,:]\s*\{\{/, ['YAML', 'a template ({{ ... }}) that was not rendered']],
  [/[[{,]\s*(?:\w+:\s*)?\$\{/, ['quotes around ${NAME} inside [...] and {...}', 'none']],
  [
    /^\s*(?:\[[\w.]+\]|[\w.]+\s*=)/,
    ['YAML', 'a line of TOML or of variables', 'write key: value, as in config/example.yaml'],
  ],
  [/^\s*\/\//, ['YAML, whose comments begin with #', 'a comment that begins with //']],
  [/^[\u00a0\u2007\u202f]/, ['spaces as indentation', 'no-break spaces (U+00A0)']],
  [
    /:\s*'[^']*'[^',}\]]/,
    ["'' for an apostrophe inside '...', or \"...\" around it", 'text after the closing quote'],
  ],
];

/** After these mistakes the rest of the document can still be read and checked. */
const HARMLESS: ReadonlySet<string> = new Set(['DUPLICATE_KEY', 'TAG_RESOLVE_FAILED']);

/** Parses a document. Every syntax mistake and unset variable is reported; none is thrown. */
export function readSource(
  file: string,
  text: string,
  env: Readonly<Record<string, string | undefined>>,
): Source {
  const counter = new LineCounter();
  const document = parseDocument(text, {
    schema: 'failsafe',
    lineCounter: counter,
    prettyErrors: false,
  });
  const placeAt = (offset: number): SourcePosition => {
    const { line, col } = counter.linePos(offset);
    return { file, line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const problems = [...document.errors, ...document.warnings];
  const misread = problems.find(({ code }) => !HARMLESS.has(code));
  // Errors that follow a syntax error are usually caused by it, so only the first one is reported.
  const reported = misread === undefined ? problems : [misread];
  const mistakes = reported.map(({ code, pos }) => {
    const onLine = HARMLESS.has(code) ? undefined : syntaxOn(text, pos[0]);
    const [expected, found, fix] = onLine ?? SYNTAX[code] ?? MISREAD;
    return { path: '', place: placeAt(pos[0]), expected, found, ...(fix !== undefined && { fix }) };
  });
  if (misread !== undefined) {
    return { root: undefined, mistakes, broken: [[]], names: [], emptied: [], doubts: [] };
  }
  const tree = new TreeReader(document, placeAt, env).read();
  return { ...tree, mistakes: [...mistakes, ...tree.mistakes] };
}

function syntaxOn(text: string, offset: number): Syntax | undefined {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  const [line = ''] = text.slice(start, start + LINE_CHARS).split('\n', 1);
  return ON_LINE.find(([on]) => on.test(line))?.[1];
}

class TreeReader {
  readonly #document: Document.Parsed;
  readonly #placeAt: (offset: number) => SourcePosition;
  readonly #env: Readonly<Record<string, string | undefined>>;
  readonly #mistakes: Mistake[] = [];
  readonly #broken: Path[] = [];
  readonly #names: string[] = [];
  readonly #emptied: Emptied[] = [];
  readonly #doubts: string[] = [];
  #nodes = 0;

  constructor(
    document: Document.Parsed,
    placeAt: (offset: number) => SourcePosition,
    env: Readonly<Record<string, string | undefined>>,
  ) {
    this.#document = document;
    this.#placeAt = placeAt;
    this.#env = env;
  }

  read(): Source {
    const { contents } = this.#document;
    const root = contents === null ? undefined : this.#node(contents, []);
    return {
      ...{ root, mistakes: this.#mistakes, broken: this.#broken },
      ...{ names: this.#names, emptied: this.#emptied, doubts: this.#doubts },
    };
  }

  #node(node: unknown, path: Path): SourceNode | undefined {
    this.#nodes += 1;
    if (this.#nodes > MAX_NODES) {
      if (this.#nodes === MAX_NODES + 1) {
        this.#report([], undefined, `at most ${MAX_NODES} values`, 'more, with aliases resolved');
      }
      return undefined;
    }
    if (isAlias(node)) {
      const anchored = node.resolve(this.#document);
      if (anchored !== undefined) return this.#node(anchored, path);
      this.#report(path, this.#place(node), 'a value', BAD_ALIAS);
      return undefined;
    }
    if (isScalar(node)) return this.#scalar(node, path);
    if (isSeq(node)) {
      // An empty item keeps its index, so that the paths of later items stay correct.
      const items = node.items.map(
        (item, index): SourceNode =>
          this.#node(item, [...path, index]) ?? {
            kind: 'text',
            place: this.#place(item ?? node),
            text: '',
          },
      );
      return { kind: 'list', place: this.#place(node), items };
    }
    if (isMap(node)) {
      const entries = new Map<string, MapEntry>();
      for (const { key, value } of node.items) {
        if (!isScalar(key)) {
          const found = 'a list or mapping, or a template ({{ ... }}) that was not rendered';
          this.#report(path, this.#place(key), 'a plain word as the key', found);
          continue;
        }
        const name = String(key.value);
        entries.set(name, {
          keyPlace: this.#place(key),
          value: this.#node(value, [...path, name]),
        });
      }
      return { kind: 'map', place: this.#place(node), entries };
    }
    return undefined;
  }

  #scalar(node: Scalar, path: Path): SourceNode | undefined {
    const raw = String(node.value);
    if (node.type === 'PLAIN' && /^(?:|~|null|Null|NULL)$/.test(raw)) {
      // In a comment there is a space behind the # nearly always.
      if (/^\S/.test(node.comment ?? '')) {
        this.#doubts.push(
          `${showPath(path)} has no value: # begins a comment; quote a value with #`,
        );
      }
      return undefined;
    }
    const place = this.#place(node);
    if (/^\$[A-Z][A-Z0-9_]*$/.test(raw)) {
      // It is not shown: it may be a secret.
      if (node.type === 'PLAIN') {
        const found = 'perhaps a variable without braces';
        const fix = 'write ${NAME}; for the text itself, put it in quotes';
        this.#report(path, place, 'a variable as ${NAME}', found, fix);
        return undefined;
      }
      this.#doubts.push(`${showPath(path)} may be a variable without braces: write \${NAME}`);
    }
    const result = interpolate(raw, this.#env);
    if (result.ok) {
      const { text, names } = result;
      this.#names.push(...names);
      if (names.length === 0) return { kind: 'text', place, text };
      if (text !== '') return { kind: 'text', place, text, written: raw, names };
      this.#emptied.push({ path, place, names, isMeant: raw.includes(':-') });
      return undefined;
    }
    if (result.malformed) {
      this.#report(
        path,
        place,
        '${NAME} or ${NAME:-default}',
        'a ${ that is not followed by NAME}',
        'write ${NAME}, or ${NAME:-default}; for a literal ${, write $${',
      );
    }
    for (const name of result.missing) {
      const inFile = this.#env[`${name}_FILE`]
        ? `; only the variables of keys are read from a _FILE`
        : '';
      this.#report(
        path,
        place,
        `the environment variable ${name}`,
        'not set',
        `set ${name}${inFile}`,
      );
    }
    return undefined;
  }

  #report(
    path: Path,
    place: SourcePosition | undefined,
    expected: string,
    found: string,
    fix?: string,
  ) {
    this.#mistakes.push({
      path: showPath(path),
      ...(place && { place }),
      expected,
      found,
      ...(fix !== undefined && { fix }),
    });
    this.#broken.push(path);
  }

  #place(node: unknown): SourcePosition {
    // Nodes of a parsed document have a range; a missing key or item has no node.
    const range = (node as Node | null | undefined)?.range;
    return this.#placeAt(range?.[0] ?? 0);
  }
}

/** The result of interpolating one scalar. `text` is present only if every variable was set. */
type Interpolated =
  | { readonly ok: true; readonly text: string; readonly names: readonly string[] }
  | { readonly ok: false; readonly missing: readonly string[]; readonly malformed: boolean };

const PLACEHOLDER = /\$\$\{|\$\{(?:([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\})?/g;

/**
 * Replaces environment variables in a scalar: `${NAME}`, or `${NAME:-default}` for a variable that
 * may be unset or empty; `$${` stands for a literal `${`. Works on the parsed value, so that a
 * secret with a colon or a quote in it cannot change the document.
 */
export function interpolate(
  text: string,
  env: Readonly<Record<string, string | undefined>>,
): Interpolated {
  const missing: string[] = [];
  const names: string[] = [];
  const found = { malformed: false };
  const replaced = text.replace(
    PLACEHOLDER,
    (match: string, name: string | undefined, fallback: string | undefined) => {
      if (match === '$${') return '${';
      if (name === undefined) {
        found.malformed = true;
        return match;
      }
      names.push(name);
      const value = env[name];
      if (fallback !== undefined) return value === undefined || value === '' ? fallback : value;
      if (value === undefined) missing.push(name);
      return value ?? '';
    },
  );
  if (found.malformed || missing.length > 0) {
    return { ok: false, missing, malformed: found.malformed };
  }
  return { ok: true, text: replaced, names };
}
