import { FIELD_NAME } from '../header-block.ts';
import { mayAlign } from './dmarc.ts';

const MAX_FIELDS = 1000;
const MAX_LINES = 4000;
const MAX_SIGNATURES = 8;
/** No server creates a longer signature. */
const MAX_SIGNATURE_LENGTH = 8 * 1024;
/** RFC 6376 §3.5: at most twelve digits need to be read, and the library cannot read more. */
const TIME = /^\d{1,12}$/;
/** RFC 8617 §4.2.1 allows 50 sets; real mail does not pass more than ten sealers. */
const MAX_ARC_SETS = 10;

export interface ArcSet {
  /** The value of ARC-Authentication-Results. */
  readonly results: string;
  /**
   * The header fields that the ARC-Message-Signature (RFC 8617 §4.1.2) of this set and of each newer
   * one covers, in lower case: a sealer verified only what the previous one had signed.
   */
  readonly signedFields: ReadonlySet<string>;
}

/** The part of a header block that signatures are checked against. */
export interface SignedHead {
  /** The fields, with CRLF and the empty line, without signatures that prove nothing. */
  readonly bytes: Buffer;
  /** The signatures in it whose domain may be aligned with the one in From. */
  readonly signatures: number;
  /** There were DKIM signatures, of any domain. */
  readonly wasSigned: boolean;
  /** Some signatures were of that domain, but of a kind that proves nothing. */
  readonly weak: boolean;
  /** The newest set first; empty if the newest sealer is not trusted. */
  readonly arc: readonly ArcSet[];
  readonly hadArc: boolean;
}

/**
 * Reduces a header block to the parts that can verify the domain in From, so that no sender can
 * delay the check with a thousand signatures, or with keys in a slow zone. Linear.
 * @param bytes the raw header block
 * @param complete false if it is truncated; then no signature in it can be valid
 */
export function readSignedHead(
  bytes: Uint8Array,
  complete: boolean,
  fromDomain: string,
  isTrustedSealer: (domain: string) => boolean,
): SignedHead {
  const fields = splitFields(bytes);
  const bounded = complete && fields !== undefined;
  const all = fields ?? [];
  const named = all.map((field) => ({ field, name: nameOf(field), value: valueOf(field) }));
  const signatures = named.filter(({ name }) => name === 'dkim-signature');
  const aligned = signatures.filter(
    ({ value }) => bounded && mayAlign(fromDomain, tagOf(value, 'd') ?? ''),
  );
  const usable = aligned.filter(isStrong).slice(0, MAX_SIGNATURES);
  const arcFields = named.filter(({ name }) => name.startsWith('arc-'));
  const arc = bounded ? trustedChain(arcFields, isTrustedSealer) : [];
  const kept = named.filter((each) => {
    // A sealer signs the DKIM signatures too.
    const sealed = arc.length > 0 && signatures.length <= MAX_SIGNATURES && isStrong(each);
    if (each.name === 'dkim-signature') return sealed || usable.includes(each);
    return !each.name.startsWith('arc-') || arc.length > 0;
  });
  return {
    bytes: Buffer.from(`${kept.map(({ field }) => field).join('\r\n')}\r\n\r\n`, 'latin1'),
    signatures: usable.length,
    wasSigned: signatures.length > 0,
    weak: aligned.length > 0 && usable.length === 0,
    arc,
    hadArc: arcFields.length > 0,
  };
}

interface NamedField {
  readonly field: string;
  readonly name: string;
  readonly value: string;
}

/**
 * SHA-1 no longer proves anything (RFC 8301 §3.1), and with a signature over a part of the body
 * (`l=`) anyone can add text (RFC 6376 §8.2). Each kind would also require another hash of the
 * body.
 */
