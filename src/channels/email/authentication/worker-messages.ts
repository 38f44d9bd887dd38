import type { CheckRequest, CheckSettings } from './check-message.ts';
import type { DnsOptions } from './dns-resolver.ts';
import type { AuthenticationVerdict } from './verdict.ts';

/** What the thread is started with. */
export interface AuthenticationSettings extends CheckSettings {
  readonly dns: DnsOptions;
}

export interface ToAuthenticationWorker {
  readonly id: number;
  readonly request: CheckRequest;
}

export type FromAuthenticationWorker =
  | { readonly id: number; readonly verdict: AuthenticationVerdict }
  /** The kind of error that ended the check. */
  | { readonly id: number; readonly error: string };
