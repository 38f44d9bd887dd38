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
import { showPath, type Mistake, type Path, type Place } from './mistakes.ts';

/**
 * A YAML document in which every value knows where it was written. All scalars are text: the
 * schema decides what is a number, so that `+15550001111` and `0123` stay what they are.
 * An empty value, or one that the environment leaves empty, counts as not given.
 */
export type SourceNode =
  | {
      readonly kind: 'map';
      readonly place: Place;
      readonly entries: ReadonlyMap<string, MapEntry>;
    }
  | { readonly kind: 'list'; readonly place: Place; readonly items: readonly SourceNode[] }
  | {
      readonly kind: 'text';
      readonly place: Place;
      readonly text: string;
      /** As it stands in the file, when the environment had a part in `text`. */
      readonly written?: string;
    };

export interface MapEntry {
  readonly keyPlace: Place;
  /** Undefined: the key is there, its value is not. */
  readonly value: SourceNode | undefined;
}

export interface Source {
  readonly root: SourceNode | undefined;
  readonly mistakes: readonly Mistake[];
  /** Where values are already reported: nothing more is to be said about them. */
  readonly broken: readonly Path[];
  /** Of the environment variables in it. */
  readonly names: readonly string[];
}

/** Aliases multiply: what they expand to is bounded by this many nodes. */
const MAX_NODES = 100_000;

const BAD_ALIAS =
  'an alias (*name) without an anchor (&name) before it; quote text that starts with *';

/** The parser's own messages quote the document, which holds secrets. */
const SYNTAX: Readonly<Record<string, string>> = {
  BAD_ALIAS,
  BAD_INDENT: 'an indentation that does not fit the lines around it, or a bracket left open',
  BAD_SCALAR_START: 'a value that starts with @ or `; put it into quotes',
  BLOCK_AS_IMPLICIT_KEY: 'two "key: value" on one line; quote a value that has ": " in it',
  DUPLICATE_KEY: 'a key that stands twice in one mapping',
  MISSING_CHAR: 'a quote, bracket or space that is missing',
  MULTIPLE_DOCS: 'a second document (---) in the file',
  TAB_AS_INDENT: 'a tab as indentation; use spaces',
  TAG_RESOLVE_FAILED: 'a tag (!...), which this configuration does not use',
};

const MISREAD = 'text that is no YAML here; inside [...] and {...}, quote "${NAME}"';

/** The document around these can still be read, and checked. */
const HARMLESS: ReadonlySet<string> = new Set(['DUPLICATE_KEY', 'TAG_RESOLVE_FAILED']);

/** Reads a document; every syntax mistake and unset variable is reported, none is thrown. */
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
  const placeAt = (offset: number): Place => {
    const { line, col } = counter.linePos(offset);
    return { file, line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const found = [...document.errors, ...document.warnings];
  const misread = found.find(({ code }) => !HARMLESS.has(code));
  // After a syntax error the parser stumbles on: what it says then would only distract.
  const told = misread === undefined ? found : [misread];
  const mistakes = told.map(({ code, pos }) => ({
    path: '',
    place: placeAt(pos[0]),
    expected: 'YAML',
    came: SYNTAX[code] ?? MISREAD,
  }));
  if (misread !== undefined) {
    return { root: undefined, mistakes, broken: [[]], names: [] };
  }
  const tree = new TreeReader(document, placeAt, env).read();
  return { ...tree, mistakes: [...mistakes, ...tree.mistakes] };
}

class TreeReader {
  readonly #document: Document.Parsed;
  readonly #placeAt: (offset: number) => Place;
  readonly #env: Readonly<Record<string, string | undefined>>;
  readonly #mistakes: Mistake[] = [];
  readonly #broken: Path[] = [];
  readonly #names: string[] = [];
  #nodes = 0;

  constructor(
    document: Document.Parsed,
    placeAt: (offset: number) => Place,
    env: Readonly<Record<string, string | undefined>>,
  ) {
    this.#document = document;
    this.#placeAt = placeAt;
    this.#env = env;
  }

  read(): Source {
    const { contents } = this.#document;
    const root = contents === null ? undefined : this.#node(contents, []);
    return { root, mistakes: this.#mistakes, broken: this.#broken, names: this.#names };
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
      // An empty item keeps its place, so that the paths of those after it stay right.
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
          this.#report(path, this.#place(key), 'a plain word as the key', 'a list or mapping');
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
    if (node.type === 'PLAIN' && /^(?:|~|null|Null|NULL)$/.test(raw)) return undefined;
    const place = this.#place(node);
    const result = interpolate(raw, this.#env);
    if (result.ok) {
      this.#names.push(...result.names);
      if (result.names.length === 0) return { kind: 'text', place, text: result.text };
      return result.text === ''
        ? undefined
        : { kind: 'text', place, text: result.text, written: raw };
    }
    if (result.malformed) {
      this.#report(
        path,
        place,
        '${NAME} or ${NAME:-default}',
        'a ${ that starts neither',
        'write $${ for a plain ${',
      );
    }
    for (const name of result.missing) {
      this.#report(
        path,
        place,
        `the environment variable ${name}`,
        'it is not set',
        `set ${name}, or write \${${name}:-a default}`,
      );
    }
    return undefined;
  }

  #report(path: Path, place: Place | undefined, expected: string, came: string, fix?: string) {
    this.#mistakes.push({
      path: showPath(path),
      ...(place && { place }),
      expected,
      came,
      ...(fix !== undefined && { fix }),
    });
    this.#broken.push(path);
  }

  #place(node: unknown): Place {
    // Nodes of a parsed document have a range; a key or item that is wholly absent has no node.
    const range = (node as Node | null | undefined)?.range;
    return this.#placeAt(range?.[0] ?? 0);
  }
}

/** What became of one scalar. `text` is only there when every variable could be had. */
type Interpolated =
  | { readonly ok: true; readonly text: string; readonly names: readonly string[] }
  | { readonly ok: false; readonly missing: readonly string[]; readonly malformed: boolean };

const PLACEHOLDER = /\$\$\{|\$\{(?:([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\})?/g;

/**
 * Puts environment variables into a scalar: `${NAME}`, or `${NAME:-default}` for a variable that
 * is unset or empty; `$${` stands for a plain `${`. Works on the value after YAML has been
 * parsed, so that a secret with a colon or a quote in it cannot change the document.
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
