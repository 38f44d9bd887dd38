import type { Ballast } from '../ballast.ts';
import { SpoolFull } from '../errors.ts';
import type { OperationName, Operations } from './operations.ts';
import type { StoreClient } from './store-client.ts';

/** Operations that accept new messages: the ballast and its space are not for them. */
const INTAKE: ReadonlySet<OperationName> = new Set([
  'accept',
  'acceptFiled',
  'acceptMessage',
  'addUpload',
]);
/** Nor are they for requests of visitors and health checks, or data that only commands read. */
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

/** Operations as their callers see them: each is an asynchronous call to the database's thread. */
export type Remote<Sync> = {
  readonly [Name in keyof Sync]: Sync[Name] extends (...args: infer Args) => infer Result
    ? (...args: Args) => Promise<Result>
    : never;
};

export type OperationCaller = <Name extends OperationName>(
  name: Name,
  ...args: Parameters<Operations[Name]>
) => Promise<ReturnType<Operations[Name]>>;

/** One method per operation, which calls it by its name. */
export function remoteOperations(
  names: readonly OperationName[],
  call: OperationCaller,
): Remote<Operations> {
  const methods = names.map(
    (name) =>
      [name, (...args: Parameters<Operations[typeof name]>) => call(name, ...args)] as const,
  );
  // `names` are all keys of Operations: the database's thread lists them itself.
  return Object.fromEntries(methods) as Remote<Operations>;
}

/** The store's operations. On a full disk those that finish work get the ballast's space. */
export function storeOperations(client: StoreClient, ballast: Ballast): Remote<Operations> {
  return remoteOperations(client.operations, async (name, ...args) => {
    if (INTAKE.has(name)) await ballast.assertHeld();
    try {
      return await client.call(name, ...args);
    } catch (error) {
      if (!(error instanceof SpoolFull) || WITHOUT_BALLAST.has(name)) throw error;
      // From now on nothing is accepted. Calls that were already posted still find the disk full.
      await ballast.drop(() => client.call('mark', ''));
      return client.call(name, ...args);
    }
  });
}
