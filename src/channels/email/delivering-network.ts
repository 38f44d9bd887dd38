import { isIP } from 'node:net';
import { UNKNOWN_NETWORK } from '../../platform-api/schemas.ts';
import {
  clientAddress,
  createNetworks,
  isPublicAddress,
  type Networks,
  reverseName,
  sitesNetwork,
} from '../../runtime/ip-addresses.ts';
import type { EmailMeta } from './stored.ts';

/** Looks up a name in DNS. */
export type LookUp = (name: string, type: 'PTR' | 'A' | 'AAAA') => Promise<readonly unknown[]>;

/** From where a shop's mail is forwarded. */
export interface Forwarders {
  readonly networks: Networks;
  /** In lower case. */
  readonly hosts: readonly string[];
}

/** @param entries of `email.forwarders`: networks and host names */
export function createForwarders(entries: readonly string[]): Forwarders {
  const isNetwork = (entry: string) => isIP(entry.split('/')[0] ?? '') !== 0;
  return {
    networks: createNetworks(entries.filter(isNetwork)),
    hosts: entries.filter((entry) => !isNetwork(entry)).map((host) => host.toLowerCase()),
  };
}

/**
 * The network that delivered an email, for the limits of automatic answers. For a trusted relay and a
 * forwarder of the shop it is that of the hop before, which their Received line names. A program that
 * delivers for many (LMTP, `POST /email/inbound`) and a line without a public address leave it unknown.
 * @param receivedLine the topmost `Received:` of the message as it came
 */
export async function deliveringNetwork(
  { remoteAddress, trustedRelay, receivedHeader }: EmailMeta,
  forwarders: Forwarders,
  receivedLine: () => Promise<string | undefined>,
  lookUp: LookUp = () => Promise.resolve([]),
): Promise<string> {
  // What the client chose has no blanks in it.
  const isMany = / with (?:LMTP|HTTP)/.test(receivedHeader) || isIP(remoteAddress) === 0;
  if (isMany) return UNKNOWN_NETWORK;
  if (!trustedRelay && !(await isForwarder(remoteAddress, forwarders, lookUp))) {
    return sitesNetwork(remoteAddress);
  }
  const client = clientIn((await receivedLine()) ?? '');
  return client !== undefined && isPublicAddress(client) ? sitesNetwork(client) : UNKNOWN_NETWORK;
}

/** A host name counts if the address leads to it and it leads to the address; a failure is a no. */
async function isForwarder(
  address: string,
  { networks, hosts }: Forwarders,
  lookUp: LookUp,
): Promise<boolean> {
  if (networks.has(address)) return true;
  if (hosts.length === 0) return false;
  const find = (name: string, type: Parameters<LookUp>[1]) =>
    lookUp(name, type).then(
      (records) => records.map((record) => String(record).toLowerCase().replace(/\.$/, '')),
      () => [],
    );
  const names = await find(reverseName(address), 'PTR');
  const type = isIP(address) === 6 ? 'AAAA' : 'A';
  for (const name of names.slice(0, NAMES_MAX)) {
    if (!hosts.some((host) => name === host || name.endsWith(`.${host}`))) continue;
    if ((await find(name, type)).some((each) => reverseOf(each) === reverseName(address))) {
      return true;
    }
  }
  return false;
}

const NAMES_MAX = 5;

const reverseOf = (address: string) => (isIP(address) === 0 ? undefined : reverseName(address));

const LINE_CHARS = 2000;
const HELO = /\b(?:helo|ehlo)[= ][^\s()]*/gi;
const ADDRESS = /[[(](?:ipv6:)?([0-9a-f.:]+)[\])\s]/gi;

/**
 * The address of the client in a `Received:` line (RFC 5321 §4.4): the last one in brackets before
 * `by`, without what the client says of itself: `from helo (name [192.0.2.1]) by …`.
 */
function clientIn(line: string): string | undefined {
  const [from = ''] = line.slice(0, LINE_CHARS).split(/\sby\s/i, 1);
  const found = [...from.replace(HELO, '').matchAll(ADDRESS)].flatMap(([, text = '']) =>
    isIP(text) === 0 ? [] : clientAddress(text),
  );
  return found.at(-1);
}
