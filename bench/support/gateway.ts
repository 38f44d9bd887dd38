import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PUBLIC_URL, SHOP } from './shop.ts';
import { BENCH_DOMAIN, inboxOf } from './smtp-source.ts';
import { waitUntil } from './wait-until.ts';
import type { Workbench } from './workbench.ts';

const PROGRAM = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const MANY = '1000000';
/** Higher limits of one sender's messages are not applied, and so cost nothing. */
const HIGHEST = '100000';
const EMAIL_LOOP = {
  per10min: HIGHEST,
  perHour: HIGHEST,
  perThreadPer10min: HIGHEST,
  sameBodyPerHour: HIGHEST,
};

export interface GatewayOptions {
  /** Without one, the embedded platform. */
  readonly platformUrl?: string;
  readonly paused: boolean;
  /** Messages in flight to the platform at the same time; the default if omitted. */
  readonly concurrency?: number;
  /** The origins of pages with the widget. */
  readonly chatOrigins?: readonly string[];
  /** Use the chat's default limits, which apply to strangers. */
  readonly strictChat?: boolean;
  /** Use the default limits on HTTP connections, which apply to strangers. */
  readonly strictHttp?: boolean;
  /** Believe `X-Forwarded-For` of clients on this machine. */
  readonly trustProxy?: boolean;
  /** Shops besides the first, which have email only. */
  readonly moreShops?: number;
  /** Shops as in the file, besides the others. */
  readonly furtherShops?: readonly object[];
  /** Threads that deliver; the default if omitted. */
  readonly deliveryThreads?: number;
  /** An existing data folder; a new one if omitted. Nothing is swept. */
  readonly dataDir?: string;
  /** The store: the URL of a PostgreSQL database; without one, SQLite in the data folder. */
  readonly spoolUrl?: string;
  /** The name server; the system's if omitted. */
  readonly nameServer?: string;
  /** Clients on this machine are strangers, whose SPF records are checked. */
  readonly strangers?: boolean;
  /** Another build's `dist/main.js`. */
  readonly program?: string;
  /** Arguments of node itself. */
  readonly nodeArguments?: readonly string[];
  /** A folder for CPU profiles of every thread, written when the gateway stops. */
  readonly profileInto?: string;
}

export interface Gateway {
  readonly pid: number;
  readonly smtpPort: number;
  readonly httpPort: number;
  readonly adminPort: number;
  readonly logFile: string;
  readonly dataDir: string;
  readonly configFile: string;
  stop(): Promise<void>;
}

/**
 * Starts the built program as an operator would: `serve` with a configuration file, JSON log lines
 * to a file. Only the ports differ from the defaults, and limits that a single client on one
 * address would exceed.
 */
