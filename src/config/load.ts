import { readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Config } from './config.ts';
import { crossChecks } from './cross-checks.ts';
import {
  configFileOf,
  type Environment,
  doubtfulValues,
  environmentWarnings,
  inEnvironment,
  readEnvironment,
  shopsTwice,
  variablesInEffect,
} from './environment.ts';
import { explain } from './explain.ts';
import { nodeAt, overlay, plainValue } from './layers.ts';
import { showPath, showPosition, whyUnreadable, type Mistake } from './mistakes.ts';
import { configSchema } from './schema.ts';
import { type Emptied, readSource, type Source, type SourceNode } from './source-tree.ts';
import { isOfShop, VARIABLES } from './variables.ts';
import { warningsOf } from './warnings.ts';

export interface LoadOptions {
  /**
   * The file that overrides the defaults. By default, the file that `SLUICE_CONFIG` names, if any.
   */
  readonly file?: string;
  readonly env: Environment;
  readonly defaultsPath?: string;
  /** Reject a pipe or a device: reading one would block a running gateway. */
  readonly regularFileOnly?: boolean;
}

export type Loaded =
  | {
      readonly ok: true;
      readonly config: Config;
      readonly warnings: readonly string[];
      /** The names of the environment variables that set a value, by path: `shops[0].name`. */
      readonly variables: ReadonlyMap<string, string>;
    }
  | {
      readonly ok: false;
      readonly mistakes: readonly Mistake[];
      /** Of variables, one of which may be the missing one misspelt. */
      readonly warnings?: readonly string[];
    };

/** Both `src/config` and `dist/config` are two folders below the root. */
const DEFAULTS = fileURLToPath(new URL('../../config/default.yaml', import.meta.url));

/** Enough for thousands of shops. The read is synchronous, so a larger file is rejected. */
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * Reads `config/default.yaml`, then lays the values of environment variables and the operator's
 * file over it, in this order, and validates the result. A container image can set variables, and
 * the file overrides them. Never throws for the content of the files: all mistakes are returned at
 * once.
 */
export function loadConfig(options: LoadOptions): Loaded {
  const { env, source: environment } = readEnvironment(options.env);
  const overrideFile = options.file ?? configFileOf(env);
  const { defaultsPath = DEFAULTS } = options;
  const defaults = readFile(defaultsPath, { ...options, env });
  const override =
    overrideFile === undefined || overrideFile === ''
      ? undefined
      : readFile(overrideFile, { ...options, env });

  const root = overlay(overlay(defaults.root, environment.root), override?.root);
  const sources = [defaults, environment, ...(override ? [override] : [])];
  const reported = sources.flatMap(({ mistakes }) => mistakes);
  const broken = sources.flatMap((source) => source.broken).map(showPath);
  // If a document cannot be parsed, its values cannot be checked.
  const ofVariables = [
    ...environmentWarnings(env, new Set(sources.flatMap(({ names }) => names))),
    ...doubtfulValues(env),
  ];
  if (broken.includes('')) {
    return { ok: false, mistakes: inOrder(reported), warnings: ofVariables };
  }

  const parsed = configSchema.safeParse(plainValue(root) ?? {});
  const found = parsed.success ? [] : explain(configSchema, root, parsed.error.issues);
  const mistakes = [
    ...reported,
    ...shopsTwice(environment, override),
    ...[...found, ...crossChecks(root, defaultsPath).filter(isNoneOf(found))]
      .filter(isNotReportedYet(broken))
      .map((mistake) => inEnvironment(mistake, root, env))
      .map((mistake) => withEmptyVariable(mistake, root, override?.emptied)),
  ];
  if (!parsed.success || mistakes.length > 0) {
    return { ok: false, mistakes: inOrder(mistakes), warnings: ofVariables };
  }
  const config: Config = deepFreeze(parsed.data);
  const warnings = [
    ...ofVariables,
    ...overruled(environment, override),
    ...(override?.doubts ?? []),
    ...emptyVariables(root, override?.emptied),
    ...warningsOf(config),
  ];
  return { ok: true, config, warnings, variables: variablesInEffect(environment.root, root) };
}

