/**
 * The code of a system or SQLite error (`ENOENT`, `SQLITE_FULL`), or ''. It is read from the
 * property, because native code creates errors of a different class in each context that loads it.
 */
export function codeOf(error: unknown): string {
  const has = typeof error === 'object' && error !== null && 'code' in error;
  return has && typeof error.code === 'string' ? error.code : '';
}
