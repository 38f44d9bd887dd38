import { Secret } from '../config/secret.ts';

/** One value of a configuration, a list of scalars as a whole. */
export interface ConfigLeaf {
  /** `smtp.port`, `shops[acme].email.addresses`: a shop by its name, which is what people know. */
  readonly path: string;
  /** The same as the schema counts: `['shops', 0, 'email', 'addresses']`. */
  readonly at: readonly (string | number)[];
  readonly value: unknown;
}

/** Every value of a configuration, in its order. */
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

const isMapping = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !isSecret(value);

const isSecret = (value: unknown): value is Secret => value instanceof Secret;

function nameOf(item: unknown): string | undefined {
  const name = isMapping(item) ? item['name'] : undefined;
  return typeof name === 'string' ? name : undefined;
}

/**
 * The paths at which two configurations differ, in order, each once. A shop that only one of them
 * has is one path. No value is in the answer, and secrets are compared by what they hold.
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

/** The values as texts that are equal when the values are. They hold secrets: for comparing only. */
function comparable(config: object): ReadonlyMap<string, string> {
  return new Map(
    leavesOf(config).map(({ path, value }) => [
      path,
      JSON.stringify(Array.isArray(value) ? value.map(plain) : plain(value)),
    ]),
  );
}

const plain = (value: unknown): unknown => (isSecret(value) ? value.reveal() : value);
