import { configuredPair } from '../config/certificate.ts';
import { certificateStatus, ofShops } from '../gateway/status.ts';
import type { GatewayStatus } from '../observability/status.ts';
import { type ShownCondition, shownConditions } from '../operations/conditions.ts';
import { askConditions } from '../operations/running-gateway.ts';
import { spaceOf } from '../operations/doctor/machine.ts';
import { unusablePair } from '../runtime/key-pair.ts';
import type { ShopId } from '../domain/ids.ts';
import { gatewayProcess } from '../spool/data-folder.ts';
import { isServed } from '../spool/locks.ts';
import { type ShopHealth, shopHealthOf } from '../spool/shop-health.ts';
import type { EntryCount } from '../spool/spool.ts';
import { CommandFailed } from './exit-codes.ts';
import type { OpenSpool } from './open-spool.ts';

export interface KnownShop {
  readonly name: string;
  readonly shopId: ShopId;
  /** Undefined if no gateway has served the shop yet. */
  readonly health: ShopHealth | undefined;
  readonly queued: number;
}

/** The configured shops, with what the gateway last stored about each. */
export async function knownShops({ spool, shops }: OpenSpool): Promise<KnownShop[]> {
  const counts = (await spool.counts()).filter(({ state }) => state === 'queued');
  return Promise.all(
    shops.map(async ({ name, shopId }) => ({
      ...{ name, shopId, health: await shopHealthOf(spool, shopId) },
      queued: counts.reduce((sum, each) => sum + (each.shopId === shopId ? each.count : 0), 0),
    })),
  );
}

/** What is wrong, and whether it is the running gateway that says so. */
export interface KnownConditions {
  readonly conditions: readonly ShownCondition[];
  /** Why they are not those of the gateway that holds the folder: one that starts takes no commands yet. */
  readonly unasked?: { readonly kind: 'absent' | 'failed'; readonly why: string };
}

/**
 * What is wrong, as the running gateway says it; of one that does not answer, by the store, the disk and
 * the configuration of this command line.
 */
export async function knownConditions(
  open: OpenSpool,
  known: readonly KnownShop[],
  counts?: readonly EntryCount[],
): Promise<KnownConditions> {
  const { dataDir } = open.config;
  const asked = isServed(dataDir) ? await askConditions(dataDir) : undefined;
  if (asked?.kind === 'answered') return { conditions: asked.answer };
  return {
    conditions: await storedConditions(open, known, counts),
    ...(asked !== undefined && { unasked: asked }),
  };
}

/** @throws {CommandFailed} the gateway that holds the folder does not answer */
export function requireAnswer(dataDir: string, { unasked }: KnownConditions): void {
  if (unasked?.kind !== 'failed') return;
  const pid = gatewayProcess(dataDir);
  const who = pid === undefined ? 'the gateway' : `process ${pid}`;
  throw new CommandFailed(
    `${who} does not answer (${unasked.why}): see its log, and restart it if it stays so`,
  );
}

async function storedConditions(
  { config, spool, shops, reserveBytes }: OpenSpool,
  known: readonly KnownShop[],
  counts?: readonly EntryCount[],
): Promise<readonly ShownCondition[]> {
  const health = known.flatMap(({ shopId, health }) =>
    health === undefined ? [] : [[shopId, health] as const],
  );
  const at = Date.now();
  const status: GatewayStatus = {
    ...{ at, startedAt: at, deliveryPaused: config.delivery.paused },
    ...ofShops(shops, counts ?? (await spool.counts()), new Map(health)),
    disk: { ...(await spaceOf(config.dataDir)), reserveBytes },
    ...certificateOf(config),
    ...{ badSignatures: 0, sockets: { chat: 0, smtp: 0 }, waitingTickets: [], refusedPages: [] },
  };
  return shownConditions(status, config.alerts.rules);
}

/** A certificate that the gateway has made is its own affair. */
function certificateOf({ smtp }: OpenSpool['config']): Pick<GatewayStatus, 'certificate'> {
  const pair = smtp.enabled ? configuredPair(smtp) : undefined;
  if (pair === undefined || 'kind' in pair || unusablePair(pair) !== undefined) return {};
  return { certificate: certificateStatus(pair.cert) };
}
