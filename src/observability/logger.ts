import { RAISE_DESCRIPTORS } from '../domain/trouble.ts';

export type LogLevel = 'error' | 'warn' | 'info' | 'debug';

/** Plain values only: never an error object, a body, a subject, an address or a secret. */
export type LogFields = Readonly<Record<string, string | number | boolean | undefined>> & {
  /** Reserved for the event: winston would append this field to it. */
  readonly message?: never;
};

/** Logs an event with its fields. */
export interface Logger {
  error(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  info(event: string, fields?: LogFields): void;
  debug(event: string, fields?: LogFields): void;
  /** Returns a logger that adds these fields to each of its lines. */
  with(fields: LogFields): Logger;
}

/** For tests and tools that write no log. */
export const silentLogger: Logger = {
  error: () => undefined,
  warn: () => undefined,
  info: () => undefined,
  debug: () => undefined,
  with: () => silentLogger,
};

/**
 * The log fields of an error: its kind and code. Its message may contain an address and its
 * properties a key, so neither is logged.
 */
export function errorFields(error: unknown): LogFields {
  if (!(error instanceof Error)) return { error: typeof error };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  const cause = error.cause instanceof Error ? error.cause : undefined;
  const causeCode = cause !== undefined && 'code' in cause ? String(cause.code) : undefined;
  return {
    error: error.name,
    ...(code && { code }),
    ...(cause && { cause: cause.name }),
    ...(causeCode && { causeCode }),
    // Without this hint, the error would look like a bug on a busy day.
    ...([code, causeCode].includes('EMFILE') && { todo: RAISE_DESCRIPTORS }),
  };
}

/** Only stack frames are logged: the message may quote what a customer wrote. */
export function bugFields(error: unknown): Record<string, string> {
  const frames = error instanceof Error ? (error.stack ?? '').match(/^ {4}at .*$/gm) : null;
  const at = (frames ?? []).slice(0, 6).map((frame) => frame.trim().slice(3));
  return {
    ...Object.fromEntries(
      Object.entries(errorFields(error)).map(([key, value]) => [key, String(value)]),
    ),
    at: at.join(' < '),
  };
}
