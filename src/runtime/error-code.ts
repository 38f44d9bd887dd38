/**
 * The code of an error of the system or of SQLite (`ENOENT`, `SQLITE_FULL`), or ''. Read from the
 * property: native code makes errors of another class in each context that loads it.
 */
export function codeOf(error: unknown): string {
  const has = typeof error === 'object' && error !== null && 'code' in error;
  return has && typeof error.code === 'string' ? error.code : '';
}
