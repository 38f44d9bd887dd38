import winston from 'winston';
import Transport from 'winston-transport';
import { RAISE_DESCRIPTORS } from '../domain/trouble.ts';

export type LogLevel = 'error' | 'warn' | 'info' | 'debug';

/** Plain values only: a field is never an error object, a body, a subject, an address or a secret. */
export type LogFields = Readonly<Record<string, string | number | boolean | undefined>> & {
  /** The event's own key: winston would join the two. */
  readonly message?: never;
};

/** The application's own view of a logger: an event's name and its fields. */
export interface Logger {
  error(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  info(event: string, fields?: LogFields): void;
  debug(event: string, fields?: LogFields): void;
  /** A logger whose lines all carry these fields. */
  with(fields: LogFields): Logger;
}

export interface LogOptions {
  readonly level: LogLevel;
  readonly format: 'json' | 'pretty';
}

/** A logger that can be told how much to write while it runs. */
export interface AdjustableLogger extends Logger {
  /** For this one and all that were made of it by `with`. */
  setLevel(level: LogLevel): void;
}

/** Writes one line per event to standard error: JSON for machines, `pretty` for people. */
export function createLogger({ level, format }: LogOptions): AdjustableLogger {
  if (format === 'json') return jsonLogger(level, (text) => process.stderr.write(text));
  const terminal = new winston.transports.Console({
    stderrLevels: ['error', 'warn', 'info', 'debug'],
  });
  return start(level, pretty(), terminal);
}

/** One JSON object a line, and the lines of a turn of the event loop in one text. */
export function jsonLogger(level: LogLevel, write: (text: string) => void): AdjustableLogger {
  // One step instead of winston's own two: every message of every channel passes here.
  const line = winston.format((info) => {
    info['timestamp'] = new Date().toISOString();
    info[LINE] = JSON.stringify(info);
    return info;
  });
  const batch = new LineBatch(write);
  return start(level, line(), batch);
}

function pretty() {
  const { combine, timestamp, printf, colorize, uncolorize } = winston.format;
  return combine(
    timestamp({ format: 'HH:mm:ss.SSS' }),
    // Into a file or a pipe go words alone.
    process.stderr.isTTY ? colorize({ level: true }) : uncolorize(),
    printf(({ timestamp: at, level, message, ...fields }) => {
      const rest = Object.entries(fields)
        .filter(([, value]) => value !== undefined)
        .map(
          ([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
        )
        .join(' ');
      return `${String(at)} ${level} ${String(message)}${rest === '' ? '' : `  ${rest}`}`;
    }),
  );
}

function start(
  level: LogLevel,
  format: winston.Logform.Format,
  transport: winston.transport,
): AdjustableLogger {
  const logger = winston.createLogger({ level, format, transports: [transport] });
  return {
    ...wrap(logger),
    setLevel: (next) => {
      // Children have the one that they were made of as their prototype: the level is its alone.
      logger.level = next;
    },
  };
}

function wrap(logger: winston.Logger): Logger {
  return {
    error: (event, fields) => void logger.error(event, fields),
    warn: (event, fields) => void logger.warn(event, fields),
    info: (event, fields) => void logger.info(event, fields),
    debug: (event, fields) => void logger.debug(event, fields),
    with: (fields) => wrap(logger.child(fields)),
  };
}

/** For tests and tools that have nowhere to write. */
export const silentLogger: Logger = {
  error: () => undefined,
  warn: () => undefined,
  info: () => undefined,
  debug: () => undefined,
  with: () => silentLogger,
};

/**
 * The log fields of an error: its kind and code, never its message, which may quote an address,
 * and never its properties, which may carry a key.
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
    // Whoever finds this in the log of a busy day looks for a bug otherwise.
    ...([code, causeCode].includes('EMFILE') && { todo: RAISE_DESCRIPTORS }),
  };
}

/** Where winston's formats leave the finished line. */
export const LINE = Symbol.for('message');

/**
 * A transport of winston that gathers the lines of one turn of the event loop and writes them
 * together: a line for each message would otherwise be a system call for each message. At most one
 * turn's lines are lost when the process is killed; one that exits writes them.
 */
export class LineBatch extends Transport {
  readonly #writeOut: (text: string) => void;
  #lines = '';

  constructor(writeOut: (text: string) => void) {
    super();
    this.#writeOut = writeOut;
    process.once('exit', () => this.flush());
  }

  override log(info: Readonly<Record<symbol, unknown>>, next: () => void): void {
    if (this.#lines === '') setImmediate(() => this.flush());
    this.#lines += `${String(info[LINE])}\n`;
    next();
  }

  flush(): void {
    const lines = this.#lines;
    this.#lines = '';
    if (lines !== '') this.#writeOut(lines);
  }
}
