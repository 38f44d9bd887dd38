import {
  empty,
  type HttpAnswer,
  json,
  type PlatformAnswer,
  Refusals,
  withHeader,
} from './platform-answers.ts';
import { FaultSchedule, isPassing, stoppedBy } from './platform-faults.ts';
import { isUuid, PlatformReads } from './platform-reads.ts';
import {
  ShopStore,
  type StoredConversation,
  type StoredEvent,
  type StoredMedia,
  type StoredMessage,
} from './platform-store.ts';
import { DEFAULT_TRAITS, type FaultKind, type PlatformTraits } from './platform-traits.ts';
import { type Handled, PlatformWrites } from './platform-writes.ts';
import type { Random } from './random.ts';

export interface PlatformRequest {
  readonly method: 'GET' | 'POST';
  /** With the query: /v2026-04/messages/?limit=5 */
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed JSON; for /media/ {file: {name, type, size}, permission}; undefined if not JSON. */
  readonly body?: unknown;
}

/** The result of a POST of a known shop. */
export interface LoggedPost {
  readonly at: number;
  readonly shopId: string;
  readonly path: 'messages' | 'media' | 'events';
  readonly remoteId?: string;
  /**
   * `created`, `duplicate`: it is stored, now or earlier, and the platform's answer is on its way.
   * `lost`: it is stored, but the client gets no answer, or not the platform's. `refused`: nothing
   * is stored and the answer is a 4xx. `failed`: nothing is stored for any other reason.
   */
  readonly outcome: 'created' | 'duplicate' | 'refused' | 'failed' | 'lost';
  /** The status that the client gets; none if it gets no answer. */
  readonly status?: number;
  /** The created or existing message or file. */
  readonly id?: string;
}

/** The platform as the API document describes it, for several shops, with the faults of a run. */
export interface PlatformModel {
  /** Answers one request at the current time; stored data is visible at once. */
  handle(request: PlatformRequest): PlatformAnswer;
  /** Ends all scheduled faults permanently. Traits such as proxyEmptyRate remain. */
  heal(): void;
  /** The customers' messages, in the order they were stored. */
  messages(shopId: string): readonly StoredMessage[];
  conversations(shopId: string): readonly StoredConversation[];
  uploads(shopId: string): readonly StoredMedia[];
  events(shopId: string): readonly StoredEvent[];
  readonly posts: readonly LoggedPost[];
  /** How many requests read something. */
  readonly reads: number;
  /**
   * Whether Create message would store this body now, if it were new and there were no faults. It
   * may still count as a repetition.
   */
  wouldAccept(shopId: string, payload: unknown): boolean;
  /** Whether none of the shop's fault windows is open and its key may write. */
  healthyAt(shopId: string, at: number): boolean;
  /** When the shop's last fault window ends; the model's creation if it has none, or Infinity. */
  healthySince(shopId: string): number;
}

export interface PlatformModelOptions {
  readonly random: Random;
  /** Milliseconds; all times of the model use this clock, except those of the traits. */
  readonly now: () => number;
  readonly shops: readonly { readonly shopId: string; readonly apiKey: string }[];
  /** Missing ones are taken from DEFAULT_TRAITS. */
  readonly traits?: Partial<PlatformTraits>;
}

/** Creates a platform with these shops and no data. */
export function createPlatformModel(options: PlatformModelOptions): PlatformModel {
  return new Model(options);
}

/** A parsed request. */
interface Target {
  readonly method: 'GET' | 'POST';
  readonly shopId: string;
  readonly collection: string;
  readonly id: string | undefined;
  readonly query: URLSearchParams;
  readonly host: string;
  readonly readsOne: boolean;
  readonly namesConversation: boolean;
}

const NO_QUERY = new URLSearchParams();

class Model implements PlatformModel {
  readonly posts: LoggedPost[] = [];
  reads = 0;

  readonly #now: () => number;
  readonly #traits: PlatformTraits;
  readonly #keys: ReadonlyMap<string, string>;
  readonly #stores: ReadonlyMap<string, ShopStore>;
  readonly #schedule: FaultSchedule;
  readonly #refusals: Refusals;
  readonly #reads: PlatformReads;
  readonly #writes: PlatformWrites;
  readonly #latency: Random;
  readonly #faults: Random;
  readonly #proxy: Random;
  readonly #seconds = new Map<string, { second: number; count: number }>();

