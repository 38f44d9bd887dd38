import type { RateLimits } from '../../spool/sender-rates.ts';
import type { ShopId } from '../../domain/ids.ts';
import { parseAddress } from './address.ts';

/** The SMS settings of a shop. */
export interface SmsShop {
  /** The configured name, for logs and metrics. */
  readonly name: string;
  readonly shopId: ShopId;
  /** The shop's own numbers: E.164, short codes, or RCS agents. */
  readonly numbers: readonly string[];
  /** Finds the shop if `To` is none of its numbers. */
  readonly messagingServiceSids?: readonly string[];
  readonly twilio: TwilioAccount;
  /** `twilio`: Twilio answers STOP and START on these numbers itself. */
  readonly optOut: 'twilio' | 'none';
  readonly whatsapp: 'deliver' | 'hold';
  /**
   * Messages of one person above these limits are held: a flood, or a loop between two machines.
   */
  readonly loop: RateLimits;
}

export interface TwilioAccount {
  readonly accountSid: string;
  /**
   * All tokens that currently sign webhooks: two during a rotation. The first is the current one.
   */
  readonly authTokens: readonly string[];
  readonly apiKeySid?: string;
  readonly apiKeySecret?: string;
  /** Replaces `https://api.twilio.com`, for tests and proxies. Its host is trusted. */
  readonly apiBaseUrl?: string;
}

export interface ShopDirectory {
  /** The shop of a message to this address. */
  find(accountSid: string, to: string, messagingServiceSid?: string): SmsShop | undefined;
  /** All shops on one Twilio account. */
  ofAccount(accountSid: string): readonly SmsShop[];
}

/** @throws {Error} two shops have the same number or messaging service of one account */
export function createShopDirectory(shops: readonly SmsShop[]): ShopDirectory {
  const byAddress = new Map<string, SmsShop>();
  const byService = new Map<string, SmsShop>();
  const byAccount = new Map<string, SmsShop[]>();
  for (const shop of shops) {
    const { accountSid } = shop.twilio;
    for (const number of shop.numbers) {
      claim(byAddress, key(accountSid, parseAddress(number).address), shop);
    }
    for (const sid of shop.messagingServiceSids ?? []) {
      claim(byService, key(accountSid, sid), shop);
    }
    byAccount.set(accountSid, [...(byAccount.get(accountSid) ?? []), shop]);
  }
  return {
    find: (accountSid, to, messagingServiceSid) =>
      byAddress.get(key(accountSid, parseAddress(to).address)) ??
      (messagingServiceSid === undefined
        ? undefined
        : byService.get(key(accountSid, messagingServiceSid))),
    ofAccount: (accountSid) => byAccount.get(accountSid) ?? [],
  };
}

const key = (accountSid: string, rest: string): string => `${accountSid} ${rest}`;

function claim(owners: Map<string, SmsShop>, what: string, shop: SmsShop): void {
  const owner = owners.get(what);
  if (owner !== undefined && owner !== shop) {
    throw new Error(`Shops "${owner.name}" and "${shop.name}" share an SMS number or service`);
  }
  owners.set(what, shop);
}