export async function startGateway(bench: Workbench, options: GatewayOptions): Promise<Gateway> {
  const folder = await bench.folder();
  const config = join(folder, 'sluice.json');
  const logFile = join(folder, 'log');
  const {
    program = PROGRAM,
    profileInto,
    nodeArguments = [],
    dataDir = join(folder, 'data'),
  } = options;
  await writeFile(config, JSON.stringify(configuration({ ...options, dataDir })));
  const child = spawn(
    process.execPath,
    [
      ...(profileInto === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileInto}`]),
      ...nodeArguments,
      ...[program, 'serve', '--config', config],
    ],
    { stdio: ['ignore', 'ignore', openSync(logFile, 'w')] },
  );
  let ended = false;
  child.once('exit', () => {
    ended = true;
  });
  const stop = (): Promise<void> => (ended ? Promise.resolve() : stopProcess(child));
  bench.onEnd('gateway', stop);
  const ports = await waitUntil('the gateway', 30_000, () => {
    const logged = readFileSync(logFile, 'utf8');
    if (ended) throw new Error(`the gateway did not start\n${logged}`);
    return portsIn(logged);
  });
  if (child.pid === undefined) throw new Error('the gateway has no pid');
  return { pid: child.pid, ...ports, logFile, dataDir, configFile: config, stop };
}

/** The console's password. */
export const ADMIN_PASSWORD = 'a-password-for-benchmarks-only';
/** Of `POST /email/inbound`. */
export const INBOUND_TOKEN = 'an-inbound-token-for-benchmarks-only';
/** With it Prometheus may read the metrics. */
export const METRICS_TOKEN = 'a-metrics-token-for-benchmarks-only';

/** Where its doors listen, which is the line that it logs when it is ready. */
function portsIn(logged: string): Pick<Gateway, 'smtpPort' | 'httpPort' | 'adminPort'> | undefined {
  const line = logged.split('\n').find((each) => each.includes('"message":"gateway.ready"'));
  if (line === undefined) return undefined;
  const { smtp, http, admin } = JSON.parse(line) as Record<'smtp' | 'http' | 'admin', string>;
  const [smtpPort, httpPort, adminPort] = [smtp, http, admin].map((at) =>
    Number(at.slice(at.lastIndexOf(':') + 1)),
  );
  return smtpPort && httpPort && adminPort ? { smtpPort, httpPort, adminPort } : undefined;
}

async function stopProcess(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 40_000);
  await exited;
  clearTimeout(timer);
}

function configuration(options: GatewayOptions & { readonly dataDir: string }): object {
  const { platformUrl, paused, concurrency, dataDir, spoolUrl, nameServer, strangers } = options;
  return {
    dataDir,
    spool: {
      retain: { raw: '3650d', dead: '3650d', entries: '3650d' },
      ...(spoolUrl !== undefined && { url: spoolUrl }),
    },
    log: { level: 'info', format: 'json' },
    smtp: {
      ...{ host: '127.0.0.1', port: '0', hostname: `mx.${BENCH_DOMAIN}` },
      ...(strangers === true && {
        trustedRelays: [],
        maxConnectionsPerIp: '1000',
        rates: { connectionsPerMinutePerIp: MANY, messagesPerMinutePerIp: MANY },
      }),
    },
    ...(nameServer !== undefined && { dns: { servers: [nameServer] } }),
    http: {
      ...{ host: '127.0.0.1', port: '0', publicUrl: PUBLIC_URL },
      ...(options.trustProxy === true && { trustProxy: ['127.0.0.0/8'] }),
      ...(options.strictHttp !== true && {
        maxConnections: '100000',
        maxConnectionsPerIp: '100000',
      }),
    },
    admin: { port: '0', password: ADMIN_PASSWORD, metricsToken: METRICS_TOKEN },
    delivery: {
      paused: String(paused),
      ...(concurrency && { concurrency: String(concurrency) }),
      ...(options.deliveryThreads && { threads: String(options.deliveryThreads) }),
    },
    ...(platformUrl !== undefined && { platform: { url: platformUrl } }),
    localPlatform: { port: '0' },
    shops: [
      {
        name: 'bench',
        shopId: SHOP.shopId,
        apiKey: SHOP.apiKey,
        email: {
          addresses: [`support@${BENCH_DOMAIN}`, `*@${BENCH_DOMAIN}`],
          inboundTokens: [INBOUND_TOKEN],
          loop: EMAIL_LOOP,
        },
        sms: {
          numbers: [SHOP.number],
          loop: { per10min: HIGHEST, perHour: HIGHEST, perDay: HIGHEST, sameBodyPerHour: HIGHEST },
          twilio: {
            accountSid: SHOP.accountSid,
            authTokens: [SHOP.authToken],
            // Nothing listens on the discard port, so no measurement asks Twilio for missed texts.
            baseUrl: 'http://127.0.0.1:9',
          },
        },
        chat: {
          key: SHOP.chatKey,
          allowNoOrigin: 'true',
          origins: options.chatOrigins ?? [],
          ...(options.strictChat !== true && {
            limits: {
              messagesPer10s: '10000',
              newVisitorsPerHourPerIp: MANY,
              socketsPerIp: '10000',
            },
          }),
        },
      },
      ...Array.from({ length: options.moreShops ?? 0 }, (_, index) => ({
        name: `bench-${index + 1}`,
        shopId: `${SHOP.shopId.slice(0, -2)}c${index}`,
        apiKey: SHOP.apiKey,
        email: { addresses: [inboxOf(index + 1)], loop: EMAIL_LOOP },
      })),
      ...(options.furtherShops ?? []),
    ],
  };
}
