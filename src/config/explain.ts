import { z } from 'zod';
import {
  descriptions,
  exampleInVariable,
  nearest,
  type FieldDescription,
  unquoted,
} from './field.ts';
import { nearestNode, nodeAt } from './layers.ts';
import { cureOf } from './not-here.ts';
import { showPath, type Mistake, type Path } from './mistakes.ts';
import { itemOf, keysOf, schemaAt, shapeOf } from './schema-paths.ts';
import type { SourceNode } from './source-tree.ts';

type Issue = z.core.$ZodIssue;

/**
 * Turns the issues that the schema found into mistakes with a position, what was expected and a
 * fix.
 */
export function explain(
  schema: z.ZodType,
  root: SourceNode | undefined,
  issues: readonly Issue[],
): Mistake[] {
  const mistakes = issues.flatMap((issue) => {
    // YAML has no symbols: every part is a key or an index.
    const path = issue.path as Path;
    return issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => unknownKey(schema, root, path, key))
      : [wrongValue(schema, root, path)];
  });
  // A text where a list belongs is also one of the wrong length.
  return [...new Map(mistakes.map((mistake) => [mistake.path, mistake])).values()];
}

function unknownKey(
  schema: z.ZodType,
  root: SourceNode | undefined,
  path: Path,
  key: string,
): Mistake {
  const known = Object.keys(shapeOf(schemaAt(schema, path)) ?? {});
  const parent = nodeAt(root, path);
  const entry = parent?.kind === 'map' ? parent.entries.get(key) : undefined;
  const fix = fixOfKey(schema, path, key, known);
  return {
    path: showPath([...path, key]),
    ...(entry && { place: entry.keyPlace }),
    expected: `a known key: ${known.join(', ')}`,
    found: 'a key that does not exist here',
    fix,
  };
}

function fixOfKey(schema: z.ZodType, path: Path, key: string, known: readonly string[]): string {
  const cure = cureOf(showPath([...path, key]));
  if (cure !== undefined) return cure;
  const parts = key.split('.');
  if (parts.length > 1 && schemaAt(schema, [...path, ...parts]) !== undefined) {
    return `write one key a line: ${parts.join(': with ')}: below it, further to the right`;
  }
  const near = nearest(key, known);
  if (near !== undefined) return `did you mean ${near}?`;
  // Of a key that many parts have, only a file's own top says that the part is missing.
  const others = pathsOf(schema, key).filter((other) => other !== key);
  return others.length > 0 && (path.length === 0 || others.length <= 2)
    ? `did you mean ${others.join(' or ')}?`
    : 'remove it, or write one of the known keys';
}

function wrongValue(schema: z.ZodType, root: SourceNode | undefined, path: Path): Mistake {
  const at = schemaAt(schema, path);
  const node = nodeAt(root, path);
  const place = nearestNode(root, path)?.place;
  const description = at && descriptions.get(at);
  const fix = suggest(path, at, description, node);
  return {
    path: showPath(path),
    ...(place && { place }),
    expected: expectation(at, description),
    found: found(node, description),
    ...(fix !== undefined && { fix }),
  };
}

function expectation(schema: z.ZodType | undefined, description?: FieldDescription): string {
  if (description !== undefined) return description.expected;
  if (schema instanceof z.ZodArray) {
    const item = itemOf(schema);
    const each = item && descriptions.get(item)?.expected;
    return each === undefined ? 'a list' : `a list with at least one: ${each}`;
  }
  const keys = Object.keys(shapeOf(schema) ?? {});
  return keys.length > 0 ? `a mapping with the keys ${keys.join(', ')}` : 'another value';
}

/** Shows a value only if its field is known not to be a secret. */
function found(node: SourceNode | undefined, description?: FieldDescription): string {
  switch (node?.kind) {
    case undefined:
      return 'nothing';
    case 'map':
      return 'a mapping';
    case 'list':
      return node.items.length === 0 ? 'an empty list' : 'a list';
    case 'text': {
      if (description === undefined) return 'a single value';
      if (description.secret === true || description.besideSecret === true) {
        const unshown = node.text === '' ? 'an empty text' : 'another text (not shown)';
        const shown = description.shown?.(node.text) ?? unshown;
        const names = variablesOf(node);
        return names === undefined ? shown : `${shown}, from the variable ${names}`;
      }
      const shown = node.written ?? node.text;
      if (shown === '') return 'an empty text';
      if (/:\/\/[^/]*@/.test(shown)) return 'a URL with credentials in it (not shown)';
      const cut = JSON.stringify(shown.length > 80 ? `${shown.slice(0, 80)}…` : shown);
      // What a variable holds may be a secret in the wrong place.
      return node.written === undefined || node.names === undefined
        ? cut
        : `${cut}, a text of length ${node.text.length}`;
    }
  }
}

