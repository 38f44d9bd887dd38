import { domainOf } from '../../../domain/email-addresses.ts';
import { type RawSource, readRawHead } from '../stored.ts';
import {
  checkSpf,
  type DmarcRecord,
  isAligned,
  readDmarcRecord,
  type SpfCheck,
} from './mailauth.ts';
import { checkSignatures, type SignatureCheck } from './check-signatures.ts';
import { policyOf, sealedFor } from './claimed-sender.ts';
import { type Claim, namedSenders } from './named-senders.ts';
import type { Resolve } from './dns-resolver.ts';
import { sealedResults, relayResults, reportedSpf, confirmsSender } from './reported-results.ts';
import { readSignedHead, type SignedHead } from './signed-head.ts';
import type { SenderLists } from '../shop.ts';
import type { AuthenticationVerdict, MethodResult } from './verdict.ts';

/** One message to check; can be cloned to another thread. */
export interface CheckRequest {
  readonly raw: RawSource;
  readonly remoteAddress: string;
  readonly heloName: string;
  readonly envelopeFrom: string;
  readonly trustedRelay: boolean;
  readonly trustedArcSealers: readonly string[];
  /** Needed to determine the author; without them, only From is checked. */
  readonly senders?: SenderLists;
}

export interface CheckSettings {
  /** This host's name, which is the id of our Authentication-Results. */
  readonly hostname: string;
  readonly trustedAuthservIds: readonly string[];
  /** The limit for one message. */
  readonly totalMs: number;
}

/**
 * Created once, because a signal without a reason creates an error with a stack for each message.
 */
const OVER = new Error('the check is over');
/** The configured sealers are organizational domains; their servers seal with names below them. */
const isBelow = (domain: string, sealer: string): boolean =>
  domain === sealer || domain.endsWith(`.${sealer}`);

/**
 * SPF, DKIM, ARC and DMARC of one message. They run in parallel, each with the full time limit, so
 * a zone that does not respond delays only the method that queries it.
 * @throws the errors of reading the raw form
 */
export async function checkMessage(
  request: CheckRequest,
  settings: CheckSettings,
  resolve: Resolve,
): Promise<AuthenticationVerdict> {
  const ended = new AbortController();
  const timer = setTimeout(() => ended.abort(OVER), settings.totalMs);
  try {
    return await check(request, settings, resolve, ended.signal);
  } finally {
    clearTimeout(timer);
    ended.abort(OVER);
  }
}

async function check(
  request: CheckRequest,
  settings: CheckSettings,
  resolve: Resolve,
  signal: AbortSignal,
): Promise<AuthenticationVerdict> {
  const { head, bytes } = await readRawHead(request.raw);
  const { hostname, trustedAuthservIds } = settings;
  const relay = request.trustedRelay ? relayResults(head, trustedAuthservIds, hostname) : undefined;
  const spf = request.trustedRelay
    ? Promise.resolve(reportedSpf(relay))
    : inTime(signal, checkSpf({ ...request, hostname }, resolve), {
        result: 'temperror' as const,
        domain: domainOf(request.envelopeFrom),
      });
  const recordOf = (domain: string): Promise<DmarcRecord> =>
    inTime(signal, readDmarcRecord(domain, resolve), { kind: 'temperror' });
  const { fromDomain, claim } = namedSenders(head, request.senders, request.envelopeFrom);
  const claimRecord = claim && recordOf(claim.domain);
  if (fromDomain === undefined) return withoutAuthor((await spf).result, claim, claimRecord);

  const isTrustedSealer = (domain: string) =>
    request.trustedArcSealers.some((sealer) => isBelow(domain.toLowerCase(), sealer));
  const signed = readSignedHead(bytes, !head.truncated, fromDomain, isTrustedSealer);
  const question = { raw: request.raw, head: signed, headBytes: head.byteLength, fromDomain };
  const [spfCheck, signatures, record, claimPolicy] = await Promise.all([
    spf,
    inTime(
      signal,
      checkSignatures({ ...question, isTrustedSealer, signal }, resolve),
      outOfTime(signed, fromDomain),
    ),
    recordOf(fromDomain),
    claimRecord,
  ]);
  const carried = sealedResults(signed, signatures, fromDomain);
  const sealed = claim === undefined ? 'none' : sealedFor(claim, head, signed, signatures);
  const claimed = sealed === 'none' ? policyOf(claimPolicy) : sealed;
  return {
    ...(claimed && { claimed }),
    spf: spfCheck.result,
    dkim: signatures.dkim,
    arc: signatures.arc,
    ...conclude({
      ...{ fromDomain, record, spf: spfCheck, signatures, carried },
      relay: confirmsSender(relay, fromDomain),
    }),
  };
}

