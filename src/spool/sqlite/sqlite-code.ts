/**
 * The code of a SQLite error (`SQLITE_FULL`), or ''. By the property: the driver's error class is
 * another one in each context that loads it.
 */
export function codeOf(error: unknown): string {
  const has = typeof error === 'object' && error !== null && 'code' in error;
  return has && typeof error.code === 'string' ? error.code : '';
}
