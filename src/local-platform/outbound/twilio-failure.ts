import { SendFailed } from './outbound.ts';

/**
 * What Twilio's answer to a message means (Twilio, "REST API: errors"). Its client's errors have
 * the `status` of the answer and Twilio's own `code`; without a status there was no answer.
 *
 * | Twilio | the reply |
 * | --- | --- |
 * | 400 and most of 4xx: no such number, not ours, opted out (21610) | is refused for good |
 * | 401, 403 | is tried again: an operator can mend credentials |
 * | 408, 425, 429, 5xx | is tried again |
 * | no connection | is tried again |
 * | no answer | may be out: is looked for, and then tried again |
 */
export function twilioFailure(error: unknown): SendFailed {
  if (error instanceof SendFailed) return error;
  const { status, code } = read(error);
  if (status === undefined) {
    const kind = NOT_SENT.has(String(code)) ? 'transient' : 'unsure';
    return new SendFailed(kind, 'Twilio did not answer', { code: String(code ?? 'network') });
  }
  const mayPass = [401, 403, 408, 425, 429].includes(status) || status >= 500 || status < 400;
  return new SendFailed(mayPass ? 'transient' : 'permanent', `Twilio answered ${status}`, {
    code: String(code ?? status),
  });
}

/** The request did not leave this machine. */
const NOT_SENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'ERR_TLS_CERT_ALTNAME_INVALID',
]);

function read(error: unknown): { status: number | undefined; code: string | number | undefined } {
  const fields: Readonly<Record<string, unknown>> =
    typeof error === 'object' && error !== null ? { ...error } : {};
  const { status, code } = fields;
  return {
    status: typeof status === 'number' ? status : undefined,
    code: typeof code === 'number' || typeof code === 'string' ? code : undefined,
  };
}
