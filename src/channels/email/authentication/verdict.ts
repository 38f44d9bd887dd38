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
  /** Valid or not, it says nothing of the domain in From, or nobody trusts who made it. */
  'unrelated',
] as const;

/** What DNS and signatures tell of a message. No addresses: it is logged. */
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

/** When nothing could be asked. It is never a reason to refuse. */
export const UNKNOWN_VERDICT: AuthenticationVerdict = {
  spf: 'temperror',
  dkim: 'temperror',
  arc: 'none',
  dmarc: 'temperror',
  policy: 'none',
  aligned: 'none',
};
