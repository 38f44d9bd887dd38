import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import {
  completeFromExisting,
  type CompleteConfig,
  reserveBytesOf,
  storeUrl,
} from '../config/complete.ts';
import { nearest } from '../config/field.ts';
import type { ApiTokenStore } from '../spool/api-token-store.ts';
import type { ChatStore } from '../spool/chat-store.ts';
import type { Entry } from '../spool/entry.ts';
import type { Eraser } from '../spool/erasure.ts';
import type { EntryIndex } from '../spool/entry-index.ts';
import type { Fleet } from '../spool/fleet.ts';
import type { OperatorStore } from '../spool/operator-store.ts';
import { type Reason, shownReason } from '../domain/reasons.ts';
import type { Spool } from '../spool/spool.ts';
import { openStore } from '../spool/open-store.ts';
import type { ShopId } from '../domain/ids.ts';
import { configuration } from './configuration.ts';
import { CommandFailed, UsageError } from './exit-codes.ts';
import { isSystemError } from '../runtime/error-code.ts';
import type { Terminal } from './terminal.ts';
import { userInfo } from 'node:os';

export interface OpenSpool {
  readonly config: CompleteConfig;
  readonly spool: Spool;
  readonly operator: OperatorStore;
  readonly apiTokens: ApiTokenStore;
  readonly index: EntryIndex;
  readonly chat: ChatStore;
  /** Of a store that several gateways share. */
  readonly fleet: Fleet | undefined;
  /** Opens what erases people; the caller closes it. */
  readonly openEraser: () => Promise<Eraser>;
  readonly shops: CompleteConfig['shops'];
  /** New messages are refused when less disk space than this is free. */
  readonly reserveBytes: number;
  /** The configured name of a shop, or its id if it is no longer configured. */
  readonly shopName: (id: ShopId) => string;
  /** The entry as it is shown: one that waits for a shop which is not configured says so. */
  readonly shown: (entry: Entry) => Entry;
  /** @throws {UsageError} there is no shop with this name or id */
  readonly shopId: (name: string) => ShopId;
  /** Who runs the command, as in the audit log. */
  readonly who: string;
  /** Adds a line to the audit log, without addresses, numbers or message text. */
  readonly audit: (action: string, target: string, outcome: string) => Promise<void>;
}

/**
 * Opens the spool for the duration of `work`, beside a running gateway or without one.
 * @throws {CommandFailed} there is no spool in the data folder
 */
export async function withSpool<T>(
  command: Command,
  terminal: Terminal,
  work: (open: OpenSpool) => Promise<T>,
): Promise<T> {
  const { config } = configuration(command, terminal);
  // Opening would create a spool, so a mistyped folder would look like an empty queue.
  if (config.spool.url === 'sqlite') requireSpool(config.dataDir);
  const complete = await completeFromExisting(config);
  const { shops } = complete;
  const reserveBytes = reserveBytesOf(config);
  const { spool, operator, apiTokens, chat, fleet, openIndex, openEraser } = await openStore({
    url: storeUrl(config),
    blobs: config.spool.blobs,
    dir: config.dataDir,
    role: 'beside',
    reserveBytes,
  });
  const who = `terminal:${operatorName(terminal.env)}`;
  let index: EntryIndex | undefined;
  try {
    index = await openIndex();
    const names = new Map(shops.map((shop) => [shop.shopId, shop.name]));
    return await work({
      config: complete,
      spool,
      operator,
      apiTokens,
      index,
      chat,
      fleet,
      openEraser,
      ...{ shops, reserveBytes },
      shopName: (id) => names.get(id) ?? id,
      shown: (entry) => withReason(entry, shownReason(entry, names.has(entry.shopId))),
      shopId: (name) => shopIdOf(shops, name),
      who,
      audit: (action, target, outcome) => operator.audit({ who, action, target, outcome }),
    });
  } finally {
    await index?.close();
    await spool.close();
  }
}

/** @throws {CommandFailed} for a command that works on the files of the embedded store */
export function requireEmbeddedStore({ spool }: Pick<CompleteConfig, 'spool'>, todo: string): void {
  if (spool.url === 'sqlite') return;
  throw new CommandFailed(`spool.url is a PostgreSQL database: ${todo}`);
}

/** @throws {CommandFailed} it does not exist or belongs to another user */
export function requireSpool(dataDir: string): void {
  try {
    accessSync(join(dataDir, 'spool.db'), constants.R_OK | constants.W_OK);
  } catch (cause) {
    if (isSystemError(cause) && (cause.code === 'EACCES' || cause.code === 'EROFS')) {
      throw new CommandFailed(
        `this user has no access to the spool in ${dataDir} (${cause.code}): run the command as the gateway's user`,
        { cause },
      );
    }
    throw new CommandFailed(
      `there is no spool in ${dataDir}: start a gateway, or give its configuration with --config`,
      { cause },
    );
  }
}

const withReason = (entry: Entry, reason: Reason | undefined): Entry =>
  reason === undefined ? entry : { ...entry, reason };

/** @throws {UsageError} there is no shop with this name or id */
export function shopIdOf(shops: CompleteConfig['shops'], name: string): ShopId {
  const found = shops.find((shop) => shop.name === name || shop.shopId === name);
  if (found !== undefined) return found.shopId;
  const names = shops.map((shop) => shop.name);
  const near = nearest(name, names);
  throw new UsageError(
    `there is no shop ${name}${near === undefined ? `; there are: ${names.join(', ')}` : `; did you mean ${near}?`}`,
  );
}

/**
 * The operator's name for the audit log: the system's user, or the user who became root by sudo.
 * The system is asked before the environment, which anyone can set.
 */
export function operatorName(env: Readonly<Record<string, string | undefined>>): string {
  const name = systemUser();
  const before = env['SUDO_USER'] ?? '';
  const shown = name === 'root' && before !== '' ? before : name;
  return shown.replace(/[^\w.@-]/g, '?').slice(0, 64);
}

function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run with a uid that has no user.
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
