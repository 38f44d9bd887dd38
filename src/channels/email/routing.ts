import type { Current } from '../../runtime/current.ts';
import type { ShopId } from '../../domain/ids.ts';
import { type EmailShop, type SenderLists, type SenderMatchers, senderMatchers } from './shop.ts';
import {
  type AddressMatch,
  type AddressMatcher,
  domainOf,
  matchKey,
  parseAddressList,
} from '../../domain/email-addresses.ts';
import type { HeaderBlock } from './header-block.ts';

/** RFC 5321 §4.5.1, RFC 2142 §4: every domain that accepts mail has these. */
const ROLE_ACCOUNTS: ReadonlySet<string> = new Set(['postmaster', 'abuse']);

/** One recipient that belongs to a shop. */
interface Route {
  readonly shopId: ShopId;
  /**
   * The configured address. For a catch-all, the recipient itself in lower case without its tag,
   * because the platform cannot know an agent as `*@domain`.
   */
  readonly agentContact: string;
  readonly catchAll: boolean;
  /** Mail for the operator of the domain is held. */
  readonly hold?: 'postmaster';
}

/** Finds the shop of a recipient. */
export interface AddressDirectory {
  route(recipient: string): Route | 'unknown_recipient' | 'not_our_domain';
  shop(shopId: ShopId): DirectoryShop | undefined;
  /**
   * The current directory, for several look-ups about one message: an accepted recipient is still
   * accepted at the end of the message, even if the shops have changed meanwhile.
   */
  snapshot(): AddressDirectory;
}

export interface DirectoryShop extends Omit<EmailShop, keyof SenderLists>, SenderMatchers {}

/** If two shops list the same address, the first one wins; the configuration rejects this. */
export function createAddressDirectory(shops: readonly EmailShop[]): AddressDirectory {
  const members: DirectoryShop[] = shops.map((shop) => ({ ...shop, ...senderMatchers(shop) }));
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
      // RFC 5321 §4.1.1.3: a bare `postmaster` without a domain is a valid recipient.
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

/** A directory that follows the current shops. */
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

/** Whether this is `postmaster` or `abuse` of a domain, in lower case. */
function isRoleAccount(address: string): boolean {
  return ROLE_ACCOUNTS.has(address.slice(0, address.lastIndexOf('@')));
}

/** Whether an inbox is the operator's rather than one of the shop's own addresses. */
export function isOperatorInbox(agentContact: string, own: AddressMatcher): boolean {
  return isRoleAccount(agentContact) && own.match(agentContact)?.kind !== 'exact';
}

function roleRoute(candidates: readonly DirectoryShop[], key: string): Route | undefined {
  const [owner] = candidates;
  if (owner === undefined || !isRoleAccount(key)) return undefined;
  return { shopId: owner.shopId, agentContact: key, catchAll: false, hold: 'postmaster' };
}

/** Headers in which forwarders record the original recipient, the most reliable first. */
const ORIGINAL_RECIPIENT = ['x-original-to', 'delivered-to', 'envelope-to', 'x-forwarded-to'];
const RECIPIENTS = ['to', 'cc'];
/** Later lines are not read, which limits the work for a hostile header. */
const MAX_LINES = 10;
const MAX_LINE_LENGTH = 16 * 1024;

/** One of a shop's inboxes that receives a message; it becomes one entry. */
export interface Inbox {
  readonly shopId: ShopId;
  readonly agentContact: string;
  /** The recipients in the envelope that belong to this shop. */
  readonly recipients: readonly string[];
  /** This shop's addresses in the envelope, To and Cc, in canonical form. */
  readonly ourAddresses: readonly string[];
  readonly hold?: 'postmaster';
}

interface Recipient {
  readonly address: string;
  readonly route: Route;
}

/**
 * The inboxes of a message. There is one per shop: the first of the shop's addresses in To, then
 * Cc, then the envelope. A message that the sender's server delivers in one transaction per
 * recipient is therefore always the same entry. With `severalInboxes: each` there is one per inbox.
 *
 * A recipient that matches only a catch-all is looked up in the headers of forwarders
 * (X-Original-To, Delivered-To, Envelope-To, X-Forwarded-To), then To and Cc: a configured address
 * there is the inbox, otherwise the recipient itself.
 *
 * Recipients of no shop are ignored; the SMTP dialogue has refused them.
 */
export function selectInboxes(
  directory: AddressDirectory,
  head: HeaderBlock,
  recipients: readonly string[],
): readonly Inbox[] {
  const byShop = new Map<ShopId, Recipient[]>();
  for (const address of recipients) {
    const route = directory.route(address);
    if (typeof route === 'string') continue;
    const group = byShop.get(route.shopId);
    if (group === undefined) byShop.set(route.shopId, [{ address, route }]);
    else group.push({ address, route });
  }
  const inboxes: Inbox[] = [];
  for (const [shopId, group] of byShop) {
    const shop = directory.shop(shopId);
    if (shop !== undefined) inboxes.push(...shopInboxes(shop, head, group));
  }
  return inboxes;
}

function shopInboxes(
  shop: DirectoryShop,
  head: HeaderBlock,
  group: readonly Recipient[],
): readonly Inbox[] {
  const { shopId } = shop;
  const named = matches(shop.own, head, RECIPIENTS);
  const ourAddresses: string[] = [];
  const recipients: string[] = [];
  const routes: Route[] = [];
  for (const { address, route } of group) {
    recipients.push(address);
    if (route.hold === undefined) routes.push(route);
    if (!ourAddresses.includes(route.agentContact)) ourAddresses.push(route.agentContact);
  }
  for (const { address } of named) {
    if (!ourAddresses.includes(address)) ourAddresses.push(address);
  }
  const [route, ...others] = routes;
  if (route === undefined) {
    const agentContact = group[0]?.route.agentContact;
    if (agentContact === undefined) return [];
    return [{ shopId, recipients, ourAddresses, agentContact, hold: 'postmaster' }];
  }
  return agentContacts(shop, head, named, [route, ...others]).map((agentContact) => ({
    shopId,
    recipients,
    ourAddresses,
    agentContact,
  }));
}

function agentContacts(
  shop: DirectoryShop,
  head: HeaderBlock,
  named: readonly AddressMatch[],
  routes: readonly [Route, ...Route[]],
): readonly string[] {
  const original = routes.some(({ catchAll }) => catchAll)
    ? firstExact([...matches(shop.own, head, ORIGINAL_RECIPIENT), ...named])
    : undefined;
  if (shop.severalInboxes === 'each') {
    const contacts = routes.map(
      (route) => (route.catchAll ? original : undefined) ?? route.agentContact,
    );
    return [...new Set(contacts)];
  }
  const direct = routes.find(({ catchAll }) => !catchAll);
  if (direct !== undefined) return [firstExact(named) ?? direct.agentContact];
  return [original ?? named[0]?.address ?? routes[0].agentContact];
}

function matches(
  own: AddressMatcher,
  head: HeaderBlock,
  names: readonly string[],
): readonly AddressMatch[] {
  const found: AddressMatch[] = [];
  for (const name of names) {
    for (const value of head.all(name).slice(0, MAX_LINES)) {
      for (const { address } of parseAddressList(value, MAX_LINE_LENGTH)) {
        const match = own.match(address);
        if (match !== undefined) found.push(match);
      }
    }
  }
  return found;
}

function firstExact(found: readonly AddressMatch[]): string | undefined {
  return found.find(({ kind }) => kind === 'exact')?.address;
}
