import { isE164, parseAddress } from '../address.ts';
import type { SmsShop, TwilioAccount } from '../shop.ts';

/** The user and the password of Basic auth. */
export interface ApiCredentials {
  readonly username: string;
  readonly password: string;
}

/** One Twilio account, whichever shops are on it. */
export interface ReconciledAccount {
  readonly accountSid: string;
  readonly credentials: ApiCredentials;
  readonly apiBaseUrl?: string | undefined;
  /**
   * The values of To to list by. Undefined lists the whole account: a messaging service's messages
   * can be told only by what they are, the list has no filter for it.
   */
  readonly addresses: readonly string[] | undefined;
}

/**
 * The accounts that can be asked. An API key is preferred; without one, the current auth token is
 * a credential as good (Twilio, "Authentication"), as it is for fetching media: who configures no
 * key must not lose messages for it.
 */
export function accountsOf(shops: readonly SmsShop[]): readonly ReconciledAccount[] {
  const bySid = new Map<string, SmsShop[]>();
  for (const shop of shops) {
    const { accountSid } = shop.twilio;
    bySid.set(accountSid, [...(bySid.get(accountSid) ?? []), shop]);
  }
  return [...bySid].flatMap(([accountSid, ofAccount]) => {
    const keyed = ofAccount.find(({ twilio }) => twilio.apiKeySecret !== undefined);
    const twilio = (keyed ?? ofAccount[0])?.twilio;
    const credentials = twilio && credentialsOf(twilio);
    if (credentials === undefined) return [];
    const { apiBaseUrl } = twilio ?? {};
    return [{ accountSid, credentials, apiBaseUrl, addresses: addressesOf(ofAccount) }];
  });
}

function credentialsOf(account: TwilioAccount): ApiCredentials | undefined {
  const { accountSid, apiKeySid, apiKeySecret } = account;
  if (apiKeySid !== undefined && apiKeySecret !== undefined) {
    return { username: apiKeySid, password: apiKeySecret };
  }
  const [current] = account.authTokens;
  return current === undefined ? undefined : { username: accountSid, password: current };
}

function addressesOf(shops: readonly SmsShop[]): string[] | undefined {
  if (shops.some(({ messagingServiceSids = [] }) => messagingServiceSids.length > 0)) {
    return undefined;
  }
  const addresses = shops.flatMap(({ numbers }) =>
    numbers.flatMap((number) => {
      const { transport, address } = parseAddress(number);
      if (isE164(address)) return [address, `whatsapp:${address}`, `rcs:${address}`];
      return transport === 'sms' ? [address] : [number];
    }),
  );
  return [...new Set(addresses)];
}
