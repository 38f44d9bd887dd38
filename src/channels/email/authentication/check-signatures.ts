import * as z from 'zod';
import { chunksOf, type RawSource } from '../stored.ts';
import { arc, boundLookups, DkimVerifier, libraryResolver, parseHeaders } from './mailauth.ts';
import { mayAlign } from './dmarc.ts';
import type { Resolve } from './dns-resolver.ts';
import type { SignedHead } from './signed-head.ts';
import type { MethodResult } from './verdict.ts';

const MAX_KEY_LOOKUPS = 30;
/** Between selector and domain (RFC 6376 §3.6.2.1). */
const KEY_LABEL = '._domainkey.';
/** RFC 8301 §3.2. */
const MIN_KEY_BITS = 1024;

export interface SignatureCheck {
  readonly dkim: MethodResult;
  /** Those that are valid and cover the whole body. */
  readonly passed: readonly PassedSignature[];
  /** Domains whose key could not be queried. */
  readonly undecided: readonly string[];
  readonly arc: MethodResult;
}

export interface PassedSignature {
  readonly domain: string;
  /** The fields that it covers, in lower case, each as often as it covers it. */
  readonly fields: readonly string[];
}

export interface SignatureQuestion {
  readonly raw: RawSource;
  readonly head: SignedHead;
  /** Where the body begins. */
  readonly headBytes: number;
  readonly fromDomain: string;
  readonly isTrustedSealer: (domain: string) => boolean;
  /** Aborted when the result is no longer needed. */
  readonly signal: AbortSignal;
}

/** The library's report on a signature, beyond its declared types. */
const signatureSchema = z.object({
  signingDomain: z.string().default(''),
  /** `keys`: the names of the fields that were found for `h=`, once for each. */
  signingHeaders: z.object({ keys: z.string() }).default({ keys: '' }),
  bodyHash: z.unknown().optional(),
  bodyHashExpecting: z.unknown().optional(),
  status: z.object({ result: z.string() }),
});
type Signature = z.infer<typeof signatureSchema>;

/**
 * DKIM (RFC 6376) and the newest ARC set (RFC 8617), in one pass over the body. Without a relevant
 * signature, the body is not read.
 */
export async function checkSignatures(
  question: SignatureQuestion,
  resolve: Resolve,
): Promise<SignatureCheck> {
  const { head, fromDomain, isTrustedSealer } = question;
  const none: SignatureCheck = {
    dkim: head.weak ? 'policy' : head.wasSigned ? 'unrelated' : 'none',
    passed: [],
    undecided: [],
    arc: head.hadArc ? 'unrelated' : 'none',
  };
  if (head.signatures === 0 && head.arc.length === 0) return none;
  const keys = boundLookups(resolve, MAX_KEY_LOOKUPS, (name) => {
    const at = name.toLowerCase().indexOf(KEY_LABEL);
    const domain = at === -1 ? '' : name.slice(at + KEY_LABEL.length);
    return mayAlign(fromDomain, domain) || isTrustedSealer(domain);
  });
  const verified = await verify(question, keys.resolve);
  if (verified === undefined) {
    const dkim = head.signatures === 0 ? none.dkim : 'permerror';
    return { ...none, dkim, arc: head.arc.length === 0 ? none.arc : 'fail' };
  }
  const signatures = z
    .array(signatureSchema)
    .parse(verified.results)
    .filter(({ signingDomain }) => mayAlign(fromDomain, signingDomain));
  const withResult = (result: MethodResult) =>
    signatures.filter((each) => dkimResult(each) === result);
  return {
    dkim: head.signatures === 0 ? none.dkim : bestOf(signatures),
    passed: withResult('pass').map(({ signingDomain, signingHeaders: { keys } }) => ({
      domain: signingDomain,
      fields: keys.toLowerCase().split(': '),
    })),
    undecided: withResult('temperror').map(({ signingDomain }) => signingDomain),
    arc:
      head.arc.length === 0 ? none.arc : await checkSeals(verified.arc, keys.hadTrouble, resolve),
  };
}

/**
 * Feeds the library's verifier directly, because its own reader would search every byte for line
 * ends that are already known. Undefined if the verifier throws on the sender's input: that is a
 * broken signature rather than a failure of ours, which could leave the verdict open.
 * @throws the errors of reading the message, or the signal's reason
 */
