import type { Path } from './mistakes.ts';
import type { MapEntry, SourceNode } from './source-tree.ts';

/**
 * Lays one document over another: mappings are merged key by key, lists and scalars are replaced. A
 * key without a value keeps the value below. Every value keeps the position where it was written.
 */
export function overlay(
  base: SourceNode | undefined,
  over: SourceNode | undefined,
): SourceNode | undefined {
  if (over === undefined) return base;
  if (base?.kind !== 'map' || over.kind !== 'map') return over;
  const entries = new Map<string, MapEntry>(base.entries);
  for (const [key, entry] of over.entries) {
    entries.set(key, {
      keyPlace: entry.keyPlace,
      value: overlay(base.entries.get(key)?.value, entry.value),
    });
  }
  return { kind: 'map', place: over.place, entries };
}

/** The document as plain values, without keys that have no value. */
export function plainValue(node: SourceNode | undefined): unknown {
  switch (node?.kind) {
    case undefined:
      return undefined;
    case 'text':
      return node.text;
    case 'list':
      return node.items.map(plainValue);
    case 'map':
      return Object.fromEntries(
        [...node.entries]
          .filter(([, entry]) => entry.value !== undefined)
          .map(([key, entry]) => [key, plainValue(entry.value)]),
      );
  }
}

/** The value at a path, or undefined. */
export function nodeAt(root: SourceNode | undefined, path: Path): SourceNode | undefined {
  let node = root;
  for (const part of path) {
    if (node?.kind === 'map') node = node.entries.get(String(part))?.value;
    else if (node?.kind === 'list' && typeof part === 'number') node = node.items[part];
    else return undefined;
  }
  return node;
}

/**
 * The position of a path: that of its value, else of its key, else of the nearest mapping around
 * it.
 */
export function nearestNode(root: SourceNode | undefined, path: Path): SourceNode | undefined {
  for (let length = path.length; length > 0; length -= 1) {
    const node = nodeAt(root, path.slice(0, length));
    if (node !== undefined) return node;
  }
  return root;
}

export interface Located {
  readonly path: Path;
  readonly node: Extract<SourceNode, { kind: 'text' }>;
}

/** Every scalar whose path fits the pattern; `*` stands for any one key or index. */
export function scalarsAt(root: SourceNode | undefined, pattern: Path, path: Path = []): Located[] {
  if (root === undefined) return [];
  const [head, ...rest] = pattern;
  if (head === undefined) return root.kind === 'text' ? [{ path, node: root }] : [];
  if (root.kind === 'list' && head === '*') {
    return root.items.flatMap((item, index) => scalarsAt(item, rest, [...path, index]));
  }
  if (root.kind !== 'map') return [];
  const keys = head === '*' ? [...root.entries.keys()] : [String(head)];
  return keys.flatMap((key) => scalarsAt(root.entries.get(key)?.value, rest, [...path, key]));
}
