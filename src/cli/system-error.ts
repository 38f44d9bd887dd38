/**
 * An error of the operating system. Under a test runner, it is not an instance of this realm's
 * Error.
 */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return typeof error === 'object' && error !== null && 'syscall' in error && 'code' in error;
}
