import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { nearest } from './field.ts';
import { showPath, whyUnreadable, type Mistake, type Path } from './mistakes.ts';
import type { MapEntry, Source, SourceNode } from './source-tree.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Names the configuration file. A `_FILE` variant of it does not exist. */
const CONFIG_FILE = 'SLUICE_CONFIG';

/**
 * The variables that set a key, so that the file need not contain it. Each has a variant with
 * `_FILE` after its name, which holds the path of a file with the value.
 */
export const VARIABLES: ReadonlyMap<string, Path> = new Map([
  ['SLUICE_DATA_DIR', ['dataDir']],
  ['SLUICE_SPOOL_URL', ['spool', 'url']],
  ['SLUICE_LOG_LEVEL', ['log', 'level']],
  ['SLUICE_LOG_FORMAT', ['log', 'format']],
  ['SLUICE_ADMIN_HOST', ['admin', 'host']],
  ['SLUICE_ADMIN_PASSWORD', ['admin', 'password']],
]);

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

/** Reads the variables that set keys. Mistakes are reported in `source.mistakes`. */
export function readEnvironment(env: Environment): ReadEnvironment {
  const resolved: Record<string, string | undefined> = { ...env };
  const mistakes: Mistake[] = [];
  const broken: Path[] = [];
  let root: SourceNode | undefined;
  for (const [name, path] of VARIABLES) {
    const file = env[name + FROM_FILE] ?? undefined;
    const result = file === undefined ? { text: env[name] } : fromFile(env, name, file);
    if ('mistake' in result) {
      mistakes.push({ path: showPath(path), ...result.mistake });
      broken.push(path);
      continue;
    }
    resolved[name] = result.text;
    if (result.text === undefined || result.text === '') continue;
    const place = { file: `the environment, ${file === undefined ? name : name + FROM_FILE}` };
    // The file may hold a secret that was assigned to the wrong key, so its content is not shown.
    const written = file === undefined ? {} : { written: `the content of ${file}` };
    root = withValue(root, path, { kind: 'text', place, text: result.text, ...written });
  }
  return { env: resolved, source: { root, mistakes, broken, names: [] } };
}

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
        expected: `a readable file, named by ${variable}: ${resolve(file)}`,
        found: whyUnreadable(error),
      },
    };
  }
}

function withValue(root: SourceNode | undefined, path: Path, value: SourceNode): SourceNode {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  const entries = new Map<string, MapEntry>(root?.kind === 'map' ? root.entries : []);
  const child = withValue(entries.get(String(key))?.value, rest, value);
  entries.set(String(key), { keyPlace: value.place, value: child });
  return { kind: 'map', place: value.place, entries };
}

/**
 * Warns of variables that begin with `SLUICE_` and are not read: most are misspelt.
 * @param used names that the configuration file uses as `${NAME}`
 */
export function environmentWarnings(env: Environment, used: ReadonlySet<string>): string[] {
  const known = [CONFIG_FILE, ...[...VARIABLES.keys()].flatMap((name) => [name, name + FROM_FILE])];
  return Object.entries(env)
    .filter(([name, value]) => name.startsWith('SLUICE_') && !isOfKubernetes(name, value))
    .filter(([name]) => !known.includes(name) && !used.has(name))
    .map(([name]) => {
      const near = nearest(name, known);
      const hint =
        near === undefined
          ? `; there are ${CONFIG_FILE}, ${[...VARIABLES.keys()].join(', ')}`
          : `; did you mean ${near}?`;
      return `the environment variable ${name} is unknown and ignored${hint}`;
    });
}

/**
 * The variables that Kubernetes sets in every pod for a service named `sluice` or `sluice-...`
 * (https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables).
 */
const isOfKubernetes = (name: string, value = ''): boolean =>
  /_SERVICE_HOST$|_SERVICE_PORT(?:_[A-Z0-9_]+)?$|_PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?$/.test(
    name,
  ) ||
  (name.endsWith('_PORT') && /^(?:tcp|udp|sctp):\/\//.test(value));
