import type { CompleteConfig } from '../config/complete.ts';

/**
 * What a reload takes up; everything else needs a restart, and is told so. Each path stands for all
 * below it. `docs/reload.md` has the same list for operators, and a test that compares the two.
 */
export const TAKEN_UP: readonly string[] = [
  'log.level',
  'http.publicUrl',
  'http.trustProxy',
  'admin.password',
  'admin.operators',
  'admin.metricsToken',
  'spool.retain',
  'delivery',
  'platform',
  'alerts',
  'shops',
];

/** What is no key of the file and goes with the shops. */
const WITH_THE_SHOPS = 'demo';

export function isTakenUp(path: string): boolean {
  return path === WITH_THE_SHOPS || TAKEN_UP.some((each) => isWithin(path, each));
}

/** `shops[acme].email` is within `shops`, and `delivery` within itself. */
export function isWithin(path: string, whole: string): boolean {
  return path === whole || path.startsWith(`${whole}.`) || path.startsWith(`${whole}[`);
}

/** What runs after a reload: the new values of what is taken up, the old ones of all else. */
export function merged(running: CompleteConfig, next: CompleteConfig): CompleteConfig {
  // Both have the type, and so has each key of the result.
  return mergedAt('', running, next) as CompleteConfig;
}

function mergedAt(path: string, running: unknown, next: unknown): unknown {
  if (isTakenUp(path)) return next;
  if (!isMapping(running) || !isMapping(next)) return running;
  const keys = new Set([...Object.keys(running), ...Object.keys(next)]);
  const pairs = [...keys].map((key): [string, unknown] => {
    const below = path === '' ? key : `${path}.${key}`;
    return [key, mergedAt(below, running[key], next[key])];
  });
  return Object.fromEntries(pairs.filter(([, value]) => value !== undefined));
}

/** Not a list, and not an object of a class, such as a secret. */
function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return (
    typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
  );
}
