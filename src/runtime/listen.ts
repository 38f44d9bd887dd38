import type { AddressInfo, Server } from 'node:net';
import { codeOf } from './error-code.ts';

/** All addresses of the machine: an IPv6 socket on it accepts IPv4 clients too. */
const ALL = '::';
const ALL_IPV4 = '0.0.0.0';
/** How listening on `::` fails on a machine without IPv6. */
const NO_IPV6: ReadonlySet<string> = new Set(['EAFNOSUPPORT', 'EADDRNOTAVAIL']);

export interface ListenOptions {
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
  readonly backlog?: number;
  /** The machine has no IPv6, so the server listens on its IPv4 addresses. */
  readonly onNoIpv6?: () => void;
}

/**
 * Resolves with the port when the server listens. `::`, the default, falls back to all IPv4
 * addresses on a machine without IPv6; any other address has to exist.
 * @throws what the system says: the port is in use, or the machine has no such address
 */
export async function listenOn(
  server: Server,
  { host, onNoIpv6, ...options }: ListenOptions,
): Promise<number> {
  try {
    await listening(server, { ...options, host });
  } catch (error) {
    if (host !== ALL || !NO_IPV6.has(codeOf(error))) throw error;
    onNoIpv6?.();
    await listening(server, { ...options, host: ALL_IPV4 });
  }
  // A listening TCP server returns an AddressInfo; the other types are for pipes.
  return (server.address() as AddressInfo).port;
}

function listening(server: Server, options: Omit<ListenOptions, 'onNoIpv6'>): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ ...options }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}
