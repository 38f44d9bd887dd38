import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createSecureContext } from 'node:tls';
import { errorFields, type Logger } from '../../observability/logger.ts';
import type { Metrics } from '../../observability/metrics.ts';
import { durableFiles, makeFolder } from '../../runtime/durable-files.ts';
import {
  type KeyPair,
  type PairTrouble,
  unreadableFile,
  unusablePair,
} from '../../runtime/key-pair.ts';
import { SetUpUnusable } from '../../domain/trouble.ts';

const SELF_SIGNED_FILE = 'smtp-self-signed.pem';
const DAY_MS = 86_400_000;
const SELF_SIGNED_DAYS = 3650;
/** A self-signed certificate that expires within this time is replaced at the start. */
const RENEW_BEFORE_MS = 30 * DAY_MS;
const READ_AGAIN_EVERY_MS = 500;

/** The current certificate, with notification of changes. */
export interface TlsMaterial {
  current(): KeyPair;
  /** Why what stands in the files meanwhile cannot be used, if so. */
  trouble(): TlsTrouble | undefined;
  /** Returns a function that removes the listener. */
  onChange(listener: (material: KeyPair) => void): () => void;
  close(): void;
}

/** Paths. */
type Files = Readonly<Record<keyof KeyPair, string>>;

export interface TlsOptions {
  /** Paths; without them, a self-signed certificate is generated and stored in `dataDir`. */
  readonly files?: Files;
  readonly dataDir: string;
  readonly hostname: string;
  /** How often the files are checked for a renewed certificate. */
  readonly checkEveryMs: number;
  /** How long a pair that does not fit is read again at the start; 0 by default. */
  readonly awaitMs?: number;
}

export interface TlsParts {
  readonly logger: Logger;
  readonly metrics: Pick<Metrics, 'alarms'>;
}

/** `found` names the key of the configuration and the file. */
export type TlsTrouble = Pick<PairTrouble, 'found' | 'todo'>;

/** The configured certificate cannot be used. */
export class TlsUnusable extends SetUpUnusable {
  override name = 'TlsUnusable';
  readonly trouble: TlsTrouble;

  constructor(trouble: TlsTrouble, options: ErrorOptions & { readonly mayPass?: boolean } = {}) {
    super(`${trouble.found}. To do: ${trouble.todo}`, options);
    this.trouble = trouble;
  }
}

/**
 * Opens the certificate for STARTTLS. Configured files are re-read periodically. A renewal replaces
 * certificate and key one after the other, so a new pair is used only when both match.
 * @throws {TlsUnusable} the configured files cannot be read or do not match
 */
export async function openTls(options: TlsOptions, parts: TlsParts): Promise<TlsMaterial> {
  const { files } = options;
  if (files === undefined) return fixed(await selfSigned(options));
  return watched(files, await firstPair(files, options, parts), options.checkEveryMs, parts);
}

async function firstPair(
  files: Files,
  { awaitMs = 0 }: TlsOptions,
  { logger }: TlsParts,
): Promise<KeyPair> {
  for (let leftMs = awaitMs; ; leftMs -= READ_AGAIN_EVERY_MS) {
    try {
      return await readPair(files);
    } catch (error) {
      if (!(error instanceof TlsUnusable) || !error.mayPass || leftMs <= 0) throw error;
      if (leftMs === awaitMs) logger.warn('smtp.tls_awaited', { found: error.message, awaitMs });
      await delay(READ_AGAIN_EVERY_MS);
    }
  }
}

function fixed(material: KeyPair): TlsMaterial {
  return {
    current: () => material,
    trouble: () => undefined,
    onChange: () => () => undefined,
    close: () => undefined,
  };
}