function isStrong({ field, value }: NamedField): boolean {
  if (field.length > MAX_SIGNATURE_LENGTH || tagOf(value, 'l') !== undefined) return false;
  if (![tagOf(value, 't'), tagOf(value, 'x')].every((time) => TIME.test(time ?? '0'))) return false;
  // RFC 6376 §5.4: From must be signed; otherwise anyone with such a message could replace it.
  if (!namesIn(tagOf(value, 'h') ?? '').includes('from')) return false;
  return /-sha256$/i.test(tagOf(value, 'a') ?? '');
}

function namesIn(fields: string): readonly string[] {
  return fields.split(':').map((name) => name.trim().toLowerCase());
}

/** The sets from the newest on, as far as their sealers are trusted. */
function trustedChain(
  fields: readonly NamedField[],
  isTrustedSealer: (domain: string) => boolean,
): readonly ArcSet[] {
  if (fields.length > 3 * MAX_ARC_SETS) return [];
  if (fields.some(({ field }) => field.length > MAX_SIGNATURE_LENGTH)) return [];
  const signatures = fields.filter(({ name }) => name === 'arc-message-signature');
  if (!signatures.every(isStrong)) return [];
  const of = (name: string) =>
    new Map(
      fields.filter((each) => each.name === name).map(({ value }) => [instanceOf(value), value]),
    );
  const seals = of('arc-seal');
  const results = of('arc-authentication-results');
  const messageSignatures = of('arc-message-signature');
  const chain: ArcSet[] = [];
  const newest = Math.max(0, ...[...seals.keys()].map((instance) => instance ?? 0));
  for (let instance = newest; instance > 0; instance -= 1) {
    const sealer = tagOf(seals.get(instance) ?? '', 'd')?.toLowerCase() ?? '';
    if (!isTrustedSealer(sealer)) break;
    const names = namesIn(tagOf(messageSignatures.get(instance) ?? '', 'h') ?? '');
    const newer = chain.at(-1)?.signedFields;
    chain.push({
      results: results.get(instance) ?? '',
      signedFields: new Set(names.filter((name) => newer?.has(name) ?? true)),
    });
  }
  return chain;
}

/**
 * The fields that `HeaderBlock` also recognizes, and no others: a `From` that only one of the two
 * recognizes could be used for forgery. Undefined if there are more lines or fields than any mail
 * system writes, or runs of CRs, for which the library's own split is quadratic.
 */
function splitFields(bytes: Uint8Array): string[] | undefined {
  const lines = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    .toString('latin1')
    .split(/\r?\n/);
  while (lines.at(-1) === '') lines.pop();
  if (lines.length > MAX_LINES || lines.some((line) => line.includes('\r\r'))) return undefined;
  const fields: string[][] = [];
  for (const line of lines) {
    const current = fields.at(-1);
    if (/^[ \t]/.test(line) && current !== undefined) current.push(line);
    else fields.push([line]);
  }
  if (fields.length > MAX_FIELDS) return undefined;
  return fields.map((each) => each.join('\r\n')).filter((field) => FIELD_NAME.test(field));
}

function nameOf(field: string): string {
  return FIELD_NAME.exec(field)?.[1]?.toLowerCase() ?? '';
}

function valueOf(field: string): string {
  return field
    .slice(field.indexOf(':') + 1)
    .replace(/\r\n/g, '')
    .trim();
}

/** The ARC instance of a field. */
function instanceOf(value: string): number | undefined {
  const instance = tagOf(value, 'i');
  return instance !== undefined && /^\d{1,2}$/.test(instance) ? Number(instance) : undefined;
}

/** A tag of a `k=v; k=v` list (RFC 6376 §3.2); the last one if repeated. Linear. */
function tagOf(value: string, name: string): string | undefined {
  let found: string | undefined;
  for (const part of value.slice(0, MAX_SIGNATURE_LENGTH).split(';')) {
    const equals = part.indexOf('=');
    if (equals !== -1 && part.slice(0, equals).trim().toLowerCase() === name) {
      found = part.slice(equals + 1).trim();
    }
  }
  return found;
}
