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
 * What becomes of a message by what is known of its sender. Pure.
 * @param verdict absent when the message was not checked: then nothing changes for `deliver`
 * @param fromReplyTo no check of From covers a person who is named in Reply-To
 */
export function treatSender(
  verdict: AuthenticationVerdict | undefined,
  fromReplyTo: boolean,
  rules: SenderRules,
): SenderTreatment {
  // Without an author the envelope's sender is taken for him, and nobody vouches for that one.
  const isForged = verdict?.dmarc === 'fail' || verdict?.dmarc === 'permerror';
  const fails = isForged && rules.dmarc !== 'observe';
  if (fails && verdict.policy !== 'none') return { hold: 'dmarc', dropCopies: true, label: false };
  if (verdict?.dmarc === 'pass' && !fromReplyTo) return AS_IT_CAME;
  if (rules.unverified === 'hold') return { hold: 'unverified', dropCopies: fails, label: false };
  return { dropCopies: fails, label: rules.unverified === 'label' };
}

/** Whether the door of a shop with `dmarc: reject` answers 550. Only the domain's own wish does. */
export function isRejected(verdict: AuthenticationVerdict | undefined): boolean {
  return verdict?.dmarc === 'fail' && verdict.policy === 'reject';
}
