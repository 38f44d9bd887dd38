/** The same schema, or a document of schemas, with undocumented fields forbidden. */
export function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== 'object' || value === null) return value;
  const copy = Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, closed(inner)]),
  );
  return 'properties' in copy && copy['type'] === 'object'
    ? { ...copy, additionalProperties: false }
    : copy;
}
