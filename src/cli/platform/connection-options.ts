import type { Command } from 'commander';
import { httpUrl, timeout } from './values.ts';

export interface ConnectionOptions {
  readonly shop?: string;
  readonly url?: string;
  /** Milliseconds. */
  readonly timeout?: number;
}

/** The options that every command has. */
export function withConnection(command: Command): Command {
  return command
    .option('--shop <name>', 'the shop of the configuration (default: the only one)')
    .option('--url <url>', "the platform's base URL (default: as configured)", httpUrl)
    .option(
      '--timeout <duration>',
      'how long to wait for an answer (default: as configured)',
      timeout,
    );
}
