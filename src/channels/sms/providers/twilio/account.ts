import type { ProviderAccount } from '../../provider.ts';

export interface TwilioAccount {
  readonly accountSid: string;
  /**
   * All tokens that currently sign webhooks: two during a rotation. The first is the current one.
   */
  readonly authTokens: readonly string[];
  /** The keys with which webhook rules of the account sign instead; several while one is replaced. */
  readonly sharedKeys?: readonly { readonly sid: string; readonly secret: string }[];
  readonly apiKeySid?: string;
  readonly apiKeySecret?: string;
  /** Replaces `https://api.twilio.com`, for tests and proxies. Its host is trusted. */
  readonly apiBaseUrl?: string;
}

/** The account as a shop has it. */
export interface TwilioShopAccount extends TwilioAccount, ProviderAccount {
  readonly provider: 'twilio';
}

export const twilioShopAccount = (account: TwilioAccount): TwilioShopAccount => ({
  provider: 'twilio',
  id: account.accountSid,
  ...account,
});
