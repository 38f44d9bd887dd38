import * as z from 'zod';

/** One method's result, in the words of RFC 8601 §2.7. */
const METHOD_RESULTS = [
  'pass',
  'fail',
  'softfail',
  'neutral',
  'none',
  'policy',
  'temperror',
  'permerror',
  /** SPF of a trusted relay: the sender's own server is one hop further. */
  'skipped',
  /** Valid or not, it is not for the domain in From, or its maker is not trusted. */
  'unrelated',
] as const;

/** What DNS and signatures tell about a message. It holds no addresses, for it is logged. */
export const verdictSchema = z.object({
  spf: z.enum(METHOD_RESULTS),
  dkim: z.enum(METHOD_RESULTS),
  arc: z.enum(METHOD_RESULTS),
  /** `permerror`: not exactly one From address. */
  dmarc: z.enum(['pass', 'fail', 'none', 'temperror', 'permerror']),
  /** What the domain in From publishes for a message that fails. */
  policy: z.enum(['none', 'quarantine', 'reject']),
  /** What vouches for the domain in From. */
  aligned: z.enum(['none', 'spf', 'dkim', 'arc', 'relay']),
  /**
   * Of the person whom the message names outside From (Reply-To, X-Original-From …), if it does:
   * `verified` by a trusted seal; else what their domain publishes, as far as DNS tells.
   */
  claimed: z.exactOptional(z.enum(['verified', 'none', 'quarantine', 'reject', 'temperror'])),
});

export type AuthenticationVerdict = Readonly<z.infer<typeof verdictSchema>>;
export type MethodResult = AuthenticationVerdict['spf'];
export type PublishedPolicy = AuthenticationVerdict['policy'];

/** When nothing could be checked. It is never a reason to refuse. */
export const UNKNOWN_VERDICT: AuthenticationVerdict = {
  spf: 'temperror',
  dkim: 'temperror',
  arc: 'none',
  dmarc: 'temperror',
  policy: 'none',
  aligned: 'none',
};

/** What a shop does with senders that are not verified. */
export interface SenderRules {
  /** A sender that fails DMARC while its domain asks for quarantine or rejection. */
  readonly dmarc: 'hold' | 'reject' | 'observe';
  /** Any other sender that is not verified. */
  readonly unverified: 'deliver' | 'label' | 'hold';
}

export interface SenderTreatment {
  /** A person decides, for this reason. */
  readonly hold?: 'dmarc' | 'unverified';
  /** Without cc and bcc: whoever forges a customer could add themselves to the answer. */
  readonly dropCopies: boolean;
  /** A line before the content says that the sender is not verified. */
  readonly label: boolean;
}

const AS_IT_CAME: SenderTreatment = { dropCopies: false, label: false };

/**
 * Who names a person whom no check of From covers: an address that sends in the name of others (a
 * contact form of ours, a form service), or anybody.
 */
export type Claim = 'by-form' | 'by-anybody';

/**
 * How a message is treated by what is known about its sender. Pure.
 *
 * A claimed person is unverified, whoever claims it, unless a trusted seal verifies it. If a form
 * names them and its own address passes, the message is delivered, labelled and without copies. If
 * anybody else does, it is held when the claimed domain asks for quarantine or rejection, as if it
 * had failed: else Reply-To would be a way around DMARC.
 * @param verdict absent when the message was not checked, or a person has released it
 * @param claim absent when the person is the one in From
 */
export function treatSender(
  verdict: AuthenticationVerdict | undefined,
  claim: Claim | undefined,
  rules: SenderRules,
): SenderTreatment {
  // Without an author the envelope's sender counts as the author, and no check covers that one.
  const isForged = verdict?.dmarc === 'fail' || verdict?.dmarc === 'permerror';
  const fails = isForged && rules.dmarc !== 'observe';
  if (fails && verdict.policy !== 'none') return { hold: 'dmarc', dropCopies: true, label: false };
  if (claim !== undefined && verdict?.claimed !== 'verified') {
    return treatClaim(verdict, claim, rules);
  }
  if (verdict?.dmarc === 'pass' || verdict?.claimed === 'verified') return AS_IT_CAME;
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
  // DNS trouble holds nothing.
  const isForm = claim === 'by-form' && (verdict.dmarc === 'pass' || verdict.dmarc === 'temperror');
  const isEnforced = verdict.claimed === 'reject' || verdict.claimed === 'quarantine';
  if (isEnforced && !isForm && rules.dmarc !== 'observe') return held('dmarc');
  return rules.unverified === 'hold' ? held('unverified') : delivered;
}

/** Whether the door of a shop with `dmarc: reject` answers 550: only where the domain asks for it. */
export function isRejected(verdict: AuthenticationVerdict | undefined): boolean {
  return verdict?.dmarc === 'fail' && verdict.policy === 'reject';
}
