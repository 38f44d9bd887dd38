import { z } from 'zod';
import { showPath, type Path } from './mistakes.ts';
import { keysOf, schemaAt } from './schema-paths.ts';
import { configSchema } from './schema.ts';

/** An environment variable that sets a key, so that no file need contain it. */
export interface Variable {
  readonly name: string;
  readonly path: Path;
  /** The key takes a list: commas or line breaks separate the items. */
  readonly isList: boolean;
}

/** The one shop that variables can describe. */
const SHOP: Path = ['shops', 0];
/** Left out of a name, from when texts had one provider. */
const LEFT_OUT: ReadonlySet<string | number> = new Set(['twilio']);

/**
 * A variable for every key that is reachable without the index of a list, and for those of a single
 * shop. A new key of the schema has its variable by itself.
 */
export const VARIABLES: readonly Variable[] = keysOf(configSchema).flatMap((key) => {
  const inShop = key.startsWith('shops[].');
  const rest = inShop ? key.slice('shops[].'.length) : key;
  if (rest.includes('[]')) return [];
  const path = [...(inShop ? SHOP : []), ...rest.split('.')];
  return [{ name: nameOf(path), path, isList: schemaAt(configSchema, path) instanceof z.ZodArray }];
});

/** The lists of mappings, which no variable sets, by the names that their variables would have. */
export const IN_FILE_ONLY: ReadonlyMap<string, string> = new Map(
  keysOf(configSchema).flatMap((key) => {
    const [, path] = /^((?:shops\[\]\.)?[^[]*)\[\]/.exec(key) ?? [];
    return path === undefined || path === 'shops'
      ? []
      : [[nameOf(path.replace('shops[]', 'shop').split('.')), path] as const];
  }),
);

export const isOfShop = ({ path }: Variable): boolean => path[0] === SHOP[0];

const byPath: ReadonlyMap<string, Variable> = new Map(
  VARIABLES.map((variable) => [showPath(variable.path), variable]),
);

/** The variable of a key, which is written as in a mistake: `shops[0].email.addresses`. */
export const variableAt = (path: string): Variable | undefined => byPath.get(path);

/**
 * `delivery.giveUpAfter` is `SLUICE_DELIVERY_GIVE_UP_AFTER`, and `shops[0].shopId` is
 * `SLUICE_SHOP_ID`: a word that repeats the one before it is written once.
 */
function nameOf(path: Path): string {
  const words = path
    .filter((part) => typeof part === 'string' && !LEFT_OUT.has(part))
    .map((part) => (part === 'shops' ? 'shop' : String(part)))
    .flatMap((part) => part.split(/(?<=[a-z0-9])(?=[A-Z])/))
    .map((word) => word.toUpperCase());
  return ['SLUICE', ...words.filter((word, at) => word !== words[at - 1])].join('_');
}
