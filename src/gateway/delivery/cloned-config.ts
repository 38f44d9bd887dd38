import type { CompleteConfig } from '../../config/complete.ts';
import { Secret } from '../../config/secret.ts';

/** The key of a secret in a configuration that goes to another thread, which loses its class. */
const SECRET = ' secret';

/** A configuration as it can be passed to another thread of this process. */
export interface ClonedConfig {
  readonly cloned: unknown;
}

export const toClone = (config: CompleteConfig): ClonedConfig => ({
  cloned: mapped(config, (value) =>
    value instanceof Secret ? { [SECRET]: value.reveal() } : undefined,
  ),
});

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

const isMapping = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
