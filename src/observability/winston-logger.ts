import { writeSync } from 'node:fs';
import { isatty } from 'node:tty';
import winston from 'winston';
import Transport from 'winston-transport';
import type { Logger, LogLevel } from './logger.ts';

const STDERR = 2;

export interface LogOptions {
  readonly level: LogLevel;
  readonly format: 'json' | 'pretty';
}

/** A logger whose level can be changed at runtime. */
export interface AdjustableLogger extends Logger {
  /** Applies to this logger and to all loggers created from it by `with`. */
  setLevel(level: LogLevel): void;
}

/** Writes one line per event to standard error: JSON for programs, `pretty` for people. */
export function createLogger({ level, format }: LogOptions): AdjustableLogger {
  if (format === 'json') return jsonLogger(level, (text) => process.stderr.write(text));
  const terminal = new winston.transports.Console({
    stderrLevels: ['error', 'warn', 'info', 'debug'],
  });
  return start(level, pretty(), terminal);
}

/** One JSON object per line; the lines of one turn of the event loop are written together. */
export function jsonLogger(level: LogLevel, write: (text: string) => void): AdjustableLogger {
  // A single format step instead of winston's two, because every message is logged.
  const line = winston.format((info) => {
    info['timestamp'] = new Date().toISOString();
    info[LINE] = JSON.stringify(info);
    return info;
  });
  const batch = new LineBatch(write);
  return start(level, line(), batch);
}

/**
 * The logger of another thread of the process. A thread's own stream to standard error goes through the
 * main thread; the lines of this one do not, unless they cannot be written now.
 */
export function createThreadLogger({ level, format }: LogOptions): AdjustableLogger {
  const write = (text: string): void => {
    const bytes = Buffer.from(text);
    const written = writtenNow(bytes);
    if (written < bytes.length) process.stderr.write(bytes.subarray(written));
  };
  if (format === 'json') return jsonLogger(level, write);
  return start(level, pretty(), new LineBatch(write));
}

function writtenNow(bytes: Uint8Array): number {
  try {
    return writeSync(STDERR, bytes);
  } catch {
    // A full pipe, or one that nobody reads any more: the main thread decides what that means.
    return 0;
  }
}

function pretty() {
  const { combine, timestamp, printf, colorize, uncolorize } = winston.format;
  return combine(
    timestamp({ format: 'HH:mm:ss.SSS' }),
    // A file or a pipe gets plain text without color codes.
    isatty(STDERR) ? colorize({ level: true }) : uncolorize(),
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
    ...wrap(logger, logger),
    setLevel: (next) => {
      // Child loggers have the root logger as their prototype, so they share its level.
      logger.level = next;
    },
  };
}

function wrap(logger: winston.Logger, root: { readonly level: string }): Logger {
  return {
    error: (event, fields) => void logger.error(event, fields),
    warn: (event, fields) => void logger.warn(event, fields),
    info: (event, fields) => void logger.info(event, fields),
    // winston formats a line of any level before its transports drop it.
    debug: (event, fields) => {
      if (root.level === 'debug') logger.debug(event, fields);
    },
    with: (fields) => wrap(logger.child(fields), root),
  };
}

/** The key under which winston's formats store the finished line. */
export const LINE = Symbol.for('message');

/**
 * A winston transport that collects the lines of one turn of the event loop and writes them
 * together, which saves a system call per line. A killed process loses the lines of at most one
 * turn; a process that exits writes them.
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
