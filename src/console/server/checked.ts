import type { z } from 'zod';
import { Refusal } from './refusal.ts';

/**
 * What came from outside, as its schema has it.
 * @throws {Refusal} `invalid`, naming what is wrong and nothing of its value
 */
export function checked<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const where = issue === undefined ? '' : issue.path.slice(0, 3).join('.').slice(0, 60);
  throw new Refusal('invalid', where === '' ? 'Not what was expected' : `${where} is not valid`);
}
