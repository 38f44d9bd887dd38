import type { z } from 'zod';
import { writtenDuration } from '../config/duration.ts';
import { schemaAt } from '../config/explain.ts';
import { descriptions, type FieldDescription } from '../config/field.ts';
import { configSchema } from '../config/schema.ts';
import { Secret } from '../config/secret.ts';
import { shownUrl } from '../operations/doctor/public-url.ts';
import type { ConfigLeaf } from './config-leaves.ts';

/** What stands for a secret that is set. */
export const MASK = '••••';

export interface ShownValue {
  readonly value: string;
  readonly secret: boolean;
}

/**
 * A value of the configuration as people may see it: durations with their unit, lists with commas,
 * a secret as a mask. What is no secret by its type, but could carry one, is looked at too: a URL
 * loses its user, its password and what looks like a token.
 */
export function shownValue({ at, value }: Pick<ConfigLeaf, 'at' | 'value'>): ShownValue {
  const items: readonly unknown[] = Array.isArray(value) ? value : [value];
  const description = descriptionAt(at);
  return {
    value: items.map((item) => shownItem(item, description)).join(', '),
    // An empty list of secrets is a secret that is not set.
    secret:
      items.some((item) => item instanceof Secret) ||
      (Array.isArray(value) && description?.secret === true),
  };
}

function shownItem(item: unknown, description: FieldDescription | undefined): string {
  if (item instanceof Secret) return MASK;
  if (typeof item === 'number' && description?.expected.includes('a duration') === true) {
    return writtenDuration(item);
  }
  if (typeof item === 'string') return item.includes('://') ? shownUrl(item) : item;
  return typeof item === 'number' || typeof item === 'boolean' ? String(item) : MASK;
}

function descriptionAt(at: ConfigLeaf['at']): FieldDescription | undefined {
  const schema: z.ZodType | undefined = schemaAt(configSchema, at);
  const item = schema && schemaAt(schema, [0]);
  return (schema && descriptions.get(schema)) ?? (item && descriptions.get(item));
}
