import { parseAddressList } from '../../domain/email-addresses.ts';
import type { HeaderBlock } from '../../channels/email/header-block.ts';
import type { AddressDirectory } from '../../channels/email/routing.ts';
import type { ShopId } from '../../domain/ids.ts';

/** Headers that may name the recipients, the most reliable first. */
const WRITTEN_BY_FORWARDERS = ['delivered-to', 'x-original-to', 'envelope-to', 'x-forwarded-to'];
const WRITTEN_BY_SENDERS = ['to', 'cc'];
/** Limits the work for a hostile header. */
const MAX_LINES = 20;

/** The envelope that the operator specified. */
export interface EnvelopeChoice {
  readonly to?: readonly string[];
  readonly from?: string;
  /** Only for this shop, and for its first inbox if no recipient belongs to it. */
  readonly shop?: { readonly shopId: ShopId; readonly inbox: string };
}

/**
 * The recipients of a message among the configured addresses: those the operator specified, else
 * those of the export, else those of its headers. Empty if none is configured.
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

/** The envelope sender: as specified, as in the export, from Return-Path, or from From. */
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
 * When a message first arrived: the time of the topmost Received header (RFC 5321 §4.4), which the
 * last server added. Undefined if there is no readable one.
 */
export function arrivalOf(head: HeaderBlock): number | undefined {
  const line = head.first('received');
  const date = line
    ?.slice(line.lastIndexOf(';') + 1, line.lastIndexOf(';') + 100)
    .replace(/\([^()]*\)/g, ' ');
  const at = date === undefined ? NaN : Date.parse(date.trim());
  return Number.isNaN(at) ? undefined : at;
}
