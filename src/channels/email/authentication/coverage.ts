/**
 * What a verdict vouches for besides the domain in From. Without mailauth, so that the main thread
 * can use it too.
 */
import type { HeaderBlock } from '../header-block.ts';
import type { AuthenticationVerdict } from './verdict.ts';

/** Fields that occur at most once (RFC 5322 §3.6). Of two, readers show different ones. */
const SINGLE_FIELDS = [
  'subject',
  'to',
  'cc',
  'date',
  'reply-to',
  'message-id',
  'in-reply-to',
  'references',
] as const;
/** Fields whose addresses get a copy of the answer. */
const COPY_FIELDS = ['to', 'cc', 'bcc'] as const;
/** Fields that answers repeat. */
const REPEATED_IN_ANSWERS = ['subject', 'message-id', 'in-reply-to', 'references'] as const;

/** Whether a field occurs more than once that must not. */
export const hasRepeatedField = (head: HeaderBlock): boolean =>
  SINGLE_FIELDS.some((name) => head.count(name) > 1);

/** What confirms a domain. */
export interface Confirmation {
  /** The fields that each valid signature covers (RFC 6376 §3.5, `h=`), in lower case. */
  readonly signedFields: readonly (readonly string[])[];
  /** The domain's own server delivered the message, so nobody added anything to it. */
  readonly bySpf: boolean;
}

/**
 * The fields that a confirmation does not cover: `repeated` ones, of which somebody may have added
 * the one that is shown (RFC 6376 §8.15), and `uncovered` ones that an answer depends on, which anyone
 * can add to a signed message or replace, and send it again. A signature covers a field if it covers
 * each occurrence.
 */
export function uncoveredFields(
  head: HeaderBlock,
  { signedFields, bySpf }: Confirmation,
): Pick<AuthenticationVerdict, 'repeated' | 'uncovered'> {
  const isCovered = (name: string): boolean =>
    signedFields.some(
      (fields) => fields.filter((each) => each === name).length >= head.count(name),
    );
  const repeated = SINGLE_FIELDS.filter((name) => head.count(name) > 1 && !isCovered(name));
  const uncovered = bySpf
    ? []
    : [...COPY_FIELDS, ...REPEATED_IN_ANSWERS].filter(
        (name) => head.count(name) > 0 && !isCovered(name),
      );
  return {
    ...(repeated.length > 0 && { repeated: repeated.join(' ') }),
    ...(uncovered.length > 0 && { uncovered: uncovered.join(' ') }),
  };
}
