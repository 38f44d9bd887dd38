import { withinMs } from '../../../runtime/clock.ts';
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
import { type Confirmation, uncoveredFields } from './coverage.ts';
import { type Claim, namedSenders } from './named-senders.ts';
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
  const claimRecord = claim && readDmarcRecord(claim.domain, resolve);
  const fromRecord = fromDomain === undefined ? undefined : readDmarcRecord(fromDomain, resolve);
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
  const evidence = { fromDomain, record, spf: spfCheck, signatures, carried };
  const own = confirmedBy(evidence);
  const conclusion = conclude(evidence, own, confirmsSender(relay, fromDomain));
  const isStrict = record.kind === 'found' && record.strictSpf;
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
  readonly fromDomain: string;
  readonly record: DmarcRecord;
  readonly spf: SpfCheck;
  readonly signatures: SignatureCheck;
  readonly carried: 'pass' | 'none' | 'undecided';
}

/** What passes for the domain in From by our own checks; relaxed without a DMARC record. */
function confirmedBy({ fromDomain, record, spf, signatures }: Evidence): Confirmation {
  const { strictDkim, strictSpf } =
    record.kind === 'found' ? record : { strictDkim: false, strictSpf: false };
  const signedFields = signatures.passed
    .filter(({ domain }) => isAligned(fromDomain, domain, strictDkim))
    .map(({ fields }) => fields);
  const bySpf = spf.result === 'pass' && isAligned(fromDomain, spf.domain, strictSpf);
  return { signedFields, bySpf };
}

/** RFC 7489 §6.6.2. Results of a trusted host count if our own checks find nothing. */
function conclude(
  { fromDomain, record, spf, signatures, carried }: Evidence,
  own: Confirmation,
  relay: boolean,
): Pick<AuthenticationVerdict, 'dmarc' | 'policy' | 'aligned'> {
  const found = record.kind === 'found';
  const policy = found ? record.policy : 'none';
  const aligned = own.signedFields.length > 0 ? 'dkim' : own.bySpf ? 'spf' : 'none';
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

/**
 * Whether somebody who has the confirmed message can add to it and send it again. They cannot if
 * nothing confirms it, nor through a trusted relay that confirms it without a signature of the
 * domain: the relay has seen SPF pass.
 */
function isReplayable(aligned: AuthenticationVerdict['aligned'], dkim: MethodResult): boolean {
  return aligned === 'relay' ? dkim !== 'none' && dkim !== 'unrelated' : aligned !== 'none';
}
