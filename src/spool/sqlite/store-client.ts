import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { SpoolFull, SpoolUnavailable, SpoolUnusable, type StoreFailure } from '../errors.ts';
import type { Remote } from '../methods.ts';
import type { Call, CallResult, OperationName, Operations } from './operations.ts';
import type { FromStore, ToStore } from './serve-store.ts';

/**
 * This many calls are posted at once, even within a turn of the event loop, so that the database's
 * thread starts while this one still works. Under load the two would otherwise alternate.
 */
const POST_AT = 16;

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** Called after each commit with its duration and the number of calls in it. */
export type OnCommit = (seconds: number, calls: number) => void;

interface Heard {
  readonly onCommit: OnCommit;
  /** Called after a commit with new messages; in those that have joined alone. */
  readonly onAccepted?: () => void;
}

/** The database's side: a thread, or a channel. */
export interface Server {
  readonly port: {
    postMessage(message: ToStore, transfer?: readonly MessagePort[]): void;
    on(event: 'message', listener: (message: FromStore) => void): unknown;
    once(event: 'message', listener: (message: FromStore) => void): unknown;
  };
  /** Called when it ends by itself. */
  onEnd(listener: (cause: Error) => void): void;
  stop(): unknown;
}

/**
 * The callers' side of the database, which has a thread of its own in the gateway. Calls of one
 * turn of the event loop are posted together; each promise settles after the commit that contains
 * its call.
 */
export class StoreClient {
  readonly #server: Server;
  readonly operations: readonly OperationName[];
  readonly #failure: StoreFailure;
  readonly #heard: Heard;
  readonly #pending = new Map<number, Pending>();
  #outgoing: Call[] = [];
  #lastId = 0;
  #closed: (() => void) | undefined;

  private constructor(
    server: Server,
    operations: readonly OperationName[],
    failure: StoreFailure,
    heard: Heard,
  ) {
    this.#server = server;
    this.operations = operations;
    this.#failure = failure;
    this.#heard = heard;
    failure.onFail((cause) => this.#rejectAll(cause));
    server.port.on('message', (message: FromStore) => this.#receive(message));
    server.onEnd((cause) => this.fail(cause));
  }

  /**
   * Waits until the database is open.
   * @throws {SpoolUnusable} it cannot be opened
   */
  static async of(server: Server, failure: StoreFailure, heard: Heard): Promise<StoreClient> {
    const operations = await new Promise<readonly OperationName[]>((resolve, reject) => {
      server.onEnd(reject);
      server.port.once('message', (message: FromStore) => {
        if ('ready' in message) {
          resolve(message.ready);
          return;
        }
        const { unusable = 'it did not start', mayPass = false } =
          'unusable' in message ? message : {};
        reject(new SpoolUnusable(unusable, { mayPass }));
      });
    });
    return new StoreClient(server, operations, failure, heard);
  }

  /** A port through which another thread can call the same store; this one closes it. */
  share(): MessagePort {
    const { port1, port2 } = new MessageChannel();
    this.#server.port.postMessage({ join: port2 }, [port2]);
    return port1;
  }

  call<Name extends OperationName>(
    name: Name,
    ...args: Parameters<Operations[Name]>
  ): Promise<ReturnType<Operations[Name]>> {
    if (this.#closed !== undefined) {
      return Promise.reject(new SpoolUnavailable('the spool is closed'));
    }
    if (this.#failure.hasFailed) return Promise.reject(this.#failure.error);
    const id = ++this.#lastId;
    // After all calls of this turn of the event loop: one message for all of them, because waking
    // the thread for each would cost more than the call.
    if (this.#outgoing.length === 0) setImmediate(() => this.#send());
    this.#outgoing.push({ id, name, args });
    const result = new Promise<ReturnType<Operations[Name]>>((resolve, reject) => {
      // The worker answers call `id` with the result of operation `name`.
      this.#pending.set(id, { resolve: resolve as (value: unknown) => void, reject });
    });
    if (this.#outgoing.length >= POST_AT) this.#send();
    return result;
  }

  #send(): void {
    const calls = this.#outgoing;
    this.#outgoing = [];
    // Another thread may have found the failure: nothing else tells this one.
    if (this.#failure.hasFailed) this.#rejectAll(this.#failure.error);
    else if (calls.length > 0) this.#server.port.postMessage({ calls });
  }

  #receive(message: FromStore): void {
    if ('results' in message) {
      const { results, commit, accepted } = message;
      if (commit !== undefined) this.#heard.onCommit(commit.seconds, commit.calls);
      for (const result of results) this.#settle(result);
      if (accepted) this.#heard.onAccepted?.();
    } else if ('fatal' in message) {
      this.fail(new SpoolUnavailable(`the spool failed: ${message.fatal}`));
    } else if ('closed' in message) {
      this.#closed?.();
    }
  }

  #settle(result: CallResult): void {
    const pending = this.#pending.get(result.id);
    this.#pending.delete(result.id);
    if (pending === undefined) return;
    // It may have been committed, but it is not certain to be durable, so it is never acknowledged.
    if (this.#failure.hasFailed) pending.reject(this.#failure.error);
    else if (result.ok) pending.resolve(result.value);
    else if (result.kind === 'full') pending.reject(new SpoolFull(result.message));
    else pending.reject(new SpoolUnavailable(result.message));
  }

  /** Of what belongs to the database beside its thread, too. */
  fail(cause: Error): void {
    if (this.#closed === undefined) this.#failure.fail(cause);
    this.#rejectAll(cause);
    this.#closed?.();
  }

  #rejectAll(cause: Error): void {
    for (const { reject } of this.#pending.values()) {
      reject(new SpoolUnavailable('the spool failed', { cause }));
    }
    this.#pending.clear();
  }

  /** Of one that has joined: calls made from now on fail, the database stays open. */
  leave(): void {
    this.#closed ??= () => undefined;
    this.#server.stop();
  }

  /** Commits the calls made before, then closes the database. */
  async close(): Promise<void> {
    if (this.#closed !== undefined) return;
    this.#send();
    if (!this.#failure.hasFailed) {
      await new Promise<void>((resolve) => {
        this.#closed = resolve;
        this.#server.port.postMessage({ close: true });
      });
    }
    this.#closed ??= () => undefined;
    await this.#server.stop();
  }
}

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
  'logOut',
  'startConversation',
  'updateVisitor',
  'probe',
  'saveShopHealth',
  'saveSummaries',
  'apiTokenUsed',
]);

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

/** What makes space on a full disk. */
export interface Reserve {
  /** @throws {SpoolFull} nothing is accepted now */
  assertHeld(): Promise<void>;
  /** Gives up the ballast. From then on nothing is accepted. */
  makeSpace(): Promise<void>;
}

/** The store's operations. On a full disk those that finish work get the ballast's space. */
export function storeOperations(client: StoreClient, reserve: Reserve): Remote<Operations> {
  return remoteOperations(client.operations, async (name, ...args) => {
    if (INTAKE.has(name)) await reserve.assertHeld();
    try {
      return await client.call(name, ...args);
    } catch (error) {
      if (!(error instanceof SpoolFull) || WITHOUT_BALLAST.has(name)) throw error;
      await reserve.makeSpace();
      return client.call(name, ...args);
    }
  });
}
