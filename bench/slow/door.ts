import { join } from 'node:path';
import { createEmailServer, EMAIL_SERVER_DEFAULTS } from '../../src/channels/email/door-smtp.ts';
import { openTls } from '../../src/channels/email/tls.ts';
import { createIntake } from '../../src/intake/intake.ts';
import { createAddressDirectory } from '../../src/channels/email/routing.ts';
import { silentLogger } from '../../src/observability/logger.ts';
import { createMetrics } from '../../src/observability/metrics.ts';
import { openSqliteStore } from '../../src/spool/sqlite/open.ts';
import { asShopId } from '../../src/domain/ids.ts';
import { SHOP } from '../support/shop.ts';
import { BENCH_DOMAIN } from '../support/smtp-source.ts';

export interface DoorOptions {
  readonly folder: string;
  /** Divides every time limit of the SMTP server, for a quick run. */
  readonly faster: number;
}

/** The gateway's SMTP server with default settings on a real spool, but without trusted relays. */
export async function start({ folder, faster }: DoorOptions) {
  const store = await openSqliteStore({
    dir: join(folder, 'data'),
    role: 'owner',
    reserveBytes: EMAIL_SERVER_DEFAULTS.maxMessageBytes,
  });
  const metrics = createMetrics();
  const clock = Date.now;
  const tls = await openTls(
    { dataDir: folder, hostname: `mx.${BENCH_DOMAIN}`, checkEveryMs: 60_000 },
    { logger: silentLogger, metrics },
  );
  const { idleMs, noMessageMs, displaceAfterMs, dataPace } = EMAIL_SERVER_DEFAULTS;
  const server = createEmailServer(
    {
      ...EMAIL_SERVER_DEFAULTS,
      host: '0.0.0.0',
      port: 0,
      hostname: `mx.${BENCH_DOMAIN}`,
      trustedRelays: [],
      idleMs: idleMs / faster,
      noMessageMs: noMessageMs / faster,
      displaceAfterMs: displaceAfterMs / faster,
      dataPace: {
        ...dataPace,
        windowMs: dataPace.windowMs / faster,
        totalMs: dataPace.totalMs / faster,
      },
    },
    {
      intake: createIntake({
        ...{ spool: store.spool, chat: store.chat, metrics, clock },
        onAccepted: () => undefined,
      }),
      blobs: store.spool.blobs,
      directory: createAddressDirectory([
        {
          shopId: asShopId(SHOP.shopId),
          addresses: [`support@${BENCH_DOMAIN}`],
          formSenders: [],
          severalInboxes: 'first',
        },
      ]),
      tls,
      logger: silentLogger,
      metrics,
      clock,
    },
  );
  const { port } = await server.start();
  return {
    port: () => port,
    stop: async () => {
      await server.stop(0);
      tls.close();
      await store.spool.close();
    },
  };
}
