import { domainToASCII } from 'node:url';
import addressparser from 'nodemailer/lib/addressparser';

/** The most characters of a header that are read; a longer one is cut at the last comma before. */
const MAX_LIST_LENGTH = 64 * 1024;
const MAX_ADDRESSES = 1000;
/** RFC 5321 §4.5.3.1.3 allows 256; some real forwarders write longer local parts. */
const MAX_ADDRESS_LENGTH = 320;

/** Addresses that are already canonical, and headers that need no parser. Most match these. */
const PLAIN_ADDRESS = /^[\w.!#$%&'*/=?^`{|}~-]+@[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/;
/** RFC 5321 §4.1.2: `"ann"` is the same mailbox as `ann`. */
const NEEDLESS_QUOTES = /^"([\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*)"$/;
const PLAIN_MATCH_KEY = /^[a-z0-9_.-]+@[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/;
const BARE_HEADER = /^[\w.+-]+@[\w.-]+$/;
const NAMED_HEADER = /^(?:([^"(),:;<>@[\]\\\s]+(?: [^"(),:;<>@[\]\\\s]+)*) )?<([\w.+-]+@[\w.-]+)>$/;

export interface Mailbox {
  /** The display name as received, without decoding encoded words. Empty if there is none. */
  readonly name: string;
  /** The local part as received; the domain in lower case and ASCII. */
  readonly address: string;
}

/**
 * Parses an address header (RFC 5322 §3.4). Groups are flattened, and invalid addresses are
 * skipped. The header's length and the number of addresses are limited.
 */
export function parseAddressList(value: string, maxLength = MAX_LIST_LENGTH): readonly Mailbox[] {
  const plain = value.length < MAX_ADDRESS_LENGTH ? plainMailbox(value) : undefined;
  if (plain !== undefined) return [plain];
  const mailboxes: Mailbox[] = [];
  const list = quotedWords(cut(value, maxLength));
  for (const { name, address } of addressparser(list, { flatten: true })) {
    const canonical = canonicalAddress(address);
    if (canonical !== undefined) mailboxes.push({ name, address: canonical });
    if (mailboxes.length === MAX_ADDRESSES) break;
  }
  return mailboxes;
}

/**
 * The address with its domain in lower case and ASCII, or undefined if it is invalid. The local
 * part is checked leniently: `user.@docomo.ne.jp` and `a..b@example.com` exist.
 */
export function canonicalAddress(address: string): string | undefined {
  if (address.length <= MAX_ADDRESS_LENGTH && PLAIN_ADDRESS.test(address)) return address;
  const text = address.trim();
  const at = text.lastIndexOf('@');
  if (at < 1 || text.length > MAX_ADDRESS_LENGTH) return undefined;
  const local = text.slice(0, at).replace(NEEDLESS_QUOTES, '$1');
  const domain = canonicalDomain(text.slice(at + 1));
  if (domain === undefined || !isLocalPart(local)) return undefined;
  return `${local}@${domain}`;
}

/**
 * The domain in lower case and ASCII (RFC 5891), without a trailing dot; undefined if it is
 * invalid.
 */
export function canonicalDomain(domain: string): string | undefined {
  const bare = domain.trim().replace(/\.$/, '').toLowerCase();
  if (/^\[[0-9a-f.:]+\]$|^\[ipv6:[0-9a-f.:]+\]$/.test(bare)) return bare;
  // domainToASCII reads "123" as an IPv4 address, so it is used only where necessary.
  const ascii = /^[\x00-\x7f]*$/.test(bare) ? bare : domainToASCII(bare);
  return /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/.test(ascii) ? ascii : undefined;
}

/**
 * The form in which addresses are compared: lower case, domain in ASCII, without the `+tag`.
 * Undefined for an invalid address.
 */
export function matchKey(address: string): string | undefined {
  if (address.length <= MAX_ADDRESS_LENGTH && PLAIN_MATCH_KEY.test(address)) return address;
  const key = canonicalAddress(address)?.normalize('NFC').toLowerCase();
  return key === undefined ? undefined : untagged(key);
}

/** The address without its `+tag`, which is a word of whoever wrote it. */
export function untagged(address: string): string {
  const at = address.lastIndexOf('@');
  const plus = address.indexOf('+', 1);
  return plus === -1 || plus > at ? address : address.slice(0, plus) + address.slice(at);
}

/**
 * Whether a name contains an email address other than the person's own: `ceo@bank.example` before
 * `<eve@x.example>` is read as the sender, so it is not used as a name.
 */
export function containsOtherAddress(name: string, own: string | undefined): boolean {
  const read = name.normalize('NFKC').trim().toLowerCase();
  return /[^\s@]@[^\s@]/.test(read) && read !== own?.trim().toLowerCase();
}

export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1);
}

