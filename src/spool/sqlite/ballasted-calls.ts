import type { Ballast } from '../ballast.ts';
import { SpoolFull } from '../errors.ts';
import type { OperationName, Operations } from './operations.ts';
import type { StoreClient } from './store-client.ts';

/** What takes new things in has no claim on the ballast: it says "full" to the sender. */
const INTAKE: readonly OperationName[] = ['accept', 'acceptMessage', 'addUpload'];

/** Calls of the store; on a full disk those that finish work are given the ballast's space. */
export class BallastedCalls {
  readonly #client: StoreClient;
  readonly #ballast: Ballast;

  constructor(client: StoreClient, ballast: Ballast) {
    this.#client = client;
    this.#ballast = ballast;
  }

  async call<Name extends OperationName>(
    name: Name,
    ...args: Parameters<Operations[Name]>
  ): Promise<ReturnType<Operations[Name]>> {
    try {
      return await this.#client.call(name, ...args);
    } catch (error) {
      if (!(error instanceof SpoolFull) || INTAKE.includes(name)) throw error;
      await this.#ballast.drop();
      return this.#client.call(name, ...args);
    }
  }

  /** Holds the ballast again, if there is space by now. */
  restore(): Promise<void> {
    return this.#ballast.hold();
  }
}
