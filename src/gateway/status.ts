import { explainStop } from '../domain/reason-explanations.ts';
import { platformWords, type Reason, sentence } from '../domain/reasons.ts';
import type {
  CollectStatus,
  FleetStatus,
  GatewayStatus,
  ShopStatus,
} from '../observability/status.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Clock } from '../runtime/clock.ts';
import { diskSpace } from '../runtime/disk-space.ts';
import { type EndpointHealth, ENDPOINTS, type ShopHealth } from '../spool/shop-health.ts';
import type { EntryCount, Spool } from '../spool/spool.ts';
import { X509Certificate } from 'node:crypto';
import type { ShopId } from '../domain/ids.ts';
import type { Delivery } from './delivery/delivery.ts';

/** Requests within this time share one result. */
const CACHE_MS = 1000;
/** Counting entries may take at most this share of the store's time. */
const COUNTING_SHARE = 1 / 20;

export interface StatusParts {
  readonly spool: Pick<Spool, 'counts'>;
  readonly dataDir: string;
  /** New messages are refused when less space than this is free. */
  readonly reserveBytes: () => number;
  /** The shops that are served now; a reload may change them. */
  readonly shops: () => readonly { readonly shopId: ShopId; readonly name: string }[];
  readonly health: Delivery['health'];
  readonly deliveryPaused: () => boolean;
  /** The STARTTLS certificate, and why its files cannot be used any more; undefined while SMTP is off. */
  readonly tls: () =>
    | { readonly pem: string; readonly unusable: CertificateStatus['unusable'] }
    | undefined;
  readonly waitingTickets: () => GatewayStatus['waitingTickets'];
  readonly refusedPages: () => GatewayStatus['refusedPages'];
  /** Undefined while the store admits one gateway. */
  readonly fleet: () => FleetStatus | undefined;
  readonly metrics: Metrics;
  readonly clock: Clock;
}

/** Collects the status of the gateway. Concurrent callers share one collection. */
export function createStatusCollector(parts: StatusParts): CollectStatus {
  const startedAt = parts.clock();
  const counts = countAtLimitedRate(parts);
  const certificateOf = cachedCertificate();
  let latest: { readonly at: number; readonly status: Promise<GatewayStatus> } | undefined;

  const collect = async (at: number): Promise<GatewayStatus> => {
    const { dataDir, reserveBytes, metrics } = parts;
    const shops = parts.shops();
    const tls = parts.tls();
    const fleet = parts.fleet();
    const [counted, health, disk, badSignatures, chat, smtp] = await Promise.all([
      counts(),
      parts.health(),
      diskSpace(dataDir),
      valueOf(metrics.webhookSignatureFailures),
      valueOf(metrics.chatSockets),
      valueOf(metrics.smtpConnections),
    ]);
    return {
      at,
      startedAt,
      deliveryPaused: parts.deliveryPaused(),
      ...ofShops(shops, counted, health),
      disk: { ...disk, reserveBytes: reserveBytes() },
      ...(tls && {
        certificate: {
          ...certificateOf(tls.pem),
          ...(tls.unusable && { unusable: tls.unusable }),
        },
      }),
      badSignatures,
      sockets: { chat, smtp },
      waitingTickets: parts.waitingTickets(),
      refusedPages: parts.refusedPages(),
      ...(fleet && { fleet }),
    };
  };

  return () => {
    const at = parts.clock();
    if (latest !== undefined && at - latest.at < CACHE_MS) return latest.status;
    const status = collect(at);
    latest = { at, status };
    // A failed collection is not cached; only the callers that already wait for it get the error.
    status.catch(() => {
      if (latest?.status === status) latest = undefined;
    });
    return status;
  };
}

/** Of a shop that a reload has just added. */
const UNKNOWN: ShopHealth = {
  messages: { state: 'steady', probing: false },
  media: { state: 'steady', probing: false },
  refusedAlike: [],
};

