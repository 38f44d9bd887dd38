import { readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Config } from './config.ts';
import { crossChecks } from './cross-checks.ts';
import {
  configFileOf,
  type Environment,
  environmentWarnings,
  readEnvironment,
  VARIABLES,
} from './environment.ts';
import { explain } from './explain.ts';
import { nodeAt, overlay, plainValue } from './layers.ts';
import { showPath, showPlace, type Mistake } from './mistakes.ts';
import { configSchema } from './schema.ts';
import { readSource, type Source } from './source-tree.ts';
import { warningsOf } from './warnings.ts';

export interface LoadOptions {
  /** The file that overrides the defaults; without it `SLUICE_CONFIG` names one, or there is none. */
  readonly file?: string;
  readonly env: Environment;
  readonly defaultsPath?: string;
  /** A pipe or a device is a mistake: a process that has other things to do would wait at it. */
  readonly regularFileOnly?: boolean;
}

export type Loaded =
  | { readonly ok: true; readonly config: Config; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly mistakes: readonly Mistake[] };

/** Both `src/config` and `dist/config` stand two folders below `config/`. */
const DEFAULTS = fileURLToPath(new URL('../../config/default.yaml', import.meta.url));

/** Room for thousands of shops; what is larger is another file, and reading it stops everything. */
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * Reads `config/default.yaml`, lays what environment variables set over it, then the operator's file,
 * and checks the whole: a container image sets variables, and the file has the last word. Never
 * throws for what stands in the files: everything that is wrong is in `mistakes`, all at once.
 */
export function loadConfig(options: LoadOptions): Loaded {
  const { env, source: environment } = readEnvironment(options.env);
  const overrideFile = options.file ?? configFileOf(env);
  const defaults = readFile(options.defaultsPath ?? DEFAULTS, { ...options, env });
  const override =
    overrideFile === undefined || overrideFile === ''
      ? undefined
      : readFile(overrideFile, { ...options, env });

  const root = overlay(overlay(defaults.root, environment.root), override?.root);
  const sources = [defaults, environment, ...(override ? [override] : [])];
  const reported = sources.flatMap(({ mistakes }) => mistakes);
  const broken = sources.flatMap((source) => source.broken).map(showPath);
  // A document that cannot be read says nothing about its values.
  if (broken.includes('')) return { ok: false, mistakes: inOrder(reported) };

  const parsed = configSchema.safeParse(plainValue(root) ?? {});
  const found = parsed.success ? [] : explain(configSchema, root, parsed.error.issues);
  const mistakes = [...reported, ...[...found, ...crossChecks(root)].filter(isNews(broken))];
  if (!parsed.success || mistakes.length > 0) return { ok: false, mistakes: inOrder(mistakes) };
  const config: Config = deepFreeze(parsed.data);
  const used = new Set(sources.flatMap(({ names }) => names));
  const warnings = [
    ...environmentWarnings(env, used),
    ...overruled(environment, override),
    ...warningsOf(config),
  ];
  return { ok: true, config, warnings };
}

/** Whoever sets a variable does not expect that it does nothing. */
function overruled(environment: Source, override: Source | undefined): string[] {
  return [...VARIABLES].flatMap(([name, path]) => {
    const ours = nodeAt(environment.root, path);
    const theirs = nodeAt(override?.root, path);
    if (ours?.kind !== 'text' || theirs?.kind !== 'text' || ours.text === theirs.text) return [];
    return [`${name} does nothing: ${showPath(path)} in ${showPlace(theirs.place)} says otherwise`];
  });
}

function readFile(file: string, { env, regularFileOnly = false }: LoadOptions): Source {
  let text: string;
  try {
    const stats = statSync(file);
    if (regularFileOnly && !stats.isFile()) {
      const came = stats.isDirectory() ? 'a folder' : 'a pipe or a device';
      return unusable(`a regular file: ${file}`, came);
    }
    if (stats.size > MAX_BYTES) {
      return unusable(`a file of at most ${MAX_BYTES} bytes: ${file}`, `${stats.size} bytes`);
    }
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const hasCode = typeof error === 'object' && error !== null && 'code' in error;
    const code = hasCode ? String(error.code) : 'unknown';
    return unusable(`a file that can be read: ${file}`, code);
  }
  return readSource(file, text, env);
}

const unusable = (expected: string, came: string): Source => ({
  root: undefined,
  mistakes: [{ path: '', expected, came }],
  broken: [[]],
  names: [],
});

/** A value that could not even be read is reported once, not once more as missing. */
const isNews =
  (broken: readonly string[]) =>
  ({ path }: Mistake): boolean =>
    !broken.some((at) => path === at || path.startsWith(`${at}.`) || path.startsWith(`${at}[`));

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