const variablesOf = (node: SourceNode | undefined): string | undefined =>
  node?.place.variable ?? (node?.kind === 'text' ? node.names?.join(' and ') : undefined);

function suggest(
  path: Path,
  schema: z.ZodType | undefined,
  description: FieldDescription | undefined,
  node: SourceNode | undefined,
): string | undefined {
  const cure = cureOfValue(description, path, node);
  if (cure !== undefined) return cure;
  if (node?.place.variable !== undefined) return suggestInVariable(schema, description, node);
  if (path.length === 0) return 'write key: value, as in config/example.yaml';
  const key = path.findLast((part) => typeof part === 'string') ?? '';
  const isItem = typeof path.at(-1) === 'number';
  const before = isItem ? '- ' : `${key}: `;
  const write: Write = (value) => `write ${before}${value}`;
  if (node?.kind === 'text' && /^[“”„‟‘’‚«»]/.test(node.text)) {
    return 'replace the typographic quotes by straight ones: "…"';
  }
  if (isItem && node?.kind === 'text' && /\S\s+- \S/.test(node.text)) {
    return 'begin each "- " equally far to the right';
  }
  if (description !== undefined) return suggestValue(schema, description, node, write);
  if (schema instanceof z.ZodArray) return suggestList(schema, node, write);
  const meant = node?.kind === 'text' ? suggestMapping(schema, node.text, write) : undefined;
  return meant ?? suggestKeys(schema, node, write);
}

type Write = (value: string) => string;

function suggestValue(
  schema: z.ZodType | undefined,
  description: FieldDescription,
  node: SourceNode | undefined,
  write: Write,
): string {
  const { example } = description;
  if (node?.kind === 'list' || node?.kind === 'map') {
    const many = node.kind === 'list' ? 'a list' : 'a mapping';
    return write(example).replace('write', `write one value, not ${many}:`);
  }
  const text = node?.text ?? '';
  const bare = text.trim();
  if (bare !== text && schema?.safeParse(bare).success) return 'remove the blanks at its ends';
  const hint = hintFor(description, node);
  if (hint !== undefined) return write(hint);
  return correctVariable(description, node) ?? `${write(example)}, for instance`;
}

function suggestList(schema: z.ZodArray, node: SourceNode | undefined, write: Write): string {
  const item = itemOf(schema);
  if (node?.kind === 'map') {
    const [first] = Object.keys(shapeOf(item) ?? {});
    const named = first === undefined ? '' : `, the first line of each: "- ${first}: …"`;
    return `write a list, not a mapping: begin each item with "- "${named}`;
  }
  const described = item && descriptions.get(item);
  if (described === undefined) return write(`[${sketch(item)}]`);
  const isNone = node?.kind === 'text' && /^(?:none|off|no|never|\[\])$/i.test(node.text);
  if (isNone && schema.safeParse([]).success) return write('[]');
  const meant = itemsMeant(described, item, node);
  return meant === undefined
    ? `${write(`[${described.example}]`)}, for instance`
    : write(`[${meant.join(', ')}]`);
}

/** The first keys of a mapping. */
const sketch = (schema: z.ZodType | undefined): string =>
  `{${Object.keys(shapeOf(schema) ?? {})
    .slice(0, 3)
    .map((key) => `${key}: …`)
    .join(', ')}}`;

/** For a mapping that was written as a value or a list: the first key that takes it, or else the first keys. */
function suggestKeys(
  schema: z.ZodType | undefined,
  node: SourceNode | undefined,
  write: Write,
): string {
  const text = node?.kind === 'text' ? node.text : undefined;
  const keys = Object.keys(shapeOf(schema) ?? {});
  if (keys.includes('enabled') && /^(?:true|false)$/.test(text ?? '')) {
    return write(`{enabled: ${text}}`);
  }
  const takes = keys.find((key) => {
    const item = itemOf(schema && schemaAt(schema, [key]));
    const described = item && descriptions.get(item);
    if (described === undefined || described.secret === true) return false;
    return node?.kind === 'list' || (text !== undefined && item?.safeParse(text).success === true);
  });
  if (takes === undefined) return write(sketch(schema));
  return write(`{${takes}: [${text === undefined ? '…' : inList(text)}]}`);
}

