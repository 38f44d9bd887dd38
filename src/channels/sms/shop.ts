import type { RateLimits } from '../../spool/sender-rates.ts';
import type { ShopId } from '../../domain/ids.ts';
import { parseAddress } from './address.ts';
import type { ProviderAccount } from './provider.ts';

/** The SMS settings of a shop. */
export interface SmsShop {
  /** The configured name, for logs and metrics. */
  readonly name: string;
  readonly shopId: ShopId;
  /** The shop's own numbers: E.164, short codes, or RCS agents. */
  readonly numbers: readonly string[];
  /** The provider's ids of groups of numbers. They find the shop if `to` is none of its numbers. */
  readonly services?: readonly string[];
  /** Its account at the provider of its numbers. */
  readonly account: ProviderAccount;
  /** `provider`: the provider answers STOP and START on these numbers itself. */
  readonly optOut: 'provider' | 'none';
  readonly whatsapp: 'deliver' | 'hold';
  /** Its platform is the embedded one, which keeps what the shop writes on its own phone as notes. */
  readonly hasNotes?: boolean;
  /**
   * Messages of one person above these limits are held: a flood, or a loop between two machines.
   */
  readonly loop: RateLimits;
}

/** Whether an address is one of the shop's own: what it sends is no customer's message. */
export const isOurs = ({ numbers }: Pick<SmsShop, 'numbers'>, address: string): boolean =>
  numbers.some((number) => parseAddress(number).address === parseAddress(address).address);

export interface ShopDirectory {
  /** The shop of a message to this address. */
  find(account: string, to: string, service?: string): SmsShop | undefined;
  /** All shops on one account. */
  ofAccount(account: string): readonly SmsShop[];
  readonly all: readonly SmsShop[];
}

/** @throws {Error} two shops have the same number or service of one account */
export function createShopDirectory(shops: readonly SmsShop[]): ShopDirectory {
  const byAddress = new Map<string, SmsShop>();
  const byService = new Map<string, SmsShop>();
  const byAccount = new Map<string, SmsShop[]>();
  for (const shop of shops) {
    const { id } = shop.account;
    for (const number of shop.numbers) {
      claim(byAddress, key(id, parseAddress(number).address), shop);
    }
    for (const service of shop.services ?? []) claim(byService, key(id, service), shop);
    byAccount.set(id, [...(byAccount.get(id) ?? []), shop]);
  }
  return {
    find: (account, to, service) =>
      byAddress.get(key(account, parseAddress(to).address)) ??
      (service === undefined ? undefined : byService.get(key(account, service))),
    ofAccount: (account) => byAccount.get(account) ?? [],
    all: shops,
  };
}

const key = (account: string, rest: string): string => `${account} ${rest}`;

function claim(owners: Map<string, SmsShop>, what: string, shop: SmsShop): void {
  const owner = owners.get(what);
  if (owner !== undefined && owner !== shop) {
    throw new Error(`Shops "${owner.name}" and "${shop.name}" share an SMS number or service`);
  }
  owners.set(what, shop);
}
