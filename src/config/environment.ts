import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { descriptions, exampleInVariable, nearest } from './field.ts';
import { nodeAt } from './layers.ts';
import {
  showPath,
  type SourcePosition,
  whyUnreadable,
  type Mistake,
  type Path,
} from './mistakes.ts';
import { itemOf, schemaAt } from './schema-paths.ts';
import { configSchema } from './schema.ts';
import type { MapEntry, Source, SourceNode } from './source-tree.ts';
import { IN_FILE_ONLY, isOfShop, VARIABLES, variableAt, type Variable } from './variables.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Names the configuration file. A `_FILE` variant of it does not exist. */
const CONFIG_FILE = 'SLUICE_CONFIG';

const FROM_FILE = '_FILE';
/** Enough for any secret or single value; a larger file was named by mistake. */
const MAX_BYTES = 64 * 1024;

/** The file that `SLUICE_CONFIG` names. An empty variable counts as unset, here and below. */
export const configFileOf = (env: Environment): string | undefined => env[CONFIG_FILE] ?? undefined;

export interface ReadEnvironment {
  /** The environment with the contents of `_FILE` variables added; used for `${NAME}` too. */
  readonly env: Environment;
  /**
   * The keys that variables set. They override the defaults, and the operator's file overrides
   * them.
   */
  readonly source: Source;
}

/**
 * Reads the variables that set keys. Each has a variant with `_FILE` after its name, which holds the
 * path of a file with the value. Mistakes are reported in `source.mistakes`.
 */
export function readEnvironment(env: Environment): ReadEnvironment {
  const resolved: Record<string, string | undefined> = { ...env };
  const mistakes: Mistake[] = [];
  const broken: Path[] = [];
  let root: SourceNode | undefined;
  for (const variable of VARIABLES) {
    const { name, path } = variable;
    const file = env[name + FROM_FILE] ?? undefined;
    const result = file === undefined ? { text: env[name] } : fromFile(env, name, file);
    if ('mistake' in result) {
      mistakes.push({ path: showPath(path), ...result.mistake });
      broken.push(path);
      continue;
    }
    resolved[name] = result.text;
    if (result.text === undefined || result.text === '') continue;
    if (isOfKubernetes(name, env[name])) continue;
    root = withValue(root, path, valueOf(variable, result.text, file));
  }
  return { env: resolved, source: { root, mistakes, broken, names: [], emptied: [], doubts: [] } };
}

function valueOf({ name, isList }: Variable, text: string, file: string | undefined): SourceNode {
  const place = placeOf(file === undefined ? name : name + FROM_FILE);
  // The file may hold a secret that was assigned to the wrong key, so its content is not shown.
  const written = file === undefined ? {} : { written: `the content of ${file}` };
  if (!isList) return { kind: 'text', place, text, ...written };
  const items = text
    .split(/[,\r\n]/)
    .map((item) => item.trim())
    .filter((item) => item !== '');
  return {
    ...{ kind: 'list', place },
    items: items.map((item) => ({ kind: 'text', place, text: item, ...written })),
  };
}

const placeOf = (variable: string): SourcePosition => ({
  file: `the environment, ${variable}`,
  variable,
});

type FromFile =
  | { readonly text: string }
  | { readonly mistake: Pick<Mistake, 'expected' | 'found' | 'fix'> };

function fromFile(env: Environment, name: string, file: string): FromFile {
  const variable = name + FROM_FILE;
  if (env[name]) {
    return {
      mistake: {
        expected: `${name} or ${variable}, not both`,
        found: 'both',
        fix: 'unset one of the two',
      },
    };
  }
  try {
    const text = readFileSync(file, 'utf8');
    if (text.length <= MAX_BYTES) return { text: text.replace(/\r?\n$/, '') };
    return {
      mistake: {
        expected: `a file of at most ${MAX_BYTES} bytes, named by ${variable}: ${resolve(file)}`,
        found: `${text.length} bytes`,
      },
    };
  } catch (error) {
    return {
      mistake: {
        // A secret that stands in its place is not shown.
        expected: `a readable file, named by ${variable}${file.includes('/') ? `: ${resolve(file)}` : ''}`,
        found: whyUnreadable(error),
        fix: `set ${variable} to the path of a file; for the value itself, set ${name}`,
      },
    };
  }
}

function withValue(root: SourceNode | undefined, path: Path, value: SourceNode): SourceNode {
  const [key, ...rest] = path;
  const { place } = value;
  if (key === undefined) return value;
  if (typeof key === 'number') {
    // The only index is that of the one shop.
    const [item] = root?.kind === 'list' ? root.items : [];
    return { kind: 'list', place, items: [withValue(item, rest, value)] };
  }
  const entries = new Map<string, MapEntry>(root?.kind === 'map' ? root.entries : []);
  const child = withValue(entries.get(key)?.value, rest, value);
  entries.set(key, { keyPlace: place, value: child });
  return { kind: 'map', place, entries };
}

/**
 * The keys whose value comes from a variable.
 * @param environment the variables alone
 * @param root all layers
 * @returns the names of the variables by path: `http.port`, `shops[0].name`
 */
