import type { Ballast } from '../ballast.ts';
import { SpoolFull } from '../errors.ts';
import type { OperationName, Operations } from './operations.ts';
import type { StoreClient } from './store-client.ts';

/** What takes new messages in: it has no claim on the ballast, and none on the space it leaves. */
const INTAKE: ReadonlySet<OperationName> = new Set([
  'accept',
  'acceptFiled',
  'acceptMessage',
  'addUpload',
]);
/** Nor has what a visitor or a health check asks for, or what is only told to commands. */
const WITHOUT_BALLAST: ReadonlySet<OperationName> = new Set([
  ...INTAKE,
  'fileSome',
  'createVisitor',
  'identifyVisitor',
  'startConversation',
  'updateVisitor',
  'probe',
  'saveShopHealth',
  'saveSummaries',
]);

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
    if (INTAKE.has(name)) await this.#ballast.assertHeld();
    try {
      return await this.#client.call(name, ...args);
    } catch (error) {
      if (!(error instanceof SpoolFull) || WITHOUT_BALLAST.has(name)) throw error;
      // Nothing more is taken in from now on. What is on its way finds the disk as full as it was.
      await this.#ballast.drop(() => this.#client.call('mark', ''));
      return this.#client.call(name, ...args);
    }
  }
}
