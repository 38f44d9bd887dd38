/**
 * The code of a system or SQLite error (`ENOENT`, `SQLITE_FULL`), or ''. It is read from the
 * property, because native code creates errors of a different class in each context that loads it.
 */
export function codeOf(error: unknown): string {
  const has = typeof error === 'object' && error !== null && 'code' in error;
  return has && typeof error.code === 'string' ? error.code : '';
}

/** The code of an error's cause, or ''. fetch hides the system's error in its cause. */
export const causeCodeOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'cause' in error ? codeOf(error.cause) : '';
