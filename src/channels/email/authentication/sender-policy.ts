import type { AuthenticationVerdict } from './verdict.ts';

/** What a shop does with senders that nothing vouches for. */
export interface SenderRules {
  /** A sender that fails DMARC while its domain asks for quarantine or rejection. */
  readonly dmarc: 'hold' | 'reject' | 'observe';
  /** Any other sender that is not verified. */
  readonly unverified: 'deliver' | 'label' | 'hold';
}

export interface SenderTreatment {
  /** A person decides, for this reason. */
  readonly hold?: 'dmarc' | 'unverified';
  /** Without cc and bcc: whoever forges a customer could copy himself into the answer. */
  readonly dropCopies: boolean;
  /** A line before the content says that the sender is not verified. */
  readonly label: boolean;
}

const AS_IT_CAME: SenderTreatment = { dropCopies: false, label: false };

/**
 * By whom a person is named whom no check of From covers: by an address that sends in the name of
 * others (a contact form of ours, a form service), or by anybody.
 */
export type Claim = 'by-form' | 'by-anybody';

/**
 * What becomes of a message by what is known of its sender. Pure.
 *
 * A claimed person is unverified, whoever claims it, unless a trusted seal vouches. What a form says
 * whose own address passes is delivered, labelled and without copies; what anybody says is held when
 * the claimed domain asks for quarantine or rejection, as if it had failed: else Reply-To would be a
 * way around DMARC.
 * @param verdict absent when the message was not checked, or a person has released it
 * @param claim absent when the person is the one in From
 */
export function treatSender(
  verdict: AuthenticationVerdict | undefined,
  claim: Claim | undefined,
  rules: SenderRules,
): SenderTreatment {
  // Without an author the envelope's sender is taken for him, and nobody vouches for that one.
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

/** Whether the door of a shop with `dmarc: reject` answers 550. Only the domain's own wish does. */
export function isRejected(verdict: AuthenticationVerdict | undefined): boolean {
  return verdict?.dmarc === 'fail' && verdict.policy === 'reject';
}
