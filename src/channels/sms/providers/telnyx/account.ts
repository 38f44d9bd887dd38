import type { ProviderAccount } from '../../provider.ts';

export interface TelnyxAccount {
  readonly apiKey: string;
  /** Ed25519, 32 bytes in base64, as the portal shows it. It signs webhooks. */
  readonly publicKey: string;
  /** Replaces `https://api.telnyx.com`, for tests and proxies. Its host is trusted. */
  readonly apiBaseUrl?: string;
}

/** The account as a shop has it. */
export interface TelnyxShopAccount extends TelnyxAccount, ProviderAccount {
  readonly provider: 'telnyx';
}

/**
 * A webhook does not name the account: its number and its signature do. So all accounts have one
 * id, and the numbers of all of them are different.
 */
export const ACCOUNT_ID = 'telnyx';

export const telnyxShopAccount = (account: TelnyxAccount): TelnyxShopAccount => ({
  provider: 'telnyx',
  id: ACCOUNT_ID,
  ...account,
});
