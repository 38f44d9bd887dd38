import { join } from 'node:path';
import { configuredPair } from '../config/certificate.ts';
import { type CompleteConfig, reserveBytesOf } from '../config/complete.ts';
import type { Config } from '../config/config.ts';
import { mailsChatVisitors } from '../config/warnings.ts';
import { findMailSources } from '../local-platform/store/mail-sources.ts';
import type { DoctorTargets } from '../operations/doctor/doctor.ts';
import type { Door } from '../operations/doctor/ports.ts';
import type { RelayToCheck } from '../operations/doctor/mail.ts';
import type { DatabaseStatus, DataFolderStatus } from '../observability/status.ts';
import { inspectDataFolder } from '../spool/data-folder.ts';
import { NEEDED_FOR, neededDescriptors } from './needed-descriptors.ts';
import { LOCAL } from './platform-url.ts';
import { ownHost } from '../runtime/ip-addresses.ts';
import { relayOf } from './relay-options.ts';
import { telnyxShops, twilioShops, whatsappShops } from './shops.ts';

export type DoctorShops = Pick<CompleteConfig, 'shops' | 'demo'>;

/**
 * What the doctor checks, derived from the configuration. The demo shop has no SMS account and
 * no domain, so only its platform can be checked.
 * @param embeddedUrl where the embedded platform listens; only the gateway itself knows it
 * @param dataFolder reads the status of the data folder
 */
export function doctorTargets(
  config: Config,
  { shops, demo }: DoctorShops,
  embeddedUrl?: string,
  dataFolder: () => DataFolderStatus = inspectOnce(config.dataDir),
): DoctorTargets {
  const { smtp, http, alerts, dataDir } = config;
  const pair = configuredPair(smtp);
  const { url, blobs = '' } = config.spool;
  const { url: webhookUrl } = alerts.webhook;
  return {
    publicUrl: http.publicUrl,
    mailsChatVisitors: !demo && mailsChatVisitors({ ...config, shops }),
    twilioShops: demo ? [] : twilioShops({ shops }),
    telnyxShops: demo ? [] : telnyxShops({ shops }),
    whatsappShops: demo ? [] : whatsappShops({ shops }),
    platforms: shops.flatMap(({ name, shopId, apiKey, platformUrl = config.platform.url }) => {
      const embedded = platformUrl === LOCAL;
      const { port } = config.localPlatform;
      // With port 0, the actual port is known inside the gateway only.
      if (embedded && port === 0 && embeddedUrl === undefined) return [];
      const own = embeddedUrl ?? `http://127.0.0.1:${port}`;
      const baseUrl = embedded ? own : platformUrl;
      return [{ name, shopId, apiKey: apiKey.reveal(), baseUrl, embedded }];
    }),
    chatShops: shops.flatMap(({ name, chat }) => (chat === undefined ? [] : name)),
    dataDir,
    reserveBytes: reserveBytesOf(config),
    diskBelow: alerts.rules.diskBelow,
    descriptors: { needed: neededDescriptors(config), why: NEEDED_FOR },
    dataFolder,
    ...(url !== 'sqlite' && { database: () => inspect(url.reveal()) }),
    ...(url !== 'sqlite' &&
      blobs.startsWith('s3:') && { s3: () => tryBucket({ url: url.reveal(), s3: blobs }) }),
    paused: config.delivery.paused,
    doors: doorsOf(config),
    relays: relaysOf(config),
    alerts: {
      wanted: !demo,
      byEmail: alerts.email.to.length > 0,
      ...(webhookUrl !== undefined && { webhookUrl: webhookUrl.reveal() }),
    },
    ...(smtp.enabled && {
      mail: {
        hostname: smtp.hostname,
        domains: demo ? [] : domainsOf(shops),
        dnsServers: config.dns.servers,
        sources: () => mailSources(config, shops),
        ...(pair !== undefined && { pair }),
      },
    }),
  };
}

/** Only where answers leave through a relay do they have limits per network. */
function mailSources({ dataDir, localPlatform }: Config, shops: DoctorShops['shops']) {
  if (localPlatform.replies.relay === undefined) return [];
  return findMailSources(join(dataDir, 'platform')).flatMap(({ shopId, network }) => {
    const shop = shops.find((each) => each.shopId.toLowerCase() === shopId);
    return shop === undefined ? [] : [{ shop: shop.name, network }];
  });
}

/** The driver is loaded only where it is used. */
async function inspect(url: string): Promise<DatabaseStatus> {
  const { inspectDatabase } = await import('../spool/postgres/fleet.ts');
  return inspectDatabase(url);
}

/** As is the SDK. */
async function tryBucket(names: { url: string; s3: string }): Promise<void> {
  const { tryS3 } = await import('../spool/postgres/s3-blobs.ts');
  return tryS3(names);
}

function inspectOnce(dir: string): () => DataFolderStatus {
  let status: DataFolderStatus | undefined;
  return () => (status ??= inspectDataFolder(dir, Date.now()));
}

function doorsOf({ smtp, http, admin }: Config): Door[] {
  const doors: Door[] = [
    // With a PROXY protocol, a plain connection gets no greeting.
    ...(smtp.enabled && smtp.proxyProtocol.length === 0
      ? [{ name: 'smtp' as const, host: ownHost(smtp.host), port: smtp.port }]
      : []),
    ...(http.enabled ? [{ name: 'http' as const, host: ownHost(http.host), port: http.port }] : []),
    { name: 'admin', host: ownHost(admin.host), port: admin.port },
  ];
  return doors.filter(({ port }) => port !== 0);
}

function relaysOf(config: Config): RelayToCheck[] {
  const { hostname } = config.smtp;
  const usesLocal =
    config.shops.length === 0 ||
    config.shops.some(({ platformUrl = config.platform.url }) => platformUrl === LOCAL);
  const replies = usesLocal ? relayOf(config.localPlatform.replies, hostname) : undefined;
  const { email } = config.alerts;
  const alerts = email.to.length > 0 ? relayOf(email, hostname) : undefined;
  return [
    ...(replies ? [{ key: 'localPlatform.replies.relay', options: replies }] : []),
    ...(alerts ? [{ key: 'alerts.email.relay', options: alerts }] : []),
  ];
}

/** Each domain once, with the shops that have an address in it. */
function domainsOf(shops: DoctorShops['shops']) {
  const found = new Map<string, Set<string>>();
  for (const { name, email } of shops) {
    for (const address of email?.addresses ?? []) {
      const domain = address.slice(address.lastIndexOf('@') + 1);
      found.set(domain, (found.get(domain) ?? new Set()).add(name));
    }
  }
  return [...found].map(([domain, of]) => ({ domain, shops: [...of] }));
}
