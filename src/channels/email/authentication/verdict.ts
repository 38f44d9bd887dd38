import * as z from 'zod';

/** The result of one method, in the terms of RFC 8601 §2.7. */
const METHOD_RESULTS = [
  'pass',
  'fail',
  'softfail',
  'neutral',
  'none',
  'policy',
  'temperror',
  'permerror',
  /** SPF for a trusted relay: the sender's own server is one hop further. */
  'skipped',
  /** Valid or not, it is not for the domain in From, or its signer is not trusted. */
  'unrelated',
] as const;

/** The result of the checks of a message. It contains no addresses, because it is logged. */
export const verdictSchema = z.object({
  spf: z.enum(METHOD_RESULTS),
  dkim: z.enum(METHOD_RESULTS),
  arc: z.enum(METHOD_RESULTS),
  /** `permerror`: not exactly one From address. */
  dmarc: z.enum(['pass', 'fail', 'none', 'temperror', 'permerror']),
  /** The policy that the domain in From publishes for a message that fails. */
  policy: z.enum(['none', 'quarantine', 'reject']),
  /** The method that confirms the domain in From. */
  aligned: z.enum(['none', 'spf', 'dkim', 'arc', 'relay']),
  /**
   * For a person named outside From (Reply-To, X-Original-From …): `verified` by a trusted seal,
   * otherwise the policy of their domain, as far as DNS shows it.
   */
  claimed: z.exactOptional(z.enum(['verified', 'none', 'quarantine', 'reject', 'temperror'])),
  /**
   * Names of fields, separated by spaces, which occur more often than a valid signature covers: the
   * sender is unverified.
   */
  repeated: z.exactOptional(z.string()),
  /**
   * Fields that what confirms the sender does not cover, separated by spaces: those with addresses
   * that get copies, and those that answers repeat.
   */
  uncovered: z.exactOptional(z.string()),
  /** The check did not end. `record`: the policy could not be read either. */
  unfinished: z.exactOptional(z.enum(['check', 'record'])),
});

export type AuthenticationVerdict = Readonly<z.infer<typeof verdictSchema>>;
export type MethodResult = AuthenticationVerdict['spf'];
export type PublishedPolicy = AuthenticationVerdict['policy'];

/** The verdict if nothing could be checked. It is never a reason to refuse. */
export const UNKNOWN_VERDICT: AuthenticationVerdict = {
  spf: 'temperror',
  dkim: 'temperror',
  arc: 'none',
  dmarc: 'temperror',
  policy: 'none',
  aligned: 'none',
};
/** The verdict if the check did not end. */
export const UNENDED_VERDICT: AuthenticationVerdict = { ...UNKNOWN_VERDICT, unfinished: 'record' };

/** Whether the check did not end, and the domain in From has a policy or may have one. */
const mayBeEnforced = ({ unfinished, policy }: AuthenticationVerdict): boolean =>
  unfinished === 'record' || (unfinished === 'check' && policy !== 'none');

/**
 * The verdict on a message whose structure leaves open which text was signed: nothing passes. It
 * counts as one that fails without a policy, so that it is delivered without cc and bcc.
 */
export function withoutPass(verdict: AuthenticationVerdict): AuthenticationVerdict {
  const { claimed, ...rest } = verdict;
  const passed = verdict.dmarc === 'pass' ? ({ dmarc: 'fail', policy: 'none' } as const) : {};
  return {
    ...rest,
    ...passed,
    aligned: 'none',
    ...(claimed !== undefined && claimed !== 'verified' && { claimed }),
  };
}

/** What the checks say of the person who wrote, for automatic answers. */
export type SenderConfirmation = 'confirmed' | 'subject unsigned' | 'unverified' | 'fails policy';

/**
 * `confirmed`: a check confirms the domain in From or, for a person named elsewhere, a trusted seal
 * confirms them. `subject unsigned`: so it does, but anyone can have written the subject and sent the
 * message again. `fails policy`: that domain wants such a message quarantined or rejected.
 */
export function confirmationOf(
  found: AuthenticationVerdict | undefined,
  claim: Claim | undefined,
): SenderConfirmation {
  const verdict = onAllFields(found);
  const isUnpublished = verdict?.dmarc === 'none' || verdict?.dmarc === 'temperror';
  const isPassed = passes(verdict) || (isUnpublished && verdict.aligned !== 'none');
  if (verdict?.claimed === 'verified' || (claim === undefined && isPassed)) {
    const isUnsigned = found?.uncovered?.split(' ').includes('subject');
    return isUnsigned === true ? 'subject unsigned' : 'confirmed';
  }
  const isEnforced = found?.claimed === 'reject' || found?.claimed === 'quarantine';
  const isForged = found?.dmarc === 'fail' && found.policy !== 'none';
  return isForged || (claim === 'by-anybody' && isEnforced) ? 'fails policy' : 'unverified';
}

