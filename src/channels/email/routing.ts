import type { Current } from '../../runtime/current.ts';
import type { ShopId } from '../../domain/ids.ts';
import { type AddressMatch, type AddressMatcher, createAddressMatcher } from './address-matcher.ts';
import type { SenderOptions } from './sender.ts';
import { createFormSenders } from './known-forms.ts';
import { domainOf, matchKey } from '../../domain/email-addresses.ts';

/** RFC 5321 §4.5.1, RFC 2142 §4: every domain that takes mail has these. */
const ROLE_ACCOUNTS: ReadonlySet<string> = new Set(['postmaster', 'abuse']);

/** By what the door tells who sent a message. */
export interface RefusesForged {
  readonly trustedArcSealers: readonly string[];
  readonly senders: {
    readonly addresses: readonly string[];
    readonly formSenders: readonly string[];
  };
}

export interface EmailShop {
  readonly shopId: ShopId;
  /** `support@acme.example`, or a catch-all: `*@help.acme.example`. */
  readonly addresses: readonly string[];
  /** From addresses of contact forms and market places, whose Reply-To is the person. */
  readonly formSenders: readonly string[];
  /** One entry for a message to several of this shop's inboxes, or one each. */
  readonly severalInboxes: 'first' | 'each';
  /** The door asks who sent a message, and refuses what the sender's domain disowns. */
  readonly refusesForged?: RefusesForged;
}

/** One recipient that is ours. */
export interface Route {
  readonly shopId: ShopId;
  /**
   * The configured address; for a catch-all the recipient itself in lower case and without its
   * tag: `*@domain` is no address that the platform could know an agent by.
   */
  readonly agentContact: string;
  readonly catchAll: boolean;
  /** Mail for the operator of the domain: a person looks at it. */
  readonly hold?: 'postmaster';
}

/** Who of the shops a recipient belongs to. */
export interface AddressDirectory {
  route(recipient: string): Route | 'unknown_recipient' | 'not_our_domain';
  shop(shopId: ShopId): DirectoryShop | undefined;
  /**
   * As it is now, for whoever asks more than once about one message: a recipient that was taken is
   * still taken at the end of the message, though the shops have changed meanwhile.
   */
  snapshot(): AddressDirectory;
}

export interface DirectoryShop {
  readonly shopId: ShopId;
  readonly own: AddressMatcher;
  readonly sender: SenderOptions;
  readonly severalInboxes: 'first' | 'each';
  readonly refusesForged?: RefusesForged;
}

/** Earlier shops win where two name the same address; the configuration refuses that. */
export function createAddressDirectory(shops: readonly EmailShop[]): AddressDirectory {
  const members: DirectoryShop[] = shops.map((shop) => ({
    shopId: shop.shopId,
    own: createAddressMatcher(shop.addresses),
    sender: { formSenders: createFormSenders(shop.formSenders) },
    severalInboxes: shop.severalInboxes,
    ...(shop.refusesForged && { refusesForged: shop.refusesForged }),
  }));
  const byDomain = new Map<string, DirectoryShop[]>();
  for (const member of members) {
    for (const domain of member.own.domains) {
      byDomain.set(domain, [...(byDomain.get(domain) ?? []), member]);
    }
  }
  const [firstDomain] = byDomain.keys();
  const byId = new Map(members.map((member) => [member.shopId, member]));

  const directory: AddressDirectory = {
    route(recipient) {
      // RFC 5321 §4.1.1.3: a bare `postmaster`, without a domain, is a recipient too.
      const bare = recipient.toLowerCase() === 'postmaster' && firstDomain !== undefined;
      const key = matchKey(bare ? `postmaster@${firstDomain}` : recipient);
      const candidates = key === undefined ? undefined : byDomain.get(domainOf(key));
      if (key === undefined || candidates === undefined) return 'not_our_domain';
      return (
        matchRoute(candidates, recipient, 'exact') ??
        roleRoute(candidates, key) ??
        matchRoute(candidates, recipient, 'catch-all') ??
        'unknown_recipient'
      );
    },
    shop: (shopId) => byId.get(shopId),
    snapshot: () => directory,
  };
  return directory;
}

/** A directory that is replaced with the shops. */
export function currentDirectory(current: Current<AddressDirectory>): AddressDirectory {
  return {
    route: (recipient) => current.value.route(recipient),
    shop: (shopId) => current.value.shop(shopId),
    snapshot: () => current.value,
  };
}

function matchRoute(
  candidates: readonly DirectoryShop[],
  recipient: string,
  kind: AddressMatch['kind'],
): Route | undefined {
  for (const { shopId, own } of candidates) {
    const match = own.match(recipient);
    if (match?.kind === kind) {
      return { shopId, agentContact: match.address, catchAll: kind === 'catch-all' };
    }
  }
  return undefined;
}

function roleRoute(candidates: readonly DirectoryShop[], key: string): Route | undefined {
  const [owner] = candidates;
  const local = key.slice(0, key.lastIndexOf('@'));
  if (owner === undefined || !ROLE_ACCOUNTS.has(local)) return undefined;
  return { shopId: owner.shopId, agentContact: key, catchAll: false, hold: 'postmaster' };
}