function watched(
  files: Files,
  first: KeyPair,
  everyMs: number,
  { logger, metrics }: TlsParts,
): TlsMaterial {
  let material = first;
  let failures = 0;
  let trouble: TlsTrouble | undefined;
  const listeners = new Set<(material: KeyPair) => void>();
  const check = async (): Promise<void> => {
    const next = await readPair(files);
    failures = 0;
    trouble = undefined;
    if (next.cert === material.cert && next.key === material.key) return;
    material = next;
    for (const listener of listeners) listener(next);
  };
  // Contents are compared, because file system events miss a certificate that is replaced by
  // symlink.
  const timer = setInterval(() => {
    check().catch((error: unknown) => {
      failures += 1;
      const isUnusable = error instanceof TlsUnusable;
      // The first time, a renewal may have replaced one of the two files.
      if (isUnusable && failures > 1) ({ trouble } = error);
      if (isUnusable && failures !== 2) return;
      metrics.alarms.inc({ alarm: 'certificate_unusable' });
      const found = isUnusable && { found: error.message };
      logger.error('smtp.tls_not_reloaded', { ...errorFields(error), ...found });
    });
  }, everyMs);
  timer.unref();
  return {
    current: () => material,
    trouble: () => trouble,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close() {
      clearInterval(timer);
    },
  };
}

/** @throws {TlsUnusable} */
async function readPair(files: Files): Promise<KeyPair> {
  const read = (of: keyof KeyPair) =>
    readFile(files[of], 'utf8').catch((cause: unknown) => {
      throw tlsUnusable(files, unreadableFile(of, cause), { cause });
    });
  const pair = { cert: await read('cert'), key: await read('key') };
  const trouble = unusablePair(pair);
  if (trouble === undefined) return pair;
  throw tlsUnusable(files, trouble, { mayPass: true });
}

const tlsUnusable = (
  files: Files,
  { of, found, todo }: PairTrouble,
  options: ConstructorParameters<typeof SetUpUnusable>[1],
) => new TlsUnusable({ found: `smtp.tls.${of} (${files[of]}): ${found}`, todo }, options);

async function selfSigned({ dataDir, hostname }: TlsOptions): Promise<KeyPair> {
  const path = join(dataDir, SELF_SIGNED_FILE);
  const kept = await readFile(path, 'utf8').then(splitPem, () => undefined);
  if (kept !== undefined && isUsable(kept, hostname)) return kept;
  const material = await makeSelfSigned(hostname);
  makeFolder(dataDir);
  await durableFiles.replace(path, material.key + material.cert);
  return material;
}

async function makeSelfSigned(hostname: string): Promise<KeyPair> {
  // Imported here, because its two hundred modules are needed only once per data folder.
  const { generate } = await import('selfsigned');
  const now = Date.now();
  const pems = await generate([{ name: 'commonName', value: hostname }], {
    keyType: 'ec',
    algorithm: 'sha256',
    // An hour earlier, because a client's clock may be slow.
    notBeforeDate: new Date(now - 3_600_000),
    notAfterDate: new Date(now + SELF_SIGNED_DAYS * DAY_MS),
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      { name: 'subjectAltName', altNames: [{ type: 2, value: hostname }] },
    ],
  });
  const withLineEnd = (pem: string): string => `${pem.trim().replaceAll('\r\n', '\n')}\n`;
  return { cert: withLineEnd(pems.cert), key: withLineEnd(pems.private) };
}

function splitPem(text: string): KeyPair {
  const at = text.indexOf('-----BEGIN CERTIFICATE-----');
  return { key: text.slice(0, Math.max(at, 0)), cert: text.slice(Math.max(at, 0)) };
}

/** A certificate for an earlier hostname (for instance of a trial) is not usable. */
function isUsable({ cert, key }: KeyPair, hostname: string): boolean {
  try {
    createSecureContext({ cert, key });
    const { subjectAltName, validTo } = new X509Certificate(cert);
    const lasts = Date.parse(validTo) - Date.now() > RENEW_BEFORE_MS;
    return lasts && subjectAltName === `DNS:${hostname}`;
  } catch {
    return false;
  }
}