function cureOfValue(
  description: FieldDescription | undefined,
  path: Path,
  node: SourceNode | undefined,
): string | undefined {
  if (node?.kind === 'text') return description?.cure?.(node.text);
  if (node?.kind !== 'map') return undefined;
  const isManifest = ['valueFrom', 'secretKeyRef'].some((key) => node.entries.has(key));
  return isManifest
    ? 'write ${NAME}, and set this variable in the manifest of Kubernetes'
    : cureOf(showPath(path));
}

/** The items of a list that was written as one text. */
function itemsMeant(
  description: FieldDescription,
  item: z.ZodType | undefined,
  node: SourceNode | undefined,
): readonly string[] | undefined {
  if (node?.kind !== 'text' || node.text === '' || description.secret === true) return undefined;
  const isOne = item?.safeParse(node.text).success === true;
  const items = isOne ? [node.text] : node.text.split(/[,;\s]+/).filter((text) => text !== '');
  const meant = items.map((text) =>
    // Of a range, a hint would be one end.
    item?.safeParse(text).success
      ? inList(text)
      : text.includes('-')
        ? undefined
        : description.hint?.(text),
  );
  return meant.every((text) => text !== undefined) ? meant : undefined;
}

/** Quoted where YAML would read it otherwise in `[...]`. */
const inList = (text: string): string => (/^[\w@.+/-]+$/.test(text) ? text : JSON.stringify(text));

/** For a mapping that was written as one text: a key without the space after it, or the value of a key `url`. */
function suggestMapping(
  schema: z.ZodType | undefined,
  text: string,
  write: Write,
): string | undefined {
  const [, key = ''] = /^(\w{1,40}):\S/.exec(text) ?? [];
  const mayBeShown = ({ secret }: FieldDescription) => secret !== true;
  const describe = (of: string): FieldDescription | undefined => {
    const at = schema && schemaAt(schema, [of]);
    return at && descriptions.get(at);
  };
  const ofKey = describe(key);
  if (ofKey !== undefined) {
    return mayBeShown(ofKey)
      ? `write ${key}: ${text.slice(key.length + 1)}, with a space after the colon`
      : `write a space after ${key}:`;
  }
  const url = describe('url');
  if (url === undefined) return undefined;
  if (!mayBeShown(url)) return write(`{url: ${url.example}}`);
  const isUrl = schema && schemaAt(schema, ['url'])?.safeParse(text).success;
  return isUrl ? write(`{url: ${JSON.stringify(text)}}`) : undefined;
}

const NO_QUOTES = 'write it without quotes and brackets, which only a file needs';

/** An environment variable holds the value alone, without `key:` and quotes. */
function suggestInVariable(
  schema: z.ZodType | undefined,
  description: FieldDescription | undefined,
  node: SourceNode,
): string | undefined {
  const hint = description && hintFor(description, node);
  if (hint !== undefined) return `write ${unquoted(hint)}`;
  const item = itemOf(schema);
  const described = description ?? (item && descriptions.get(item));
  if (/^["'[].*["'\]]$/s.test(node.kind === 'text' ? node.text : '')) return NO_QUOTES;
  const example = described && exampleInVariable(described);
  if (example !== undefined) return `write ${example}, for instance`;
  return description && correctVariable(description, node);
}

/** For a secret that already comes from a variable, as its example proposes. */
function correctVariable(
  description: FieldDescription,
  node: SourceNode | undefined,
): string | undefined {
  const names = variablesOf(node);
  const isSecret = exampleInVariable(description) === undefined;
  return isSecret && names !== undefined ? `correct the value of ${names}` : undefined;
}

/** The value that was probably meant, unless it would show what must not be shown. */
const hintFor = (
  { secret, hint }: FieldDescription,
  node: SourceNode | undefined,
): string | undefined =>
  node?.kind === 'text' && node.written === undefined && secret !== true
    ? hint?.(node.text)
    : undefined;

/** Every place of a key, whether it has a value or further keys. */
function pathsOf(schema: z.ZodType, key: string): string[] {
  const found = keysOf(schema).flatMap((path) => {
    const parts = path.split('.');
    const at = parts.findLastIndex((part) => part.replace('[]', '') === key);
    return at === -1 ? [] : [[...parts.slice(0, at), key].join('.')];
  });
  return [...new Set(found)];
}
