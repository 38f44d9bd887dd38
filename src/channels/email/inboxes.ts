import type { ShopId } from '../../domain/ids.ts';
import type { AddressMatch, AddressMatcher } from './address-matcher.ts';
import { parseAddressList } from '../../domain/email-addresses.ts';
import type { HeaderBlock } from './header-block.ts';
import type { AddressDirectory, DirectoryShop, Route } from './routing.ts';

/** What a forwarder writes the original recipient into, the most telling first. */
const ORIGINAL_RECIPIENT = ['x-original-to', 'delivered-to', 'envelope-to', 'x-forwarded-to'];
const RECIPIENTS = ['to', 'cc'];
/** Nobody means an inbox that comes later than this; it bounds the work on a hostile header. */
const MAX_LINES = 10;
const MAX_LINE_LENGTH = 16 * 1024;

/** One of a shop's inboxes that a message is for: it becomes one entry. */
export interface Inbox {
  readonly shopId: ShopId;
  readonly agentContact: string;
  /** The envelope's recipients that belong to this shop. */
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
 * Who a message is for. One inbox per shop: the first of the shop's addresses in To, then Cc,
 * then the envelope, so that a message which the sender's server delivers in one transaction per
 * recipient is the same entry each time. With `severalInboxes: each` one per inbox.
 *
 * A recipient that only a catch-all matched is looked up in the headers that forwarders write
 * (X-Original-To, Delivered-To, Envelope-To, X-Forwarded-To), then To and Cc: a configured
 * address there is the inbox, else the recipient itself.
 *
 * Recipients that are not ours are passed over; the SMTP dialogue has refused them.
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
