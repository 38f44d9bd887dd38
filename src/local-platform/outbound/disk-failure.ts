import { SendFailed } from './outbound.ts';

/** A full disk is emptied, a folder's rights are mended: what could not be written is tried again. */
export function diskFailure(error: unknown): SendFailed {
  const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
  return new SendFailed('transient', 'the folder cannot be written', { code, cause: error });
}