export function variablesInEffect(
  environment: SourceNode | undefined,
  root: SourceNode | undefined,
): ReadonlyMap<string, string> {
  return new Map(
    VARIABLES.flatMap(({ path }) => {
      const own = nodeAt(environment, path);
      const name = own?.place.variable;
      const isInEffect = name !== undefined && nodeAt(root, path) === own;
      return isInEffect ? [[showPath(path), name] as const] : [];
    }),
  );
}

/** A mistake if both the file and variables describe shops: merging the two would surprise. */
export function shopsTwice(environment: Source, file: Source | undefined): Mistake[] {
  const shops = nodeAt(file?.root, ['shops']);
  // A variable that the file itself uses as ${NAME} describes no shop of its own.
  const names = VARIABLES.filter(isOfShop)
    .map(({ path }) => nodeAt(environment.root, path)?.place.variable)
    .filter((name) => name !== undefined)
    .filter((name) => file?.names.includes(name.replace(/_FILE$/, '')) !== true);
  if (shops === undefined || names.length === 0) return [];
  return [
    {
      ...{ path: 'shops', place: shops.place },
      expected: 'shops in the file, or one shop in SLUICE_SHOP_ variables, not both',
      found: `also ${names.join(', ')}`,
      fix: 'remove shops from the file, or unset these variables',
    },
  ];
}

/**
 * A key that is missing among variables is set by its variable, not by a line in a file.
 * @param env as `readEnvironment` returns it
 */
export function inEnvironment(
  mistake: Mistake,
  root: SourceNode | undefined,
  env: Environment,
): Mistake {
  const variable = variableAt(mistake.path);
  if (mistake.place?.variable === undefined || variable === undefined) return mistake;
  const { name, path } = variable;
  if (nodeAt(root, path) !== undefined) return mistake;
  const schema = schemaAt(configSchema, path);
  const description = schema && descriptions.get(itemOf(schema) ?? schema);
  const example = description && exampleInVariable(description);
  const fix = `set ${name}${example === undefined ? '' : ` to ${example}, for instance`}`;
  if (env[name] !== '') return { ...mistake, place: placeOf(name), fix };
  const file = env[name + FROM_FILE];
  return file === undefined
    ? { ...mistake, place: placeOf(name), found: `the variable ${name}, which is empty`, fix }
    : {
        ...{ ...mistake, place: placeOf(name + FROM_FILE) },
        ...{ found: `${resolve(file)}, which is empty`, fix: 'write the value into the file' },
      };
}

/**
 * Warns of variables that begin with `SLUICE_` and are not read: most are misspelt.
 * @param used names that the configuration file uses as `${NAME}`
 */
export function environmentWarnings(env: Environment, used: ReadonlySet<string>): string[] {
  const known = [CONFIG_FILE, ...VARIABLES.flatMap(({ name }) => [name, name + FROM_FILE])];
  const similar = [...known, ...IN_FILE_ONLY.keys()];
  return Object.entries(env)
    .filter(([name, value]) => name.startsWith('SLUICE_') && !isOfKubernetes(name, value))
    .filter(([name]) => !known.includes(name) && !used.has(name))
    .map(([name, value = '']) => {
      const near = /^postgres(?:ql)?:/.test(value)
        ? variableAt('spool.url')?.name
        : nearestVariable(name.replace(/^SLUICE_SHOPS_\d{1,4}_/, 'SLUICE_SHOP_'), similar);
      const inFile = IN_FILE_ONLY.get(near ?? '');
      const hint =
        inFile !== undefined
          ? `: ${inFile} is set in a file only`
          : near === undefined
            ? '; docs/configuration.md lists them'
            : `; did you mean ${near}?`;
      return `the environment variable ${name} is unknown and ignored${hint}`;
    });
}

/** By what follows `SLUICE_`; of a word that several end with, all of them. */
function nearestVariable(name: string, known: readonly string[]): string | undefined {
  const bare = (of: string): string => of.replace(/^SLUICE_/, '');
  const near = nearest(bare(name), known.map(bare));
  if (near !== undefined) return `SLUICE_${near}`;
  const longer = known.filter((each) => each.endsWith(`_${bare(name)}`));
  return longer.length > 0 && longer.length <= MOST_NAMED ? longer.join(' or ') : undefined;
}

const MOST_NAMED = 4;

/** What is read from a variable or its file, and is hardly meant so. */
export const doubtfulValues = (env: Environment): string[] =>
  VARIABLES.flatMap(({ name }) => {
    const value = env[name] ?? '';
    if (/^(["']).+\1$/s.test(value))
      return [`${name} has quotes around its value, which are taken as a part of it`];
    const file = env[name + FROM_FILE];
    return file !== undefined && env[name] === ''
      ? [`${name} is not set: ${resolve(file)} is empty`]
      : [];
  });

/**
 * The variables that Kubernetes sets in every pod for a service named `sluice` or `sluice-...`
 * (https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables).
 */
const isOfKubernetes = (name: string, value = ''): boolean =>
  /_SERVICE_(?:HOST|PORT)(?:_|$)/.test(name) ||
  /_PORT_\d+_(?:TCP|UDP|SCTP)(?:_|$)/.test(name) ||
  (name.endsWith('_PORT') && /^(?:tcp|udp|sctp):\/\//.test(value));
