import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { codeOf } from './error-code.ts';

/** A certificate, followed by those of its issuers, and its private key: PEM texts. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

/** What is wrong with a pair, and what to do. */
export interface PairTrouble {
  /**
   * `unusable`: no connection can be encrypted with it. `doubtful`: clients that verify certificates
   * refuse it, or will soon. Most mail servers do not verify.
   */
  readonly kind: 'unusable' | 'doubtful';
  /** The text that it is about. */
  readonly of: keyof KeyPair;
  readonly found: string;
  readonly todo: string;
}

const DAY_MS = 86_400_000;
/** Automatic renewals usually happen a month before expiry. */
export const WARN_DAYS = 14;

/** A file of a pair cannot be read. */
export const unreadableFile = (of: keyof KeyPair, error: unknown): PairTrouble => ({
  ...{ kind: 'unusable', of, found: `the file cannot be read (${codeOf(error)})` },
  todo: 'correct its path, or make it readable for the user of the gateway',
});

/**
 * Everything that is wrong with the pair of a server with this name.
 * @param pair or why it cannot be read
 */
export function pairTroubles(
  pair: KeyPair | PairTrouble,
  hostname: string,
  nowMs: number,
): PairTrouble[] {
  if ('kind' in pair) return [pair];
  const unusable = unusablePair(pair);
  if (unusable !== undefined) return [unusable];
  const certificate = new X509Certificate(pair.cert);
  const troubles = validityTroubles(certificate, nowMs);
  if (certificate.checkHost(hostname) === undefined) {
    const todo = 'obtain a certificate for smtp.hostname, or set smtp.hostname to a name in it';
    troubles.push({ kind: 'doubtful', of: 'cert', found: `does not include ${hostname}`, todo });
  }
  if (!hasIssuer(certificate, pair.cert)) {
    const found = 'the chain is incomplete: the certificate of the issuer is not in the file';
    const todo =
      'name the file with the whole chain, which certbot calls fullchain.pem, unless the issuer is a root of your own';
    troubles.push({ kind: 'doubtful', of: 'cert', found, todo });
  }
  return troubles;
}

function validityTroubles({ validFrom, validTo }: X509Certificate, nowMs: number): PairTrouble[] {
  const endsAt = Date.parse(validTo);
  const until = new Date(endsAt).toISOString().slice(0, 10);
  const days = Math.floor((endsAt - nowMs) / DAY_MS);
  const todo = 'renew it; a changed file is loaded without a restart';
  if (endsAt <= nowMs)
    return [{ kind: 'doubtful', of: 'cert', found: `expired on ${until}`, todo }];
  if (Date.parse(validFrom) > nowMs) {
    const clock = 'check the clock, or use the previous certificate';
    return [{ kind: 'doubtful', of: 'cert', found: 'not valid yet', todo: clock }];
  }
  if (days >= WARN_DAYS) return [];
  return [{ kind: 'doubtful', of: 'cert', found: `expires on ${until}, in ${days} days`, todo }];
}

const BEGIN = '-----BEGIN CERTIFICATE-----';

/** A root may be left out (RFC 8446 §4.4.2), so the chain is not followed beyond the issuer. */
function hasIssuer({ subject, issuer }: X509Certificate, chain: string): boolean {
  const [, , ...others] = chain.split(BEGIN);
  return (
    subject === issuer ||
    others.some((rest) => new X509Certificate(BEGIN + rest).subject === issuer)
  );
}

/** Why no connection can be encrypted with a pair; undefined if one can. */
export function unusablePair({ cert, key }: KeyPair): PairTrouble | undefined {
  const certificate = parsed(() => new X509Certificate(cert));
  if (certificate === undefined) {
    const todo = 'name a PEM file with the certificate and its chain (certbot: fullchain.pem)';
    return { kind: 'unusable', of: 'cert', found: 'not a certificate', todo };
  }
  const privateKey = parsed(() => createPrivateKey(key));
  if (privateKey === undefined) {
    const found = 'not a private key without a passphrase';
    const todo =
      'name a PEM file with the private key (certbot: privkey.pem); openssl pkey -in FILE -out NEW removes a passphrase';
    return { kind: 'unusable', of: 'key', found, todo };
  }
  // OpenSSL accepts a key of another type than that of the certificate.
  if (!certificate.checkPrivateKey(privateKey)) {
    const found = 'the key of another certificate';
    const todo =
      'name the key that the certificate was ordered with; your own certificate comes first in its file';
    return { kind: 'unusable', of: 'key', found, todo };
  }
  try {
    createSecureContext({ cert, key });
    return undefined;
  } catch (error) {
    const todo = 'copy the file again; if it is whole, obtain a certificate with a longer key';
    return { kind: 'unusable', of: 'cert', found: `refused by OpenSSL (${codeOf(error)})`, todo };
  }
}

function parsed<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch {
    return undefined;
  }
}