/** `user@example.com`, `<user@example.com>`, `A Name <user@example.com>`. */
function plainMailbox(value: string): Mailbox | undefined {
  const [, name = '', written] = BARE_HEADER.test(value)
    ? ['', '', value]
    : (NAMED_HEADER.exec(value) ?? []);
  const address = written === undefined ? undefined : canonicalAddress(written);
  return address === undefined ? undefined : { name, address };
}

/**
 * RFC 2047 §5 (3) forbids separators in the encoded words of a name, yet some clients write them:
 * `=?utf-8?Q?Doe, Ann?= <ann@x.example>` is one mailbox.
 */
function quotedWords(list: string): string {
  if (!list.includes('=?')) return list;
  return list.replace(/=\?[\w.:*-]{1,60}\?q\?[^?\r\n]{0,500}\?=/gi, (word) =>
    word.replace(
      /[,;:<>()@"[\]\\]/g,
      (character) => `=${character.charCodeAt(0).toString(16).toUpperCase()}`,
    ),
  );
}

function isLocalPart(local: string): boolean {
  // RFC 5321 §4.1.2: no control characters, not even after a backslash.
  if (/^"(?:[^"\\\x00-\x1f\x7f]|\\[^\x00-\x1f\x7f])*"$/.test(local)) return true;
  return !/[\x00-\x20\x7f-\x9f"(),:;<>@[\\\]\u200b\u2060\ufeff]/.test(local);
}

function cut(value: string, maxLength: number): string {
  if (value.length <= maxLength) return value;
  const head = value.slice(0, maxLength);
  const comma = head.lastIndexOf(',');
  return comma === -1 ? head : head.slice(0, comma);
}

const CATCH_ALL = '*@';

/** How an address was matched: by a listed address, or only by a `*@domain`. */
export type AddressMatch =
  | { readonly kind: 'exact'; readonly address: string }
  | { readonly kind: 'catch-all'; readonly address: string };

/** A set of addresses and catch-alls (`*@domain`), compared in the same way as RCPT TO. */
export interface AddressMatcher {
  /**
   * The list entry that matches. `exact` returns the listed address in canonical form; `catch-all`
   * returns the given address in lower case and without its `+tag`.
   */
  match(address: string): AddressMatch | undefined;
  has(address: string): boolean;
  /** All domains in the list, in its order. */
  readonly domains: readonly string[];
}

/**
 * @throws {TypeError} for an entry that is neither an address nor `*@domain`; the configuration
 * rejects such entries earlier
 */
export function createAddressMatcher(patterns: readonly string[]): AddressMatcher {
  const exact = new Map<string, string>();
  const catchAll = new Set<string>();
  const domains = new Set<string>();
  for (const pattern of patterns) {
    const domain = canonicalDomain(domainOf(pattern));
    const address = canonicalAddress(pattern)?.toLowerCase();
    if (domain === undefined || address === undefined) {
      throw new TypeError('expected an email address or *@domain');
    }
    domains.add(domain);
    if (pattern.startsWith(CATCH_ALL)) catchAll.add(domain);
    else exact.set(address, address);
  }

  const match = (address: string): AddressMatch | undefined => {
    if (domains.size === 0) return undefined;
    const key = matchKey(address);
    if (key === undefined) return undefined;
    // An address configured with a +tag matches only with this tag.
    const tagged = canonicalAddress(address)?.toLowerCase();
    const listed = exact.get(tagged ?? key) ?? exact.get(key);
    if (listed !== undefined) return { kind: 'exact', address: listed };
    return catchAll.has(domainOf(key)) ? { kind: 'catch-all', address: key } : undefined;
  };
  return { match, has: (address) => match(address) !== undefined, domains: [...domains] };
}
