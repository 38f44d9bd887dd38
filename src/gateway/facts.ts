import { statfs } from 'node:fs/promises';
import type { ShopPlatform } from '../delivery/shop-platform.ts';
import type { CollectFacts, Facts, ShopFacts } from '../observability/facts.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Clock } from '../runtime/clock.ts';
import { type PartHealth, PARTS } from '../spool/shop-health.ts';
import type { EntryCount, Spool } from '../spool/spool.ts';
import { X509Certificate } from 'node:crypto';

/** Whoever asks again within this time gets the same collection. */
const FRESH_FOR_MS = 1000;
/** The store counts for at most this share of its time, however many entries there are to count. */
const COUNTING_SHARE = 1 / 20;

export interface FactsParts {
  readonly spool: Pick<Spool, 'counts'>;
  readonly dataDir: string;
  /** Of free space, below which nothing is accepted. */
  readonly reserveBytes: () => number;
  /** Those that are served now: a reload may change them. */
  readonly shops: () => readonly ShopPlatform[];
  /** The PEM text that STARTTLS shows; undefined while SMTP is off. */
  readonly certificate: () => string | undefined;
  readonly metrics: Metrics;
  readonly clock: Clock;
}

/** Collects how the gateway is. Several who ask at a time share one collection. */
export function createFacts(parts: FactsParts): CollectFacts {
  const startedAt = parts.clock();
  const counts = countSparingly(parts);
  const certificateOf = rememberedCertificate();
  let latest: { readonly at: number; readonly facts: Promise<Facts> } | undefined;

  const collect = async (at: number): Promise<Facts> => {
    const { dataDir, reserveBytes, metrics } = parts;
    const shops = parts.shops();
    const pem = parts.certificate();
    const [counted, disk, badSignatures, chat, smtp] = await Promise.all([
      counts(),
      statfs(dataDir),
      valueOf(metrics.webhookSignatureFailures),
      valueOf(metrics.chatSockets),
      valueOf(metrics.smtpConnections),
    ]);
    const names = new Map<string, string>(
      shops.map(({ settings }) => [settings.shopId, settings.name]),
    );
    return {
      at,
      startedAt,
      counts: counted.map(({ shopId, ...count }) => ({
        shop: names.get(shopId) ?? shopId,
        ...count,
      })),
      shops: shops.map(shopFacts),
      disk: {
        freeBytes: disk.bavail * disk.bsize,
        totalBytes: disk.blocks * disk.bsize,
        reserveBytes: reserveBytes(),
      },
      ...(pem !== undefined && { certificate: certificateOf(pem) }),
      badSignatures,
      sockets: { chat, smtp },
    };
  };

  return () => {
    const at = parts.clock();
    if (latest !== undefined && at - latest.at < FRESH_FOR_MS) return latest.facts;
    const facts = collect(at);
    latest = { at, facts };
    // A collection that failed is nobody's answer but of those who wait for it now.
    facts.catch(() => {
      if (latest?.facts === facts) latest = undefined;
    });
    return facts;
  };
}

function shopFacts(shop: ShopPlatform): ShopFacts {
  const { settings } = shop;
  const report = shop.report();
  const { lastDeliveredAt } = report.messages;
  return {
    shop: settings.name,
    shopId: settings.shopId,
    breakers: PARTS.map((part) => ({
      part,
      ...breakerOf(report[part]),
    })),
    refusedAlike: report.refusedAlike,
    ...(lastDeliveredAt !== undefined && { lastDeliveredAt }),
  };
}

/** A shop in doubt goes on: only evidence against all of it is told as an open breaker. */
function breakerOf({ state, probing, since, reason, nextProbeAt }: PartHealth) {
  if (state !== 'open') return { state: 'closed' as const };
  return {
    state: probing ? ('probing' as const) : ('open' as const),
    ...(since !== undefined && { since }),
    ...(reason !== undefined && { reason }),
    ...(nextProbeAt !== undefined && { nextProbeAt }),
  };
}

/** To count a million entries takes the store a while, in which it can do nothing else. */
function countSparingly({ spool, clock }: FactsParts): () => Promise<readonly EntryCount[]> {
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

/** Of a counter or gauge without labels, or the sum over its labels. */
async function valueOf(metric: Readable): Promise<number> {
  const { values } = await metric.get();
  return values.reduce((sum, { value }) => sum + value, 0);
}

type CertificateFacts = NonNullable<Facts['certificate']>;

/** What is told of a PEM certificate: of a chain, of its first, which is the server's own. */
export function certificateFacts(pem: string): CertificateFacts {
  const certificate = new X509Certificate(pem);
  return {
    subject: hostOf(certificate),
    endsAt: Date.parse(certificate.validTo),
    // Not `checkIssued`: the gateway's own may sign nothing but what it says itself.
    selfSigned:
      certificate.issuer === certificate.subject && certificate.verify(certificate.publicKey),
  };
}

/** The first name that it is for: modern certificates have it among the alternatives only. */
function hostOf({ subject, subjectAltName = '' }: X509Certificate): string {
  const [, alternative] = /\b(?:DNS|IP Address):"?([^\s,"]+)/.exec(subjectAltName) ?? [];
  const [, common] = /^CN=(.+)$/m.exec(subject) ?? [];
  return alternative ?? common ?? '';
}

/** Parses a certificate once for as long as it is the same. */
export function rememberedCertificate(): (pem: string) => CertificateFacts {
  let last: { readonly pem: string; readonly facts: CertificateFacts } | undefined;
  return (pem) => {
    if (last?.pem !== pem) last = { pem, facts: certificateFacts(pem) };
    return last.facts;
  };
}
