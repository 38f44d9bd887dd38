import { z } from 'zod';
import type { Path } from './mistakes.ts';

/** The schema at a path, without the wrappers of optional keys and defaults. */
export function schemaAt(schema: z.ZodType, path: Path): z.ZodType | undefined {
  let at: z.ZodType | undefined = unwrap(schema);
  for (const part of path) {
    at = typeof part === 'number' ? itemOf(at) : unwrap(shapeOf(at)?.[part]);
  }
  return at;
}

/**
 * Every path at which the schema has a scalar or a list of scalars; `[]` stands for a list item.
 */
export function keysOf(schema: z.ZodType, prefix = ''): string[] {
  const at = unwrap(schema);
  const item = itemOf(at);
  const shape = shapeOf(item ?? at);
  if (shape === undefined) return [prefix];
  const base = item === undefined ? prefix : `${prefix}[]`;
  return Object.entries(shape).flatMap(([key, value]) =>
    keysOf(value, base === '' ? key : `${base}.${key}`),
  );
}

function unwrap(schema: z.core.$ZodType | undefined): z.ZodType | undefined {
  if (schema instanceof z.ZodPrefault || schema instanceof z.ZodExactOptional) {
    return unwrap(schema.unwrap());
  }
  return schema instanceof z.ZodType ? schema : undefined;
}

/** The keys of a mapping; undefined for other schemas. */
export function shapeOf(schema: z.ZodType | undefined): Record<string, z.ZodType> | undefined {
  // `shape` is typed with the core's base class; the schemas built here are all ZodTypes.
  return schema instanceof z.ZodObject ? schema.shape : undefined;
}

/** The schema of a list's items; undefined for other schemas. */
export function itemOf(schema: z.ZodType | undefined): z.ZodType | undefined {
  return schema instanceof z.ZodArray ? unwrap(schema.element) : undefined;
}
