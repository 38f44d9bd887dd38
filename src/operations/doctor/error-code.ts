/** The code of an error of the system: ENOENT, ECONNREFUSED. */
export function errorCode(error: unknown): string | undefined {
  const has = typeof error === 'object' && error !== null && 'code' in error;
  return has && typeof error.code === 'string' ? error.code : undefined;
}