/** Warns when the file overrides a variable. Shops are not merged: `shopsTwice`. */
function overruled(environment: Source, override: Source | undefined): string[] {
  return VARIABLES.filter((variable) => !isOfShop(variable)).flatMap(({ name, path }) => {
    const ours = nodeAt(environment.root, path);
    const theirs = nodeAt(override?.root, path);
    if (ours === undefined || theirs === undefined || isSame(ours, theirs)) return [];
    return [`${name} is ignored: ${showPath(path)} in ${showPosition(theirs.place)} overrides it`];
  });
}

/** Of a value that may be missing. */
const emptyVariables = (root: SourceNode | undefined, emptied: readonly Emptied[] = []): string[] =>
  emptied
    .filter(({ path, isMeant }) => !isMeant && nodeAt(root, path) === undefined)
    .map(({ path, names }) => `${showPath(path)} is not set: ${names.join(' and ')} is empty`);

const isSame = (one: SourceNode, other: SourceNode): boolean =>
  JSON.stringify(plainValue(one)) === JSON.stringify(plainValue(other));

function readFile(file: string, { env, regularFileOnly = false }: LoadOptions): Source {
  let text: string;
  try {
    const stats = statSync(file);
    if (regularFileOnly && !stats.isFile()) {
      const found = stats.isDirectory() ? 'a folder' : 'a pipe or a device';
      return unusable(file, 'a regular file', found);
    }
    if (stats.size > MAX_BYTES) {
      return unusable(file, `a file of at most ${MAX_BYTES} bytes`, `${stats.size} bytes`);
    }
    const bytes = readFileSync(file);
    if (bytes.includes(0)) return unusable(file, 'a text in UTF-8', 'one in UTF-16, or no text');
    text = bytes.toString('utf8');
  } catch (error) {
    return unusable(file, 'a readable file', whyUnreadable(error));
  }
  return readSource(file, text, env);
}

const unusable = (file: string, expected: string, found: string): Source => ({
  root: undefined,
  mistakes: [{ path: '', place: { file }, expected, found }],
  broken: [[]],
  names: [],
  emptied: [],
  doubts: [],
});

/** A value that is missing because its variable is empty. */
function withEmptyVariable(
  mistake: Mistake,
  root: SourceNode | undefined,
  emptied: readonly Emptied[] = [],
): Mistake {
  const found = emptied.find(({ path }) => showPath(path) === mistake.path);
  const node = found && nodeAt(root, found.path);
  const isGiven = node !== undefined && !(node.kind === 'text' && node.text === '');
  if (found === undefined || isGiven) return mistake;
  const names = found.names.join(' and ');
  return {
    ...mistake,
    place: found.place,
    found: `the variable ${names}, which is empty`,
    fix: `set ${names}`,
  };
}

/** A value that could not be parsed is reported once, and not again as missing. */
const isNotReportedYet =
  (broken: readonly string[]) =>
  ({ path }: Mistake): boolean =>
    !broken.some((at) => path === at || path.startsWith(`${at}.`) || path.startsWith(`${at}[`));

/** What is wrong with a value already is not looked at as a file. */
const isNoneOf =
  (found: readonly Mistake[]) =>
  ({ path }: Mistake): boolean =>
    !found.some((mistake) => mistake.path === path);

function inOrder(mistakes: readonly Mistake[]): Mistake[] {
  return mistakes.toSorted(
    (a, b) =>
      (a.place?.file ?? '').localeCompare(b.place?.file ?? '') ||
      (a.place?.line ?? 0) - (b.place?.line ?? 0) ||
      (a.place?.column ?? 0) - (b.place?.column ?? 0),
  );
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(deepFreeze);
  }
  return value;
}
