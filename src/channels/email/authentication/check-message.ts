import { withinMs } from '../../../runtime/clock.ts';
import { type RawSource, readRawHead } from '../stored.ts';
import { checkSpf, type SpfCheck } from './mailauth.ts';
import { checkSignatures, type SignatureCheck } from './check-signatures.ts';
import { policyOf, sealedFor } from './claimed-sender.ts';
import { type Confirmation, uncoveredFields } from './coverage.ts';
import { type Claim, namedSenders } from './named-senders.ts';
import { type Alignment, DmarcLookups, type DmarcRecord } from './dmarc-lookups.ts';
import { limitLookups, type Resolve } from './dns-resolver.ts';
import {
  confirmsSender,
  relayResults,
  reportedSpf,
  sealedFields,
  sealedResults,
} from './reported-results.ts';
import { readSignedHead } from './signed-head.ts';
import type { SenderLists } from '../shop.ts';
import { type AuthenticationVerdict, type MethodResult, UNKNOWN_VERDICT } from './verdict.ts';

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
  /** The last check, after others that did not end: the policies that could be read decide. */
  readonly policiesOnly?: boolean;
}

export interface CheckSettings {
  /** This host's name, which is the id of our Authentication-Results. */
  readonly hostname: string;
  readonly trustedAuthservIds: readonly string[];
  /** The limit for all look-ups of one message. */
  readonly totalMs: number;
  /** The limit for one message, with its look-ups. */
  readonly endsWithinMs: number;
}

/**
 * Created once, because a signal without a reason creates an error with a stack for each message.
 */
const OVER = new (class CheckOver extends Error {
  override name = 'CheckOver';
})('the check is over');
/** The configured sealers are organizational domains; their servers seal with names below them. */
const isBelow = (domain: string, sealer: string): boolean =>
  domain === sealer || domain.endsWith(`.${sealer}`);

/**
 * SPF, DKIM, ARC and DMARC of one message. They run in parallel, and without an answer from DNS
 * within the time limit, the methods that need it are `temperror`. If look-ups timed out because
 * this thread got no processor time, this throws instead of returning `temperror`.
 * @throws the errors of reading the raw form, or an error if the check does not end in time
 */
