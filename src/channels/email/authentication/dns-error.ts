/**
 * What a look-up failed with, in the codes that mailauth reads. Everything that is not the
 * servers' trouble is `ENOTFOUND`: a name that nobody could look up must not count as trouble,
 * else a sender could make the check of his own message undecided.
 */
export class DnsError extends Error {
  override name = 'DnsError';
  readonly code: 'ENOTFOUND' | 'ENODATA' | 'ETIMEOUT' | 'ESERVFAIL';
  constructor(code: DnsError['code']) {
    super(code);
    this.code = code;
  }
}

const TROUBLE = new Set(['ESERVFAIL', 'EREFUSED', 'ENOTIMP', 'EFORMERR', 'EBADRESP']);
const SILENCE = new Set(['ETIMEOUT', 'ECONNREFUSED', 'ECANCELLED', 'EDESTRUCTION', 'ENOMEM']);

/** No server has said anything. */
export function isSilence(error: unknown): boolean {
  return SILENCE.has(codeOf(error));
}

/** Whatever a look-up failed with, as one of the four codes. */
export function toDnsError(error: unknown): DnsError {
  const code = codeOf(error);
  if (SILENCE.has(code)) return new DnsError('ETIMEOUT');
  if (TROUBLE.has(code)) return new DnsError('ESERVFAIL');
  return new DnsError(code === 'ENODATA' ? 'ENODATA' : 'ENOTFOUND');
}

function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('code' in error)) return '';
  return typeof error.code === 'string' ? error.code : '';
}
