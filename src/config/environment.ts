import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { nearest } from './field.ts';
import { showPath, type Mistake, type Path } from './mistakes.ts';
import type { MapEntry, Source, SourceNode } from './source-tree.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Names the configuration's file itself; the content of a file cannot. */
const CONFIG_FILE = 'SLUICE_CONFIG';

/**
 * The variables that set a key by themselves, without a line in the file. Each can be had from a file
 * too: the same name with `_FILE` holds its path.
 */
export const VARIABLES: ReadonlyMap<string, Path> = new Map([
  ['SLUICE_DATA_DIR', ['dataDir']],
  ['SLUICE_LOG_LEVEL', ['log', 'level']],
  ['SLUICE_LOG_FORMAT', ['log', 'format']],
  ['SLUICE_ADMIN_HOST', ['admin', 'host']],
  ['SLUICE_ADMIN_PASSWORD', ['admin', 'password']],
]);

const FROM_FILE = '_FILE';
/** A secret or a word; whoever names a larger file has named another one. */
const MAX_BYTES = 64 * 1024;

/** The file that `SLUICE_CONFIG` names. An empty variable counts as none, here and below. */
export const configFileOf = (env: Environment): string | undefined => env[CONFIG_FILE] ?? undefined;

export interface ReadEnvironment {
  /** With what stood in files; for `${NAME}` too. */
  readonly env: Environment;
  /** The keys that variables set: laid over the defaults, and under the operator's file. */
  readonly source: Source;
}

/** Reads the variables that set keys. What is wrong is in the mistakes of the source. */
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
    // What a file holds may be a secret that stands in the wrong place.
    const written = file === undefined ? {} : { written: `the content of ${file}` };
    root = withValue(root, path, { kind: 'text', place, text: result.text, ...written });
  }
  return { env: resolved, source: { root, mistakes, broken, names: [] } };
}

type FromFile =
  | { readonly text: string }
  | { readonly mistake: Pick<Mistake, 'expected' | 'came' | 'fix'> };

function fromFile(env: Environment, name: string, file: string): FromFile {
  const variable = name + FROM_FILE;
  if (env[name]) {
    return {
      mistake: {
        expected: `${name} or ${variable}, not both`,
        came: 'both',
        fix: 'unset one of the two',
      },
    };
  }
  try {
    const text = readFileSync(file, 'utf8');
    if (text.length <= MAX_BYTES) return { text: text.replace(/\r?\n$/, '') };
    return {
      mistake: {
        expected: `a file of at most ${MAX_BYTES} bytes, in ${variable}: ${resolve(file)}`,
        came: `${text.length} bytes`,
      },
    };
  } catch (error) {
    const hasCode = typeof error === 'object' && error !== null && 'code' in error;
    return {
      mistake: {
        expected: `a file that can be read, in ${variable}: ${resolve(file)}`,
        came: hasCode ? String(error.code) : 'unknown',
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
 * A variable that has our name and that nothing reads is a mistyped one, as a rule.
 * @param used names that the configuration's file takes by `${NAME}`
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
      return `the environment variable ${name} is not known and does nothing${hint}`;
    });
}

/**
 * What Kubernetes sets in every pod beside a service of the name `sluice` or `sluice-...`
 * (https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables).
 */
const isOfKubernetes = (name: string, value = ''): boolean =>
  /_SERVICE_HOST$|_SERVICE_PORT(?:_[A-Z0-9_]+)?$|_PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?$/.test(
    name,
  ) ||
  (name.endsWith('_PORT') && /^(?:tcp|udp|sctp):\/\//.test(value));