export async function checkMessage(
  request: CheckRequest,
  settings: CheckSettings,
  resolve: Resolve,
): Promise<AuthenticationVerdict> {
  const lookups = limitLookups(resolve, settings.totalMs);
  const ended = new AbortController();
  const checking = check(request, settings, lookups.resolve, ended.signal);
  const failLate = (): never => {
    throw OVER;
  };
  try {
    const verdict = await withinMs(checking, settings.endsWithinMs, failLate);
    const isOpen = verdict.dmarc === 'temperror' || verdict.claimed === 'temperror';
    return isOpen && lookups.wereStarved() ? failLate() : verdict;
  } finally {
    ended.abort(OVER);
    lookups.end();
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
  const { fromDomain, claim } = namedSenders(head, request.senders, request.envelopeFrom);
  const dmarc = new DmarcLookups(resolve);
  const claimRecord = claim && dmarc.read(claim.domain);
  const fromRecord = fromDomain === undefined ? undefined : dmarc.read(fromDomain);
  if (request.policiesOnly) return policies(await fromRecord, await claimRecord);
  const spf = request.trustedRelay
    ? Promise.resolve(reportedSpf(relay))
    : checkSpf({ ...request, hostname }, resolve);
  if (fromDomain === undefined || fromRecord === undefined) {
    return withoutAuthor((await spf).result, claim, claimRecord);
  }

  const isTrustedSealer = (domain: string) =>
    request.trustedArcSealers.some((sealer) => isBelow(domain.toLowerCase(), sealer));
  const signed = readSignedHead(bytes, !head.truncated, fromDomain, isTrustedSealer);
  const question = { raw: request.raw, head: signed, headBytes: head.byteLength, fromDomain };
  const [spfCheck, signatures, record, claimPolicy] = await Promise.all([
    spf,
    checkSignatures({ ...question, isTrustedSealer, signal }, resolve),
    fromRecord,
    claimRecord,
  ]);
  const carried = sealedResults(signed, signatures, fromDomain);
  const sealed = claim === undefined ? 'none' : sealedFor(claim, head, signed, signatures);
  const claimed = sealed === 'none' ? policyOf(claimPolicy) : sealed;
  const isStrict = record.kind === 'found' && record.strictSpf;
  const isStrictDkim = record.kind === 'found' && record.strictDkim;
  const evidence: Evidence = {
    record,
    spf: spfCheck,
    signatures,
    carried,
    spfAlignment: (domain) => dmarc.alignment(fromDomain, record, domain, isStrict),
    dkimAlignment: (domain) => dmarc.alignment(fromDomain, record, domain, isStrictDkim),
  };
  const own = await confirmedBy(evidence);
  const conclusion = await conclude(evidence, own, confirmsSender(relay, fromDomain));
  const confirmation =
    claim !== undefined && sealed === 'verified'
      ? // The signatures are those of the group, which names the person.
        { signedFields: sealedFields(signed, signatures, claim.domain, false), bySpf: false }
      : {
          signedFields: [
            ...own.signedFields,
            ...sealedFields(signed, signatures, fromDomain, isStrict),
          ],
          bySpf: own.bySpf || !isReplayable(conclusion.aligned, signatures.dkim),
        };
  return {
    ...(claimed && { claimed }),
    spf: spfCheck.result,
    dkim: signatures.dkim,
    arc: signatures.arc,
    ...conclusion,
    ...uncoveredFields(head, confirmation),
  };
}

function policies(
  record: DmarcRecord | undefined,
  claimRecord: DmarcRecord | undefined,
): AuthenticationVerdict {
  const policy = record?.kind === 'found' ? record.policy : 'none';
  const claimed = policyOf(claimRecord);
  return { ...UNKNOWN_VERDICT, policy, ...(claimed && { claimed }), unfinished: 'check' };
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
  readonly record: DmarcRecord;
  readonly spf: SpfCheck;
  readonly signatures: SignatureCheck;
  readonly carried: 'pass' | 'none' | 'undecided';
  /** With the domain in From. */
  readonly spfAlignment: (domain: string) => Promise<Alignment>;
  readonly dkimAlignment: (domain: string) => Promise<Alignment>;
}

interface OwnConfirmation extends Confirmation {
  /** Something passes, and a DNS failure leaves open whether it is aligned. */
  readonly isOpen: boolean;
}

/** What passes for the domain in From by our own checks. */
async function confirmedBy(evidence: Evidence): Promise<OwnConfirmation> {
  const { spf, signatures, spfAlignment, dkimAlignment } = evidence;
  const bySpf = spf.result === 'pass' ? await spfAlignment(spf.domain) : 'unaligned';
  const signedFields: (readonly string[])[] = [];
  let isOpen = bySpf === 'unknown';
  for (const { domain, fields } of signatures.passed) {
    const alignment = await dkimAlignment(domain);
    if (alignment === 'aligned') signedFields.push(fields);
    isOpen ||= alignment === 'unknown';
  }
  return { signedFields, bySpf: bySpf === 'aligned', isOpen };
}

/** RFC 9989 §5.3.5. Results of a trusted host count if our own checks find nothing. */
async function conclude(
  evidence: Evidence,
  own: OwnConfirmation,
  relay: boolean,
): Promise<Pick<AuthenticationVerdict, 'dmarc' | 'policy' | 'aligned'>> {
  const { record, carried } = evidence;
  const found = record.kind === 'found';
  const policy = found ? record.policy : 'none';
  const aligned = own.signedFields.length > 0 ? 'dkim' : own.bySpf ? 'spf' : 'none';
  if (found && aligned !== 'none') return { dmarc: 'pass', policy, aligned };
  if (relay) return { dmarc: 'pass', policy, aligned: 'relay' };
  if (carried === 'pass') return { dmarc: 'pass', policy, aligned: 'arc' };
  if (!found) return { dmarc: record.kind, policy, aligned };
  const mightPass = carried === 'undecided' || own.isOpen || (await mightBeAligned(evidence));
  return { dmarc: mightPass ? 'temperror' : 'fail', policy, aligned: 'none' };
}

/**
 * Whether a method could have passed without a DNS failure. Others do not matter; otherwise anyone
 * could cause one.
 */
async function mightBeAligned(evidence: Evidence): Promise<boolean> {
  const { spf, signatures, spfAlignment, dkimAlignment } = evidence;
  if (spf.result === 'temperror' && (await spfAlignment(spf.domain)) !== 'unaligned') return true;
  for (const domain of signatures.undecided) {
    if ((await dkimAlignment(domain)) !== 'unaligned') return true;
  }
  return false;
}

/**
 * Whether somebody who has the confirmed message can add to it and send it again. They cannot if
 * nothing confirms it, nor through a trusted relay that confirms it without a signature of the
 * domain: the relay has seen SPF pass.
 */
function isReplayable(aligned: AuthenticationVerdict['aligned'], dkim: MethodResult): boolean {
  return aligned === 'relay' ? dkim !== 'none' && dkim !== 'unrelated' : aligned !== 'none';
}
