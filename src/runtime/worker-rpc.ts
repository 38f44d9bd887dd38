import {
  type MessagePort,
  type ResourceLimits,
  SHARE_ENV,
  type Transferable,
  Worker,
} from 'node:worker_threads';
import { codeOf } from './error-code.ts';

/** The functions that one side offers to the other, by name. Arguments and results are cloned. */
type Functions<Offered> = { readonly [Name in keyof Offered]: (...args: never) => unknown };

/**
 * Calls a function of the other side.
 * @throws {NotAnswered} the thread ended, or did not answer within the deadline
 * @throws {CallFailed} the function failed
 */
type Call<Offered extends Functions<Offered>> = <Name extends keyof Offered & string>(
  name: Name,
  ...args: Parameters<Offered[Name]>
) => Promise<Awaited<ReturnType<Offered[Name]>>>;

export class NotAnswered extends Error {
  override name = 'NotAnswered';
}

/** An error of the other side, without its text, which may quote a message. */
interface Failure {
  /** Tells the caller how to handle it; `error` unless the thread defines its own kinds. */
  readonly kind: string;
  readonly name: string;
  /** Empty if the error has none. */
  readonly code: string;
}

export class CallFailed extends Error {
  override name = 'CallFailed';
  readonly failure: Failure;
  constructor(failure: Failure) {
    super(failure.code || failure.name);
    this.failure = failure;
  }
}

const transfers = new WeakMap<object, readonly Transferable[]>();

/** Returns `value`; as an argument or a result, it moves these buffers and ports instead of copying them. */
export function transferring<Value extends object>(
  value: Value,
  moved: readonly Transferable[],
): Value {
  transfers.set(value, moved);
  return value;
}

const movedWith = (value: unknown): readonly Transferable[] =>
  (typeof value === 'object' && value !== null ? transfers.get(value) : undefined) ?? [];

type Message =
  | { readonly id: number; readonly name: string; readonly args: readonly unknown[] }
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly failure: Failure };

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly deadline: NodeJS.Timeout | undefined;
}

interface PeerOptions {
  readonly functions: object;
  readonly kindOf?: ((error: unknown) => string) | undefined;
  readonly startDeadline?: (id: number, name: string) => NodeJS.Timeout | undefined;
}

/** One side of a conversation. */
class Peer<Offered extends Functions<Offered>> {
  readonly #port: Pick<MessagePort, 'postMessage'>;
  readonly #options: PeerOptions;
  readonly #pending = new Map<number, Pending>();
  #lastId = 0;
  #messages: Message[] = [];
  #transfer: Transferable[] = [];

  constructor(port: Pick<MessagePort, 'postMessage'>, options: PeerOptions) {
    this.#port = port;
    this.#options = options;
  }

  get inFlight(): number {
    return this.#pending.size;
  }

  readonly call: Call<Offered> = (name, ...args) =>
    new Promise((settle, reject) => {
      this.#lastId += 1;
      const id = this.#lastId;
      // The other side answers this id with the result of the function of this name.
      const resolve = settle as (value: unknown) => void;
      const deadline = this.#options.startDeadline?.(id, name);
      this.#pending.set(id, { resolve, reject, deadline });
      this.#post({ id, name, args }, args.flatMap(movedWith));
    });

  /** Calls the functions in the order of the messages, before it returns. */
  receive(messages: readonly Message[]): void {
    for (const message of messages) {
      if ('name' in message) void this.#answer(message.id, message.name, message.args);
      else if ('failure' in message) this.reject(message.id, new CallFailed(message.failure));
      else this.#take(message.id)?.resolve(message.value);
    }
  }

  reject(id: number, error: Error): void {
    this.#take(id)?.reject(error);
  }

  rejectAll(error: Error): void {
    for (const id of [...this.#pending.keys()]) this.reject(id, error);
  }

  #take(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    clearTimeout(pending?.deadline);
    return pending;
  }

  async #answer(id: number, name: string, args: readonly unknown[]): Promise<void> {
    const { functions, kindOf = () => 'error' } = this.#options;
    try {
      if (!Object.hasOwn(functions, name)) throw new TypeError('no such function');
      // The types are those of the caller's `Call`.
      const called = functions[name as never] as (...args: readonly unknown[]) => unknown;
      const value = await called(...args);
      this.#post({ id, value }, movedWith(value));
    } catch (error) {
      const errorName = error instanceof Error ? error.name : typeof error;
      this.#post(
        { id, failure: { kind: kindOf(error), name: errorName, code: codeOf(error) } },
        [],
      );
    }
  }

  /**
   * Messages of one turn of the event loop are sent together, because waking a thread costs more
   * than most calls.
   */
  #post(message: Message, transfer: readonly Transferable[]): void {
    if (this.#messages.length === 0) {
      setImmediate(() => {
        this.#port.postMessage(this.#messages.splice(0), this.#transfer.splice(0));
      });
    }
    this.#messages.push(message);
    this.#transfer.push(...transfer);
  }
}

