import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { errorFields, type Logger } from '../../observability/logger.ts';
import { durableFiles, makeFolder } from '../../runtime/durable-files.ts';

const SELF_SIGNED_FILE = 'smtp-self-signed.pem';
const DAY_MS = 86_400_000;
const SELF_SIGNED_DAYS = 3650;
/** A self-signed certificate that expires within this time is replaced at the start. */
const RENEW_BEFORE_MS = 30 * DAY_MS;

/** PEM texts. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

/** The current certificate, with notification of changes. */
export interface TlsMaterial {
  current(): KeyPair;
  /** Returns a function that removes the listener. */
  onChange(listener: (material: KeyPair) => void): () => void;
  close(): void;
}

export interface TlsOptions {
  /** Paths; without them, a self-signed certificate is generated and stored in `dataDir`. */
  readonly files?: { readonly cert: string; readonly key: string };
  readonly dataDir: string;
  readonly hostname: string;
  /** How often the files are checked for a renewed certificate. */
  readonly checkEveryMs: number;
}

/** The configured certificate cannot be used. */
export class TlsUnusable extends Error {
  override name = 'TlsUnusable';
}

/**
 * Opens the certificate for STARTTLS. Configured files are re-read periodically. A renewal replaces
 * certificate and key one after the other, so a new pair is used only when both match.
 * @throws {TlsUnusable} the configured files cannot be read or do not match
 */
export async function openTls(options: TlsOptions, logger: Logger): Promise<TlsMaterial> {
  const { files } = options;
  if (files === undefined) return fixed(await selfSigned(options));
  return watched(files, await readPair(files), options.checkEveryMs, logger);
}

function fixed(material: KeyPair): TlsMaterial {
  return {
    current: () => material,
    onChange: () => () => undefined,
    close: () => undefined,
  };
}

function watched(
  files: { readonly cert: string; readonly key: string },
  first: KeyPair,
  everyMs: number,
  logger: Logger,
): TlsMaterial {
  let material = first;
  const listeners = new Set<(material: KeyPair) => void>();
  const check = async (): Promise<void> => {
    const next = await readPair(files);
    if (next.cert === material.cert && next.key === material.key) return;
    material = next;
    for (const listener of listeners) listener(next);
  };
  // Contents are compared, because file system events miss a certificate that is replaced by
  // symlink.
  const timer = setInterval(() => {
    check().catch((error: unknown) => logger.warn('smtp.tls_not_reloaded', errorFields(error)));
  }, everyMs);
  timer.unref();
  return {
    current: () => material,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close() {
      clearInterval(timer);
    },
  };
}

async function readPair(files: { readonly cert: string; readonly key: string }): Promise<KeyPair> {
  try {
    const [cert, key] = await Promise.all([
      readFile(files.cert, 'utf8'),
      readFile(files.key, 'utf8'),
    ]);
    createSecureContext({ cert, key });
    return { cert, key };
  } catch (error) {
    throw new TlsUnusable('the certificate or its key cannot be used', { cause: error });
  }
}

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