/** Without one From mailbox, there is no author that could be verified. */
async function withoutAuthor(
  spf: MethodResult,
  claim: Claim | undefined,
  claimRecord: Promise<DmarcRecord> | undefined,
): Promise<AuthenticationVerdict> {
  // SPF is the only check that covers the envelope sender.
  const isCovered = claim?.isEnvelope === true && spf === 'pass';
  const claimed = isCovered ? 'none' : policyOf(await claimRecord);
  const other = { dkim: 'none', arc: 'none', policy: 'none', aligned: 'none' } as const;
  return { ...other, spf, dmarc: 'permerror', ...(claimed && { claimed }) };
}

interface Evidence {
  readonly fromDomain: string;
  readonly record: DmarcRecord;
  readonly spf: SpfCheck;
  readonly signatures: SignatureCheck;
  readonly carried: 'pass' | 'none' | 'undecided';
  readonly relay: boolean;
}

/** RFC 7489 §6.6.2. Results of a trusted host count if our own checks find nothing. */
function conclude(evidence: Evidence): Pick<AuthenticationVerdict, 'dmarc' | 'policy' | 'aligned'> {
  const { fromDomain, record, spf, signatures, carried, relay } = evidence;
  const found = record.kind === 'found';
  const policy = found ? record.policy : 'none';
  const aligned = alignedMethod(evidence);
  if (found && aligned !== 'none') return { dmarc: 'pass', policy, aligned };
  if (relay) return { dmarc: 'pass', policy, aligned: 'relay' };
  if (carried === 'pass') return { dmarc: 'pass', policy, aligned: 'arc' };
  if (!found) return { dmarc: record.kind, policy, aligned };
  // A DNS failure matters only for a method that could have passed; otherwise anyone could cause
  // one.
  const mightPass =
    carried === 'undecided' ||
    signatures.undecided.some((domain) => isAligned(fromDomain, domain, record.strictDkim)) ||
    (spf.result === 'temperror' && isAligned(fromDomain, spf.domain, record.strictSpf));
  return { dmarc: mightPass ? 'temperror' : 'fail', policy, aligned: 'none' };
}

/** The method that passes for the domain in From; relaxed where no record says otherwise. */
function alignedMethod({ fromDomain, record, spf, signatures }: Evidence): 'dkim' | 'spf' | 'none' {
  const { strictDkim, strictSpf } =
    record.kind === 'found' ? record : { strictDkim: false, strictSpf: false };
  const isOfAuthor = (domain: string) => isAligned(fromDomain, domain, strictDkim);
  if (signatures.passed.some(isOfAuthor)) return 'dkim';
  return spf.result === 'pass' && isAligned(fromDomain, spf.domain, strictSpf) ? 'spf' : 'none';
}

function outOfTime(head: SignedHead, fromDomain: string): SignatureCheck {
  return {
    dkim: head.signatures > 0 ? 'temperror' : 'none',
    passed: [],
    undecided: head.signatures > 0 ? [fromDomain] : [],
    arc: head.arc.length > 0 ? 'temperror' : 'none',
  };
}

/** The result of the work, or the given one on timeout. */
async function inTime<Result>(
  signal: AbortSignal,
  work: Promise<Result>,
  otherwise: Result,
): Promise<Result> {
  if (signal.aborted) return otherwise;
  const over = new Promise<Result>((resolve) => {
    signal.addEventListener('abort', () => resolve(otherwise), { once: true });
  });
  const done = work.catch((error: unknown) => {
    if (signal.aborted) return otherwise;
    throw error;
  });
  return await Promise.race([done, over]);
}
