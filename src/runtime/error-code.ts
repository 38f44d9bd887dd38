/** The code of a system or SQLite error (`ENOENT`, `SQLITE_FULL`), or ''. */
export function codeOf(error: unknown): string {
  const has = typeof error === 'object' && error !== null && 'code' in error;
  return has && typeof error.code === 'string' ? error.code : '';
}

/** The code of an error's cause, or ''. fetch hides the system's error in its cause. */
export const causeCodeOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'cause' in error ? codeOf(error.cause) : '';

/** An error that the operating system reported (node:errors, `SystemError`). */
export interface SystemError extends Error {
  readonly code: string;
  /** The call that failed. */
  readonly syscall: string;
  readonly path?: string;
  readonly port?: number;
  readonly address?: string;
}

export function isSystemError(error: unknown): error is SystemError {
  return error instanceof Error && codeOf(error) !== '' && 'syscall' in error;
}
