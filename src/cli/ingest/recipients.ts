import { parseAddressList } from '../../domain/email-addresses.ts';
import type { HeaderBlock } from '../../channels/email/header-block.ts';
import type { AddressDirectory } from '../../channels/email/routing.ts';
import type { ShopId } from '../../domain/ids.ts';

/** Where a message's recipients may stand, the most telling first. */
const WRITTEN_BY_FORWARDERS = ['delivered-to', 'x-original-to', 'envelope-to', 'x-forwarded-to'];
const WRITTEN_BY_SENDERS = ['to', 'cc'];
/** It bounds the work on a hostile header. */
const MAX_LINES = 20;

/** What the operator said of the envelope. */
export interface EnvelopeChoice {
  readonly to?: readonly string[];
  readonly from?: string;
  /** Only for this shop; and its own inbox when no recipient is one of this shop's. */
  readonly shop?: { readonly shopId: ShopId; readonly inbox: string };
}

/**
 * Whom a message is for, among the configured addresses: as the operator said, else as its place
 * says (an export), else as its headers do. Empty: nobody here.
 */
export function recipientsOf(
  head: HeaderBlock,
  choice: EnvelopeChoice,
  known: readonly string[],
  directory: AddressDirectory,
): readonly string[] {
  const ours = (addresses: readonly string[]) =>
    [...new Set(addresses)].filter((address) => {
      const route = directory.route(address);
      if (typeof route === 'string') return false;
      return choice.shop === undefined || route.shopId === choice.shop.shopId;
    });
  if (choice.to !== undefined) return ours(choice.to);
  const candidates = [
    ours(known),
    ours(addressesIn(head, WRITTEN_BY_FORWARDERS)),
    ours(addressesIn(head, WRITTEN_BY_SENDERS)),
  ];
  const found = candidates.find((each) => each.length > 0);
  return found ?? (choice.shop === undefined ? [] : ours([choice.shop.inbox]));
}

/** The envelope's sender: as said, as the place says, Return-Path, else From. */
export function senderOf(
  head: HeaderBlock,
  choice: EnvelopeChoice,
  known: string | undefined,
): string {
  if (choice.from !== undefined) return choice.from;
  if (known !== undefined && known !== '') return known;
  const path = head.first('return-path')?.trim();
  if (path === '<>') return '';
  const [address] = addressesIn(head, path === undefined ? ['from'] : ['return-path', 'from']);
  return address ?? '';
}

function addressesIn(head: HeaderBlock, names: readonly string[]): string[] {
  return names.flatMap((name) =>
    head
      .all(name)
      .slice(0, MAX_LINES)
      .flatMap((value) => parseAddressList(value).map(({ address }) => address)),
  );
}

/**
 * When a message first arrived: the time of the topmost Received line (RFC 5321 §4.4), which the
 * last server on its way wrote. Undefined when there is none that can be read.
 */
export function arrivalOf(head: HeaderBlock): number | undefined {
  const line = head.first('received');
  const date = line
    ?.slice(line.lastIndexOf(';') + 1, line.lastIndexOf(';') + 100)
    .replace(/\([^()]*\)/g, ' ');
  const at = date === undefined ? NaN : Date.parse(date.trim());
  return Number.isNaN(at) ? undefined : at;
}
