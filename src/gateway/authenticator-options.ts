import type { AuthenticatorOptions } from '../channels/email/authentication/authenticator.ts';
import type { CompleteConfig } from '../config/complete.ts';

/** The options for checking senders. */
export function authenticatorOptions({ smtp, dns }: CompleteConfig): AuthenticatorOptions {
  return {
    hostname: smtp.hostname,
    trustedAuthservIds: smtp.trustedAuthservIds,
    dns: { servers: dns.servers },
  };
}