/** What waits, and what the platforms do, by the names of the shops. */
export function ofShops(
  shops: readonly { readonly shopId: ShopId; readonly name: string }[],
  counts: readonly EntryCount[],
  health: ReadonlyMap<ShopId, ShopHealth>,
): Pick<GatewayStatus, 'counts' | 'shops'> {
  const names = new Map<string, string>(shops.map(({ shopId, name }) => [shopId, name]));
  return {
    counts: counts.map(({ shopId, ...count }) => ({ shop: names.get(shopId) ?? shopId, ...count })),
    shops: shops.map(({ shopId, name }) => ({
      ...{ shop: name, shopId },
      ...healthStatus(health.get(shopId) ?? UNKNOWN),
    })),
  };
}

function healthStatus(health: ShopHealth): Omit<ShopStatus, 'shop' | 'shopId'> {
  const { lastDeliveredAt, untried } = health.messages;
  return {
    breakers: ENDPOINTS.map((part) => ({ part, ...breakerOf(health[part]) })),
    refusedAlike: health.refusedAlike,
    ...(lastDeliveredAt !== undefined && { lastDeliveredAt }),
    ...(untried && { untried }),
  };
}

/** A shop in doubt still delivers, so only the open state is reported as an open breaker. */
function breakerOf(health: EndpointHealth) {
  const { state, probing, since, reason, nextProbeAt, recoveringSince } = health;
  if (state === 'steady') {
    const recovering = recoveringSince === undefined ? {} : { recoveringSince };
    return { state: 'closed' as const, ...recovering };
  }
  const openState = probing ? ('probing' as const) : ('open' as const);
  return {
    state: state === 'open' ? openState : ('closed' as const),
    ...(since !== undefined && { since }),
    ...(reason !== undefined && { reason: sentence(reason), ...stopOf(reason) }),
    ...(nextProbeAt !== undefined && { nextProbeAt }),
  };
}

function stopOf(reason: Reason): Pick<ShopStatus['breakers'][number], 'cause' | 'todo' | 'words'> {
  const words = platformWords(reason);
  return { ...explainStop(reason), ...(words !== undefined && { words }) };
}

/** Counting a million entries blocks the store for a while, so it is done at a limited rate. */
function countAtLimitedRate({ spool, clock }: StatusParts): () => Promise<readonly EntryCount[]> {
  let kept: readonly EntryCount[] = [];
  let dueAt = 0;
  return async () => {
    const before = clock();
    if (before < dueAt) return kept;
    kept = await spool.counts();
    dueAt = clock() + (clock() - before) / COUNTING_SHARE;
    return kept;
  };
}

interface Readable {
  get(): Promise<{ readonly values: readonly { readonly value: number }[] }>;
}

/** The value of a counter or gauge without labels, or the sum over all labels. */
async function valueOf(metric: Readable): Promise<number> {
  const { values } = await metric.get();
  return values.reduce((sum, { value }) => sum + value, 0);
}

type CertificateStatus = NonNullable<GatewayStatus['certificate']>;

/** The status of a PEM certificate. In a chain, the first certificate is the server's own. */
export function certificateStatus(pem: string): CertificateStatus {
  const certificate = new X509Certificate(pem);
  return {
    subject: hostOf(certificate),
    endsAt: Date.parse(certificate.validTo),
    // `checkIssued` is not used: it also requires the right to sign certificates, which ours lacks.
    selfSigned:
      certificate.issuer === certificate.subject && certificate.verify(certificate.publicKey),
  };
}

/** The first host name: modern certificates list it in subjectAltName only. */
function hostOf({ subject, subjectAltName = '' }: X509Certificate): string {
  const [, alternative] = /\b(?:DNS|IP Address):"?([^\s,"]+)/.exec(subjectAltName) ?? [];
  const [, common] = /^CN=(.+)$/m.exec(subject) ?? [];
  return alternative ?? common ?? '';
}

/** Parses a certificate only when the text has changed. */
export function cachedCertificate(): (pem: string) => CertificateStatus {
  let last: { readonly pem: string; readonly status: CertificateStatus } | undefined;
  return (pem) => {
    if (last?.pem !== pem) last = { pem, status: certificateStatus(pem) };
    return last.status;
  };
}
