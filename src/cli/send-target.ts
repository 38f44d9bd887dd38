import type { Command } from 'commander';
import type { CompleteConfig } from '../config/complete.ts';
import type { ShopConfig } from '../config/config.ts';
import type { ListenAddress } from '../gateway/doors.ts';
import { NoAnswer, Unsent } from '../gateway/sample-messages/unsent.ts';
import { CommandFailed, UsageError } from './exit-codes.ts';
import { reachable } from '../runtime/ip-addresses.ts';
import { wholeNumber } from './platform/values.ts';
import { printable } from './terminal.ts';

export interface TargetOptions {
  readonly shop?: string;
  readonly host?: string;
  readonly port?: number;
  readonly json?: true;
}

/** The options that every `send` command has. */
export function withTarget(command: Command): Command {
  return command
    .option('--shop <name>', 'the shop to write to (default: the first with this channel)')
    .option('--host <host>', "the gateway's host (default: as configured)")
    .option(
      '--port <port>',
      "the gateway's port (default: as configured)",
      wholeNumber(65_535, 'port'),
    )
    .option('--json', 'for programs: one JSON object');
}

/** The named shop (or the first) that has the channel, with the channel's configuration. */
export function shopWith<Channel extends 'email' | 'sms' | 'chat'>(
  config: CompleteConfig,
  channel: Channel,
  name: string | undefined,
): NonNullable<ShopConfig[Channel]> {
  const found = config.shops.find(
    (shop) => shop[channel] !== undefined && (name === undefined || shop.name === name),
  )?.[channel];
  if (found !== undefined) return found;
  const having = config.shops.filter((shop) => shop[channel] !== undefined);
  if (name === undefined || having.length === 0) {
    throw new UsageError(`no shop of this configuration has ${channel}`);
  }
  const isShop = config.shops.some((shop) => shop.name === name);
  throw new UsageError(
    `${isShop ? `shop ${name} has no ${channel}` : `there is no shop ${name}`}; ` +
      `shops with ${channel}: ${having.map((shop) => shop.name).join(', ')}`,
  );
}

/** The address at which the gateway is reached from this machine. */
export function target(configured: ListenAddress, options: TargetOptions): URL {
  const { host = configured.host, port = configured.port } = options;
  if (port === 0) throw new UsageError('the configured port is 0 (any free port): give --port');
  return new URL(`http://${reachable({ host, port })}`);
}

/** Converts an error of sending to one for the user; returns any other error unchanged. */
export function sendFailure(error: unknown): unknown {
  if (error instanceof NoAnswer) {
    return new CommandFailed(
      `${error.what} does not respond at ${error.where.host}. If the gateway is not running, start it ` +
        '(npm start); if it listens elsewhere, give --host and --port',
      { cause: error },
    );
  }
  if (error instanceof Unsent) return new CommandFailed(printable(error.message), { cause: error });
  return error;
}
