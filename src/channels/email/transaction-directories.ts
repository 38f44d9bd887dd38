import type { AddressDirectory } from './routing.ts';

/**
 * The shops as they were at each session's last MAIL FROM: a recipient that was answered 250 is
 * still taken at the final dot, though its shop has gone meanwhile (RFC 5321 §4.1.1.4: the answer
 * to the data is for every recipient that was accepted).
 */
export class TransactionDirectories {
  readonly #directory: AddressDirectory;
  // Weak: a session that goes takes its entry with it.
  readonly #ofSession = new WeakMap<object, AddressDirectory>();

  constructor(directory: AddressDirectory) {
    this.#directory = directory;
  }

  /** At MAIL FROM. */
  begin(session: object): void {
    this.#ofSession.set(session, this.#directory.snapshot());
  }

  of(session: object): AddressDirectory {
    return this.#ofSession.get(session) ?? this.#directory;
  }
}
