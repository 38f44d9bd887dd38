import * as z from 'zod';
import type { RawSource } from '../stored.ts';
import {
  arc,
  boundLookups,
  DkimVerifier,
  isAligned,
  libraryResolver,
  parseHeaders,
} from './mailauth.ts';
import { boundBody, readBody, StrangeBody } from './message-bytes.ts';
import type { Resolve } from './dns-resolver.ts';
import type { SignedHead } from './signed-head.ts';
import type { MethodResult } from './verdict.ts';

const MAX_KEY_LOOKUPS = 30;
/** RFC 8301 §3.2. */
const MIN_KEY_BITS = 1024;

export interface SignatureCheck {
  readonly dkim: MethodResult;
  /** Domains whose signature holds for the whole message. */
  readonly passed: readonly string[];
  /** Domains whose key could not be asked for. */
  readonly undecided: readonly string[];
  readonly arc: MethodResult;
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

/** What the library reports about a signature, beyond its types. */
const signatureSchema = z.object({
  signingDomain: z.string().default(''),
  bodyHash: z.unknown().optional(),
  bodyHashExpecting: z.unknown().optional(),
  status: z.object({ result: z.string() }),
});
type Signature = z.infer<typeof signatureSchema>;

/**
 * DKIM (RFC 6376) and the newest ARC set (RFC 8617), in one pass over the body; without a signature
 * that counts the body is not read.
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
    const domain = /\._domainkey\.(.+)$/i.exec(name)?.[1] ?? '';
    return isAligned(fromDomain, domain, false) || isTrustedSealer(domain);
  });
  const verified = await verify(question, keys.resolve);
  if (verified === undefined) {
    const dkim = head.signatures === 0 ? none.dkim : 'permerror';
    return { ...none, dkim, arc: head.arc.length === 0 ? none.arc : 'fail' };
  }
  const signatures = z
    .array(signatureSchema)
    .parse(verified.results)
    .filter(({ signingDomain }) => isAligned(fromDomain, signingDomain, false));
  const domainsOf = (result: string) =>
    signatures.filter((each) => dkimResult(each) === result).map((each) => each.signingDomain);
  return {
    dkim: head.signatures === 0 ? none.dkim : bestOf(signatures),
    passed: domainsOf('pass'),
    undecided: domainsOf('temperror'),
    arc:
      head.arc.length === 0 ? none.arc : await checkSeals(verified.arc, keys.hadTrouble, resolve),
  };
}

/**
 * Feeds the library's verifier directly: its own reader would search each byte for line ends that
 * are known already. Undefined when the verifier throws on what the sender wrote: that is a broken
 * signature, and no trouble of ours that could leave the verdict open.
 * @throws what reading the message fails with, or the reason for which it ended
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
      if (!(error instanceof StrangeBody)) trouble = { error };
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
    // The library's own type for what it hands on is the sealer's, not the verifier's.
    const { status } = await arc(data as ArcData, {
      resolver: libraryResolver(seals.resolve),
      minBitLength: MIN_KEY_BITS,
    });
    if (status.result === 'pass') return 'pass';
  } catch {
    // It throws on a key that is too short.
  }
  return hadTrouble() || seals.hadTrouble() ? 'temperror' : 'fail';
}

/** The best result of all signatures; `permerror` without a readable one. */
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
  // The library says neutral; RFC 8601 §2.7.1: the signature did not pass verification.
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
