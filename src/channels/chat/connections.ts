import type { IncomingMessage } from 'node:http';
import { Conduct } from './conduct.ts';
import type { Peer } from './handshake.ts';

/** Transport connections by network, from their first byte to their last. */
export class Connections {
  readonly #byNetwork = new Map<string, number>();
  // Weak: a connection that goes takes its entry with it.
  readonly #peers = new WeakMap<object, Peer>();
  readonly #failures = new WeakMap<object, number>();
  readonly #conducts = new WeakMap<object, Conduct>();
  readonly #taken = new WeakSet<object>();

  open(connection: object, request: IncomingMessage, network: string): void {
    const ordinal = this.countOf(network) + 1;
    this.#byNetwork.set(network, ordinal);
    this.#conducts.set(connection, new Conduct());
    this.#peers.set(connection, { origin: request.headers.origin, network, ordinal });
  }

  close(connection: object): void {
    const peer = this.#peers.get(connection);
    if (peer === undefined || !this.#peers.delete(connection)) return;
    const left = this.countOf(peer.network) - 1;
    if (left > 0) this.#byNetwork.set(peer.network, left);
    else this.#byNetwork.delete(peer.network);
  }

  countOf(network: string): number {
    return this.#byNetwork.get(network) ?? 0;
  }

  /** Of an open connection. */
  conductOf(connection: object): Conduct | undefined {
    return this.#conducts.get(connection);
  }

  peerOf(connection: object): Peer | undefined {
    return this.#peers.get(connection);
  }

  /**
   * For one socket at a time: many in one connection would pass the limit of sockets.
   * @returns whether it was free
   */
  take(connection: object): boolean {
    if (this.#taken.has(connection)) return false;
    this.#taken.add(connection);
    return true;
  }

  /** Its socket was refused, or has gone. */
  free(connection: object): void {
    this.#taken.delete(connection);
  }

  /** How many handshakes have failed on this connection, this one included. */
  failed(connection: object): number {
    const failures = (this.#failures.get(connection) ?? 0) + 1;
    this.#failures.set(connection, failures);
    return failures;
  }
}
