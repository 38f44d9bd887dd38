import type { ProviderAccount } from '../../provider.ts';

export interface WhatsAppAccount {
  /** Of a system user: it sends messages and fetches media. */
  readonly accessToken: string;
  /** All secrets of the app that currently sign webhooks: two during a rotation. */
  readonly appSecrets: readonly string[];
  /** Which Meta repeats when it checks the webhook's URL. */
  readonly verifyToken: string;
  /** Meta's id of each of the shop's numbers, which are in E.164. */
  readonly senders: readonly { readonly number: string; readonly phoneNumberId: string }[];
  /** An approved template whose variable 1 is the answer, for replies after the service window. */
  readonly template?: { readonly name: string; readonly language: string };
  /** Replaces `https://graph.facebook.com/<version>`, for tests and proxies. Its host is trusted. */
  readonly apiBaseUrl?: string;
}

/** The account as a shop has it. */
export interface WhatsAppShopAccount extends WhatsAppAccount, ProviderAccount {
  readonly provider: 'whatsapp';
}

/** One id for all: a webhook names the number, not the app, and numbers are of one shop each. */
export const ACCOUNT_ID = 'whatsapp';

export const whatsappShopAccount = (account: WhatsAppAccount): WhatsAppShopAccount => ({
  ...{ provider: 'whatsapp', id: ACCOUNT_ID },
  ...account,
});
