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
import type { Resolve } from './authentication/dns-resolver.ts';
import type { EmailMeta } from './stored.ts';

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
  resolve: Resolve = () => Promise.resolve([]),
): Promise<string> {
  // HELO and recipient contain no spaces here, so a client cannot forge ` with LMTP`.
  const deliversForMany = / with (?:LMTP|HTTP)/.test(receivedHeader) || isIP(remoteAddress) === 0;
  if (deliversForMany) return UNKNOWN_NETWORK;
  if (!trustedRelay && !(await isForwarder(remoteAddress, forwarders, resolve))) {
    return sitesNetwork(remoteAddress);
  }
  const client = clientIn((await receivedLine()) ?? '');
  return client !== undefined && isPublicAddress(client) ? sitesNetwork(client) : UNKNOWN_NETWORK;
}

/** A host name counts if the address leads to it and it leads to the address; a failure is a no. */
async function isForwarder(
  address: string,
  { networks, hosts }: Forwarders,
  resolve: Resolve,
): Promise<boolean> {
  if (networks.has(address)) return true;
  if (hosts.length === 0) return false;
  const find = async (name: string, type: string): Promise<string[]> => {
    const records: readonly unknown[] = await resolve(name, type).catch(() => []);
    return records.map((record) => String(record).toLowerCase().replace(/\.$/, ''));
  };
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
/** What a program writes between `from` and `by`. Words of the client's come after the address, or have no blanks. */
const FORMS = [
  // Postfix, sendmail and most others: `from helo (name [192.0.2.1])`; Exim: `from name ([192.0.2.1] helo=…)`.
  /^from\s+[^\s()]+\s+\((?!(?:he|eh)lo\s)(?:[^\s()[\]]+\s+)?\[(?:ipv6:)?([0-9a-f.:]+)\]/i,
  // Exim, of a client without a name: `from [192.0.2.1] (helo=…)`.
  /^from\s+\[([0-9a-f.:]+)\](?::\d+)?\s+\((?:helo|ident|port)=/i,
  // Exchange: `from helo (192.0.2.1)`; qmail: `from name (HELO helo) (ident@192.0.2.1)`.
  /^from\s+[^\s()]+\s+\((?:(?:he|eh)lo\s+[^\s()]*\)\s+\()?(?:[^\s()]*@)?([0-9a-f.:]+)\)$/i,
];

/**
 * The address of the client in a `Received:` line (RFC 5321 §4.4). Undefined where it cannot be told
 * from what the client says of itself: HELO, ident, the name in its certificate.
 */
function clientIn(line: string): string | undefined {
  const [from = ''] = line.slice(0, LINE_CHARS).split(/\sby\s/i, 1);
  const address = FORMS.map((form) => form.exec(from.trim())?.[1]).find((found) => found);
  return address === undefined || isIP(address) === 0 ? undefined : clientAddress(address);
}