  constructor({ random, now, shops, traits }: PlatformModelOptions) {
    this.#now = now;
    this.#traits = { ...DEFAULT_TRAITS, ...traits };
    this.#keys = new Map(shops.map(({ shopId, apiKey }) => [shopId, apiKey]));
    this.#stores = new Map(
      shops.map(({ shopId }) => [
        shopId,
        new ShopStore(this.#traits, random.fork(`ids ${shopId}`)),
      ]),
    );
    this.#faults = random.fork('faults');
    this.#schedule = new FaultSchedule(this.#traits.faults, now(), this.#faults);
    this.#refusals = new Refusals(this.#traits.errorBodies, random.fork('refusals'));
    this.#reads = new PlatformReads(this.#traits, this.#refusals);
    this.#writes = new PlatformWrites(this.#traits, this.#refusals);
    this.#latency = random.fork('latency');
    this.#proxy = random.fork('proxy');
  }

  handle(request: PlatformRequest): PlatformAnswer {
    const at = this.#now();
    const target = targetOf(request);
    const [low, high] = this.#traits.latencyMs;
    const afterMs = this.#latency.between(low, high);
    const fault = this.#schedule.hit(at, target);
    if (fault !== undefined && !isPassing(fault)) {
      const run = { at, afterMs, refusals: this.#refusals, random: this.#faults };
      return this.#logged(request, target, at, stoppedBy(fault, run));
    }
    const proxied = target.method === 'POST' ? this.#emptied() : undefined;
    const emptied: PlatformAnswer = { kind: 'answer', ...empty(200), afterMs };
    if (proxied === 'before') return this.#logged(request, target, at, emptied);
    const handled = this.#platform(request, target, at);
    const network = networkOf(fault) ?? handled.network;
    let answer: PlatformAnswer;
    if (network === 'silence') answer = { kind: 'silence' };
    else if (network === 'reset') answer = { kind: 'reset', afterMs };
    else if (proxied === 'after') answer = emptied;
    else if (fault === 'commit then error 200') {
      answer = { kind: 'answer', ...json(200, { error: { code: 'quota' } }), afterMs };
    } else if (fault === 'commit then bare 200' && handled.id !== undefined) {
      answer = { kind: 'answer', ...json(200, { id: handled.id }), afterMs };
    } else {
      const slowMs = fault === 'slow' ? this.#faults.between(5_000, 120_000) : 0;
      answer = { kind: 'answer', ...handled.http, afterMs: afterMs + slowMs };
    }
    const isAnswered =
      network === undefined && proxied === undefined && fault !== 'commit then error 200';
    return this.#logged(request, target, at, answer, { ...handled, isAnswered });
  }

  heal(): void {
    this.#schedule.heal(this.#now());
  }

  messages(shopId: string): readonly StoredMessage[] {
    return this.#store(shopId).messages;
  }

  conversations(shopId: string): readonly StoredConversation[] {
    return this.#store(shopId).conversations;
  }

  uploads(shopId: string): readonly StoredMedia[] {
    return this.#store(shopId).uploads;
  }

  events(shopId: string): readonly StoredEvent[] {
    return this.#store(shopId).events;
  }

  wouldAccept(shopId: string, payload: unknown): boolean {
    const store = this.#store(shopId);
    return this.#traits.scopes.write && this.#writes.wouldAccept(store, payload, this.#now());
  }

  healthyAt(shopId: string, at: number): boolean {
    return this.#traits.scopes.write && this.#schedule.isHealthyAt(shopId, at);
  }

  healthySince(shopId: string): number {
    return this.#traits.scopes.write ? this.#schedule.healthySince(shopId) : Infinity;
  }

  #store(shopId: string): ShopStore {
    const store = this.#stores.get(shopId);
    if (store === undefined) throw new Error(`the platform has no shop ${shopId}`);
    return store;
  }

  /** Whether a proxy replaces a POST's answer, before or after the platform acts. */
  #emptied(): 'before' | 'after' | undefined {
    const rate = this.#traits.proxyEmptyRate;
    if (rate <= 0 || !this.#proxy.chance(rate)) return undefined;
    return this.#proxy.chance(0.5) ? 'before' : 'after';
  }