/** Whether DMARC passes, or a trusted seal verifies the person who is named elsewhere. */
export function passes(found: AuthenticationVerdict | undefined): boolean {
  const verdict = onAllFields(found);
  return verdict?.claimed === 'verified' || verdict?.dmarc === 'pass';
}

/** Two fields leave open which one was signed, as a fault of the structure does. */
function onAllFields(found: AuthenticationVerdict | undefined): AuthenticationVerdict | undefined {
  return found?.repeated === undefined ? found : withoutPass(found);
}

/** How a shop treats senders that are not verified. */
export interface SenderRules {
  /** A sender that fails DMARC with a policy of quarantine or reject. */
  readonly dmarc: 'hold' | 'reject' | 'observe';
  /** Any other sender that is not verified. */
  readonly unverified: 'deliver' | 'label' | 'hold';
}

export interface SenderTreatment {
  /** An operator decides, for this reason. */
  readonly hold?: 'dmarc' | 'unverified' | 'sender_not_checked';
  /** Leaves out cc and bcc, because a forger could add themselves to the answer. */
  readonly dropCopies: boolean;
  /** Leaves out the addresses in these fields, which anyone can add to a signed message. */
  readonly uncovered?: readonly string[];
  /** Adds a line before the content that says that the sender is not verified. */
  readonly label: boolean;
}

const AS_IT_CAME: SenderTreatment = { dropCopies: false, label: false };

/**
 * Who names a person whom no check of From covers: an address that sends on behalf of others (our
 * own contact form, a form service), or anyone.
 */
export type Claim = 'by-form' | 'by-anybody';

/**
 * Decides how a message is treated, from what is known about its sender. Pure.
 *
 * A claimed person is unverified, whoever claims it, unless a trusted seal verifies them. If a form
 * names them and its own address passes, the message is delivered with a label and without copies.
 * From anyone else, it is held if the policy of the claimed domain is quarantine or reject, as if
 * it had failed; otherwise Reply-To would bypass DMARC.
 * @param verdict absent if the message was not checked, or an operator has released it
 * @param claim absent if the person is the one in From
 */
export function treatSender(
  found: AuthenticationVerdict | undefined,
  claim: Claim | undefined,
  rules: SenderRules,
): SenderTreatment {
  const treatment = treatVerdict(onAllFields(found), claim, rules);
  const uncovered = found?.uncovered?.split(' ');
  const isOpen = uncovered !== undefined && !treatment.dropCopies && rules.dmarc !== 'observe';
  return isOpen ? { ...treatment, uncovered } : treatment;
}

function treatVerdict(
  verdict: AuthenticationVerdict | undefined,
  claim: Claim | undefined,
  rules: SenderRules,
): SenderTreatment {
  // Without an author, the envelope sender counts as the author, whom no check covers.
  const isForged = verdict?.dmarc === 'fail' || verdict?.dmarc === 'permerror';
  const fails = isForged && rules.dmarc !== 'observe';
  if (fails && verdict.policy !== 'none') return { hold: 'dmarc', dropCopies: true, label: false };
  if (verdict !== undefined && mayBeEnforced(verdict) && rules.dmarc !== 'observe') {
    return { hold: 'sender_not_checked', dropCopies: true, label: false };
  }
  if (claim !== undefined && verdict?.claimed !== 'verified') {
    return treatClaim(verdict, claim, rules);
  }
  if (passes(verdict)) return AS_IT_CAME;
  if (rules.unverified === 'hold') return { hold: 'unverified', dropCopies: fails, label: false };
  return { dropCopies: fails, label: rules.unverified === 'label' };
}

function treatClaim(
  verdict: AuthenticationVerdict | undefined,
  claim: Claim,
  rules: SenderRules,
): SenderTreatment {
  const delivered: SenderTreatment = { dropCopies: true, label: true };
  const held = (hold: 'dmarc' | 'unverified') => ({ hold, dropCopies: true, label: false });
  if (verdict === undefined) return delivered;
  // A DNS failure never causes a hold.
  const isForm = claim === 'by-form' && (verdict.dmarc === 'pass' || verdict.dmarc === 'temperror');
  const isEnforced = verdict.claimed === 'reject' || verdict.claimed === 'quarantine';
  if (isEnforced && !isForm && rules.dmarc !== 'observe') return held('dmarc');
  return rules.unverified === 'hold' ? held('unverified') : delivered;
}

/**
 * Whether the door of a shop with `dmarc: reject` replies 550: only if the domain's policy is
 * reject.
 */
export function isRejected(verdict: AuthenticationVerdict | undefined): boolean {
  return verdict?.dmarc === 'fail' && verdict.policy === 'reject';
}