async function verify(
  { raw, head, headBytes, signal }: SignatureQuestion,
  resolve: Resolve,
): Promise<Pick<DkimVerifier, 'results' | 'arc'> | undefined> {
  let trouble: { readonly error: unknown } | undefined;
  async function* body() {
    try {
      for await (const chunk of boundBody(readBody(raw, headBytes))) {
        signal.throwIfAborted();
        yield chunk;
      }
    } catch (error) {
      if (!(error instanceof AbnormalBody)) trouble = { error };
      throw error;
    }
  }
  const verifier = new DkimVerifier({
    resolver: libraryResolver(resolve),
    minBitLength: MIN_KEY_BITS,
  });
  try {
    await verifier.messageHeaders(parseHeaders(head.bytes));
    for await (const chunk of body()) await verifier.nextChunk(chunk);
    await verifier.finalChunk();
    return verifier;
  } catch {
    if (trouble !== undefined) throw trouble.error;
    return undefined;
  }
}

type ArcData = Parameters<typeof arc>[0];

async function checkSeals(
  data: unknown,
  hadTrouble: () => boolean,
  resolve: Resolve,
): Promise<MethodResult> {
  const seals = boundLookups(resolve, MAX_KEY_LOOKUPS);
  try {
    // The library declares the sealer's type here instead of the verifier's.
    const { status } = await arc(data as ArcData, {
      resolver: libraryResolver(seals.resolve),
      minBitLength: MIN_KEY_BITS,
    });
    if (status.result === 'pass') return 'pass';
  } catch {
    // It throws for a key that is too short.
  }
  return hadTrouble() || seals.hadTrouble() ? 'temperror' : 'fail';
}

/** The best result of all signatures; `permerror` if none is readable. */
function bestOf(signatures: readonly Signature[]): MethodResult {
  const results = signatures.map(dkimResult);
  return (
    (['pass', 'temperror', 'policy', 'fail'] as const).find((each) => results.includes(each)) ??
    results[0] ??
    'permerror'
  );
}

function dkimResult({ status, bodyHash, bodyHashExpecting }: Signature): MethodResult {
  if (status.result === 'pass') return 'pass';
  // The library reports neutral; RFC 8601 §2.7.1: the signature did not pass verification.
  if (bodyHash !== undefined && bodyHash !== bodyHashExpecting) return 'fail';
  switch (status.result) {
    case 'fail':
    case 'temperror':
    case 'policy':
      return status.result;
    default:
      return 'permerror';
  }
}

const LF = 0x0a;
const CR = 0x0d;

/** The bytes after the header block, in chunks, with all line ends as CRLF (RFC 6376 §5.3). */
async function* readBody(raw: RawSource, headBytes: number): AsyncGenerator<Buffer> {
  let passed = 0;
  let afterCr = false;
  for await (const chunk of chunksOf(raw)) {
    const body = chunk.subarray(Math.min(chunk.length, Math.max(0, headBytes - passed)));
    passed += chunk.length;
    if (body.length === 0) continue;
    yield withCrlf(body, afterCr);
    afterCr = body[body.length - 1] === CR;
  }
}

function withCrlf(chunk: Buffer, afterCr: boolean): Buffer {
  let bare = 0;
  for (let lf = chunk.indexOf(LF); lf !== -1; lf = chunk.indexOf(LF, lf + 1)) {
    if (!(lf === 0 ? afterCr : chunk[lf - 1] === CR)) bare += 1;
  }
  if (bare === 0) return chunk;
  const out = Buffer.allocUnsafe(chunk.length + bare);
  let to = 0;
  for (let at = 0; at < chunk.length; at += 1) {
    const byte = chunk[at] ?? 0;
    if (byte === LF && !(at === 0 ? afterCr : chunk[at - 1] === CR)) {
      out[to] = CR;
      to += 1;
    }
    out[to] = byte;
    to += 1;
  }
  return out;
}

/** Lines of mail have at most some kilobytes, except HTML or data on a single line. */
const MAX_LINE_BYTES = 1024 * 1024;
/** 75 MB of Base64. */
const MAX_LINES = 1_000_000;

/** A body that no mail system writes; its signatures are not checked. */
class AbnormalBody extends Error {
  override name = 'AbnormalBody';
}

/**
 * Passes on the chunks of a body within the limits of real mail. The library keeps an incomplete
 * line and re-reads it with every chunk, and is slow for lines that end in a space. A forger must
 * not benefit from making the check exceed its deadline.
 * @throws {AbnormalBody}
 */
async function* boundBody(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let lines = 0;
  let open = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (let lf = chunk.indexOf(LF); lf !== -1; lf = chunk.indexOf(LF, start)) {
      lines += 1;
      open = 0;
      start = lf + 1;
    }
    open += chunk.length - start;
    if (open > MAX_LINE_BYTES || lines > MAX_LINES) throw new AbnormalBody('not like mail');
    yield chunk;
  }
}
