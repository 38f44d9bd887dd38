import { createHash, generateKeyPairSync, sign } from 'node:crypto';

const key = generateKeyPairSync('rsa', { modulusLength: 2048 });
const publicKey = key.publicKey.export({ type: 'spki', format: 'der' }).toString('base64');

/** The record of the key with which this file signs. */
export const SIGNING_KEY = `v=DKIM1; k=rsa; p=${publicKey}`;

/** A message of these header lines. */
export const mail = (...head: readonly string[]): string => mailWith('Hello\r\n', ...head);
export const mailWith = (body: string, ...head: readonly string[]): string =>
  `${head.join('\r\n')}\r\n\r\n${body}`;

/** RFC 6376 §3.4.4, for a body without runs of white space and without empty lines at its end. */
const bodyHashOf = (message: string): string =>
  createHash('sha256')
    .update(message.slice(message.indexOf('\r\n\r\n') + 4))
    .digest('base64');
const headOf = (message: string): readonly string[] =>
  message.slice(0, message.indexOf('\r\n\r\n')).split('\r\n');

/** RFC 6376 §3.4.2, for a line without runs of white space. */
function relaxed(line: string): string {
  const colon = line.indexOf(':');
  return `${line.slice(0, colon).toLowerCase()}:${line.slice(colon + 1).trim()}`;
}

function signatureOf(lines: readonly string[]): string {
  const text = Buffer.from(lines.map(relaxed).join('\r\n'));
  return sign('sha256', text, key.privateKey).toString('base64');
}

/** RFC 6376 §5.4.2: each time that a field is named, the lowest one that was not taken yet. */
function covered(message: string, fields: readonly string[]): readonly string[] {
  const left = [...headOf(message)];
  return fields.flatMap((name) => {
    const at = left.findLastIndex((line) => line.toLowerCase().startsWith(`${name}:`));
    return at === -1 ? [] : left.splice(at, 1);
  });
}

export interface Signature {
  readonly domain: string;
  /** What `h=` names, in lower case. */
  readonly fields: readonly string[];
  /** Further tags, each with its semicolon. */
  readonly tags?: string;
}

/** The message with a signature that holds, of a selector s1. */
export function signed(message: string, { domain, fields, tags = '' }: Signature): string {
  const unsigned = `DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=${domain}; s=s1; ${tags}h=${fields.join(':')}; bh=${bodyHashOf(message)}; b=`;
  return `${unsigned}${signatureOf([...covered(message, fields), unsigned])}\r\n${message}`;
}

export interface Seal {
  readonly sealer?: string;
  /** What the sealer found, without its id. */
  readonly results: string;
  readonly fields: readonly string[];
}

/** The message with an ARC set more (RFC 8617 §4.1). */
export function sealed(
  message: string,
  { sealer = 'sealer.example', results, fields }: Seal,
): string {
  const sets = headOf(message).filter((line) => line.startsWith('ARC-'));
  const i = sets.length / 3 + 1;
  const found = `ARC-Authentication-Results: i=${i}; mx.${sealer}; ${results}`;
  let signature = `ARC-Message-Signature: i=${i}; a=rsa-sha256; c=relaxed/relaxed; d=${sealer}; s=s1; h=${fields.join(':')}; bh=${bodyHashOf(message)}; b=`;
  signature += signatureOf([...covered(message, fields), signature]);
  // RFC 8617 §5.1.1: each set in the order results, signature, seal; the oldest first.
  const before = sets.toReversed();
  let seal = `ARC-Seal: i=${i}; a=rsa-sha256; cv=${i === 1 ? 'none' : 'pass'}; d=${sealer}; s=s1; b=`;
  seal += signatureOf([...before, found, signature, seal]);
  return [seal, signature, found, message].join('\r\n');
}
