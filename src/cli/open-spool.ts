import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { completeFromExisting, type CompleteConfig } from '../config/complete.ts';
import type { Spool } from '../spool/spool.ts';
import { openSqliteStore } from '../spool/sqlite/open.ts';
import type { ShopId } from '../types/ids.ts';
import { configuration } from './configuration.ts';
import { CommandFailed } from './exit-codes.ts';
import type { Terminal } from './terminal.ts';

export interface OpenSpool {
  readonly spool: Spool;
  readonly shops: CompleteConfig['shops'];
  /** The configured name of a shop; its id when it is no longer configured. */
  readonly shopName: (id: ShopId) => string;
}

/**
 * Opens the spool beside a running gateway (or without one) for the time of `work`.
 * @throws {CommandFailed} there is no spool in the data folder
 */
export async function withSpool<T>(
  command: Command,
  terminal: Terminal,
  work: (open: OpenSpool) => Promise<T>,
): Promise<T> {
  const { config } = configuration(command, terminal);
  // Opening would make one: a mistyped folder must not look like an empty queue.
  if (!existsSync(join(config.dataDir, 'spool.db'))) {
    throw new CommandFailed(
      `there is no spool in ${config.dataDir}: start a gateway, or name its configuration with --config`,
    );
  }
  const { shops } = await completeFromExisting(config);
  const { spool } = await openSqliteStore({ dir: config.dataDir, role: 'guest', reserveBytes: 0 });
  try {
    const names = new Map(shops.map((shop) => [shop.shopId, shop.name]));
    return await work({ spool, shops, shopName: (id) => names.get(id) ?? id });
  } finally {
    await spool.close();
  }
}
