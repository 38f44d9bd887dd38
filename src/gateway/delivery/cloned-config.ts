import type { CompleteConfig } from '../../config/complete.ts';
import { Secret } from '../../config/secret.ts';
import { isMapping } from '../config-leaves.ts';

/** The key of a secret in a clone: a structured clone has no classes. */
const SECRET = ' secret';

/** A configuration as it can be passed to another thread of this process. */
export interface ClonedConfig {
  readonly cloned: unknown;
}

/** Its secrets are in it in plain text: it is for another thread of this process alone. */
export const toClone = (config: CompleteConfig): ClonedConfig => ({
  cloned: mapped(config, (value) =>
    value instanceof Secret ? { [SECRET]: value.reveal() } : undefined,
  ),
});

/** The configuration of which `toClone` made a clone. */
export function fromClone({ cloned }: ClonedConfig): CompleteConfig {
  // Made by `toClone`.
  return mapped(cloned, (value) =>
    isMapping(value) && typeof value[SECRET] === 'string' ? new Secret(value[SECRET]) : undefined,
  ) as CompleteConfig;
}

/** @param replaced the value instead of this one; undefined for what is below it */
function mapped(value: unknown, replaced: (value: unknown) => unknown): unknown {
  const other = replaced(value);
  if (other !== undefined) return other;
  if (Array.isArray(value)) return value.map((item) => mapped(item, replaced));
  if (!isMapping(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, mapped(each, replaced)]),
  );
}
