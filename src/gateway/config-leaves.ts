import { Secret } from '../config/secret.ts';

/** One value of a configuration; a list of scalars counts as one value. */
export interface ConfigLeaf {
  /** `smtp.port`, `shops[acme].email.addresses`: shops are shown by name rather than index. */
  readonly path: string;
  /** The same path as the schema counts it: `['shops', 0, 'email', 'addresses']`. */
  readonly at: readonly (string | number)[];
  readonly value: unknown;
}

/** All values of a configuration, in its order. */
export function leavesOf(config: object): ConfigLeaf[] {
  return below('', [], config);
}

function below(path: string, at: readonly (string | number)[], value: unknown): ConfigLeaf[] {
  if (value === undefined) return [];
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value;
    if (!items.some(isMapping)) return [{ path, at, value: items }];
    return items.flatMap((item, index) =>
      below(`${path}[${nameOf(item) ?? index}]`, [...at, index], item),
    );
  }
  if (!isMapping(value)) return [{ path, at, value }];
  return Object.entries(value).flatMap(([key, each]) =>
    below(path === '' ? key : `${path}.${key}`, [...at, key], each),
  );
}

/** A plain object: not a list, and not an instance of a class such as a secret. */
export const isMapping = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;

const isSecret = (value: unknown): value is Secret => value instanceof Secret;

function nameOf(item: unknown): string | undefined {
  const name = isMapping(item) ? item['name'] : undefined;
  return typeof name === 'string' ? name : undefined;
}

/**
 * The paths at which two configurations differ, in order and without duplicates. A shop that only
 * one of them has is one path. No value is returned; secrets are compared by their content.
 */
export function changedPaths(before: object, after: object): string[] {
  const [old, now] = [comparable(before), comparable(after)];
  const paths = [...new Set([...old.keys(), ...now.keys()])]
    .filter((path) => old.get(path) !== now.get(path))
    .map((path) => {
      const shop = /^shops\[[^\]]*\]/.exec(path)?.[0];
      return shop !== undefined && hasShop(old, shop) !== hasShop(now, shop) ? shop : path;
    });
  return [...new Set(paths)].toSorted();
}

const hasShop = (leaves: ReadonlyMap<string, string>, shop: string): boolean =>
  leaves.has(`${shop}.shopId`);

/**
 * The values as texts that are equal if and only if the values are. They contain secrets, so use
 * them for comparison only.
 */
function comparable(config: object): ReadonlyMap<string, string> {
  return new Map(
    leavesOf(config).map(({ path, value }) => [
      path,
      JSON.stringify(Array.isArray(value) ? value.map(plain) : plain(value)),
    ]),
  );
}

const plain = (value: unknown): unknown => (isSecret(value) ? value.reveal() : value);