  #logged(
    request: PlatformRequest,
    { method, shopId, collection }: Target,
    at: number,
    answer: PlatformAnswer,
    handled?: Handled & { readonly isAnswered: boolean },
  ): PlatformAnswer {
    if (method === 'GET') this.reads += 1;
    if (method !== 'POST' || !isPosted(collection) || !this.#stores.has(shopId)) return answer;
    const status = answer.kind === 'answer' ? answer.status : undefined;
    const remoteId = collection === 'messages' ? remoteIdOf(request.body) : undefined;
    let outcome: LoggedPost['outcome'];
    if (handled?.stored !== undefined) outcome = handled.isAnswered ? handled.stored : 'lost';
    else outcome = status !== undefined && status >= 400 && status < 500 ? 'refused' : 'failed';
    this.posts.push({
      at,
      shopId,
      path: collection,
      ...(remoteId === undefined ? {} : { remoteId }),
      outcome,
      ...(status === undefined ? {} : { status }),
      ...(handled?.id === undefined ? {} : { id: handled.id }),
    });
    return answer;
  }

  #platform(request: PlatformRequest, target: Target, at: number): Handled {
    const { method, shopId, collection, id } = target;
    const store = this.#stores.get(shopId);
    const refusal = this.#unauthorized(request, shopId);
    if (refusal !== undefined || store === undefined) {
      return { http: refusal ?? this.#refusals.of(403) };
    }
    if (this.#isOverRate(shopId, at)) {
      return { http: withHeader(this.#refusals.of(429), 'retry-after', '1') };
    }
    if (collection === '') return { http: this.#refusals.of(404) };
    if (!this.#isInScope(target)) {
      return { http: json(403, { detail: 'The key lacks the scope for this operation' }) };
    }
    if (method === 'GET') return { http: this.#reads.answer(store, target, at) };
    if (id !== undefined) return { http: this.#refusals.of(405) };
    switch (collection) {
      case 'messages':
        return this.#writes.createMessage(store, shopId, request.body, at);
      case 'media':
        return this.#writes.uploadMedia(store, request.body, at);
      case 'events':
        return this.#writes.createEvent(store, request.body, at);
      default:
        return { http: this.#refusals.of(405) };
    }
  }

  /** §5: a bearer key and the uuid of a shop which that key belongs to. */
  #unauthorized({ headers }: PlatformRequest, shopId: string): HttpAnswer | undefined {
    const key = /^Bearer (.+)$/i.exec(headers['authorization'] ?? '')?.[1];
    let isKnown = false;
    for (const known of this.#keys.values()) isKnown ||= known === key;
    if (key === undefined || !isKnown) return this.#refusals.of(401);
    if (!isUuid(shopId)) {
      return this.#refusals.of(400, [
        { field: 'X-Shop-Id', message: 'must be the uuid of a shop' },
      ]);
    }
    return this.#keys.get(shopId) === key ? undefined : this.#refusals.of(403);
  }

  #isInScope({ method, collection }: Target): boolean {
    const { contacts, readMessages, write } = this.#traits.scopes;
    if (method === 'POST') return write;
    if (collection === 'contacts') return contacts;
    return collection !== 'messages' || readMessages;
  }

  #isOverRate(shopId: string, at: number): boolean {
    const { maxPerSecond } = this.#traits;
    if (maxPerSecond === undefined) return false;
    const second = Math.floor(at / 1_000);
    const counted = this.#seconds.get(shopId);
    if (counted?.second !== second) {
      this.#seconds.set(shopId, { second, count: 1 });
      return maxPerSecond < 1;
    }
    counted.count += 1;
    return counted.count > maxPerSecond;
  }
}

/** §4, §9: /v2026-04/{collection}/ and /v2026-04/{collection}/{id}/, each with its final slash. */
const PATH = /^\/v2026-04\/([a-z]+)\/(?:([^/]+)\/)?$/;

function targetOf({ method, path, headers, body }: PlatformRequest): Target {
  const mark = path.indexOf('?');
  const found = PATH.exec(mark === -1 ? path : path.slice(0, mark));
  const collection = found?.[1] ?? '';
  const id = found?.[2];
  return {
    method,
    shopId: (headers['x-shop-id'] ?? '').toLowerCase(),
    collection,
    id,
    query: mark === -1 ? NO_QUERY : new URLSearchParams(path.slice(mark + 1)),
    host: headers['host'] ?? 'platform.example',
    readsOne: method === 'GET' && id !== undefined,
    namesConversation:
      method === 'GET'
        ? collection === 'conversations' && id !== undefined
        : collection === 'messages' && typeof member(body, 'conversation', 'id') === 'string',
  };
}

function networkOf(fault: FaultKind | undefined): Handled['network'] {
  if (fault === 'commit then silence') return 'silence';
  return fault === 'commit then reset' ? 'reset' : undefined;
}

const isPosted = (collection: string): collection is LoggedPost['path'] =>
  collection === 'messages' || collection === 'media' || collection === 'events';

function remoteIdOf(body: unknown): string | undefined {
  const remoteId = member(body, 'message', 'remote_id');
  return typeof remoteId === 'string' ? remoteId : undefined;
}

/** A nested member of a value of any type. */
function member(body: unknown, outer: string, inner: string): unknown {
  const part = memberOf(body, outer);
  return memberOf(part, inner);
}

function memberOf(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !(key in value)) return undefined;
  return (value as Record<string, unknown>)[key];
}