export interface RpcThreadOptions<Theirs, Ours> {
  /** The functions that the thread may call. */
  readonly functions?: Ours;
  /** The kind of a failure of one of them, which tells the thread how to handle it. */
  readonly kindOf?: (error: unknown) => string;
  /** `workerData` in the thread. */
  readonly data?: unknown;
  /**
   * Whether the thread has the environment and Node's options. By default it does not: code that a
   * hostile message exploits must not find a key in it.
   */
  readonly sharesEnvironment?: boolean;
  readonly limits?: ResourceLimits;
  /** Per function; without a deadline, a call may take any time. */
  readonly deadlinesMs?: { readonly [Name in keyof Theirs]?: number };
  /**
   * A late call gets this time instead, as long as the thread sends anything, or the process gets
   * too little processor time to tell a thread that hangs. At its end it ends the thread only if that
   * has sent nothing since.
   */
  readonly extendToMs?: number;
  /** The thread has ended without `stop`. The calls in flight reject after this. */
  readonly onDeath?: (inFlight: number, error?: Error) => void;
}

/**
 * A thread that offers `Theirs` (`serveRpc`) and may call `Ours`. It is not restarted: its owner
 * creates another one when it has ended. It keeps the process alive only while it starts and while
 * calls are in flight.
 */
export class RpcThread<Theirs extends Functions<Theirs>, Ours extends Functions<Ours> = object> {
  readonly #worker: Worker;
  readonly #peer: Peer<Theirs>;
  readonly #options: RpcThreadOptions<Theirs, Ours>;
  readonly #deadlinesMs: ReadonlyMap<string, number>;
  readonly #exited: Promise<void>;
  #ended = false;
  #heardAt = 0;

  constructor(url: URL, options: RpcThreadOptions<Theirs, Ours>) {
    this.#options = options;
    this.#deadlinesMs = new Map(Object.entries(options.deadlinesMs ?? {}));
    this.#worker = new Worker(url, {
      workerData: options.data,
      resourceLimits: options.limits,
      env: options.sharesEnvironment === true ? SHARE_ENV : {},
    });
    this.#peer = new Peer(this.#worker, {
      functions: options.functions ?? {},
      kindOf: options.kindOf,
      startDeadline: (id, name) => this.#deadline(id, name),
    });
    this.#exited = new Promise((resolve) => this.#worker.once('exit', () => resolve()));
    this.#worker.on('message', (messages: readonly Message[]) => {
      if (this.#ended) return;
      this.#heardAt = performance.now();
      this.#peer.receive(messages);
      this.#rest();
    });
    this.#worker.on('error', (error) => this.#die('the thread failed', error));
    this.#worker.on('messageerror', (error) => this.#die('the thread failed', error));
    this.#worker.on('exit', () => this.#die('the thread ended'));
  }

  readonly call: Call<Theirs> = (name, ...args) => {
    if (this.#ended) return Promise.reject(new NotAnswered('the thread has ended'));
    this.#worker.ref();
    return this.#peer.call(name, ...args);
  };

  /**
   * Ends the thread, or waits for its end. Calls in flight reject. If the thread has to close
   * something, call it to do so first.
   */
  async stop(): Promise<void> {
    this.#end('the thread was stopped');
    await this.#exited;
  }

  #deadline(id: number, name: string): NodeJS.Timeout | undefined {
    const deadlineMs = this.#deadlinesMs.get(name);
    if (deadlineMs === undefined) return undefined;
    const { extendToMs = 0 } = this.#options;
    const askedAt = performance.now();
    const usedBefore = extendToMs > 0 ? process.cpuUsage() : undefined;
    const timer = setTimeout(() => {
      const { user, system } = process.cpuUsage(usedBefore);
      const isStarved = (user + system) / 1000 < deadlineMs / 2;
      const isBusy = this.#heardAt >= askedAt;
      if ((isBusy || isStarved) && performance.now() - askedAt < extendToMs) {
        timer.refresh();
        return;
      }
      if (!isBusy || extendToMs === 0) {
        this.#die('no response within the deadline');
        return;
      }
      this.#peer.reject(id, new NotAnswered('no response within the deadline'));
      this.#rest();
    }, deadlineMs);
    return timer;
  }

  #rest(): void {
    if (this.#peer.inFlight === 0) this.#worker.unref();
  }

  #die(why: string, error?: Error): void {
    if (this.#ended) return;
    const { inFlight } = this.#peer;
    this.#end(why);
    this.#options.onDeath?.(inFlight, error);
  }

  #end(why: string): void {
    if (this.#ended) return;
    this.#ended = true;
    // A thread in an endless loop ends at the engine's next check.
    void this.#worker.terminate();
    this.#peer.rejectAll(new NotAnswered(why));
  }
}

/**
 * Offers functions to the thread that started this one. Returns a function that calls the functions
 * of that thread.
 * @param kindOf the kind of a failure, which tells the caller how to handle it
 */
export function serveRpc<Ours extends Functions<Ours>, Theirs extends Functions<Theirs> = object>(
  port: MessagePort | null,
  functions: Ours,
  kindOf?: (error: unknown) => string,
): Call<Theirs> {
  if (port === null) throw new Error('this file runs as a worker thread');
  const peer = new Peer<Theirs>(port, { functions, kindOf });
  port.on('message', (messages: readonly Message[]) => peer.receive(messages));
  return peer.call;
}

/**
 * The URL of a worker thread's compiled file, given in the form in which it is imported
 * (`./x-worker.ts`). Node itself loads workers, without any test transformer, so a module that runs
 * from `src/` (under jest) uses the built file of the same name in `dist/`.
 */
export function workerUrl(importer: string, relative: string): URL {
  const source = new URL(relative, importer);
  const href = source.href.replace(/\.ts$/, '.js');
  return new URL(importer.endsWith('.ts') ? href.replace('/src/', '/dist/') : href);
}
