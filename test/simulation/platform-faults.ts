import { html, json, type PlatformAnswer, type Refusals, withHeader } from './platform-answers.ts';
import type { FaultKind, ScheduledFault } from './platform-traits.ts';
import type { Random } from './random.ts';

/** The properties of a request that faults depend on. */
export interface FaultTarget {
  readonly shopId: string;
  readonly method: 'GET' | 'POST';
  /** `messages` of /v2026-04/messages/. */
  readonly collection: string;
  /** Whether it reads one resource by its id. */
  readonly readsOne: boolean;
  /** Whether it reads a conversation or posts to an existing one. */
  readonly namesConversation: boolean;
}

/** The scheduled faults of a run: which one hits a request, and when a shop has none. */
export class FaultSchedule {
  readonly #faults: readonly ScheduledFault[];
  readonly #startedAt: number;
  readonly #random: Random;
  #healedAt = Infinity;

  constructor(faults: readonly ScheduledFault[], startedAt: number, random: Random) {
    this.#faults = faults.filter(({ rate, fromMs, toMs }) => rate > 0 && fromMs < toMs);
    this.#startedAt = startedAt;
    this.#random = random;
  }

  /** The first scheduled fault that hits a request. */
  hit(at: number, target: FaultTarget): FaultKind | undefined {
    if (at >= this.#healedAt) return undefined;
    for (const fault of this.#faults) {
      if (!this.#isActive(fault, at) || !concerns(fault, target)) continue;
      if (fault.rate >= 1 || this.#random.chance(fault.rate)) return fault.kind;
    }
    return undefined;
  }

  /** Ends all faults, present and future. */
  heal(at: number): void {
    this.#healedAt = Math.min(this.#healedAt, at);
  }

  /** Whether no fault window of a shop is open. */
  isHealthyAt(shopId: string, at: number): boolean {
    if (at >= this.#healedAt) return true;
    return !this.#faults.some((fault) => isOf(fault, shopId) && this.#isActive(fault, at));
  }

  /** When the last fault window of a shop closes; the start of the run when it has none. */
  healthySince(shopId: string): number {
    let since = this.#startedAt;
    for (const fault of this.#faults) {
      const begins = this.#startedAt + fault.fromMs;
      if (!isOf(fault, shopId) || begins >= this.#healedAt) continue;
      since = Math.max(since, Math.min(this.#startedAt + fault.toMs, this.#healedAt));
    }
    return since;
  }

  #isActive({ fromMs, toMs }: ScheduledFault, at: number): boolean {
    const elapsed = at - this.#startedAt;
    return elapsed >= fromMs && elapsed < toMs;
  }
}

const isOf = ({ scope }: ScheduledFault, shopId: string): boolean =>
  scope === 'all' || scope === shopId;

function concerns(fault: ScheduledFault, target: FaultTarget): boolean {
  if (!isOf(fault, target.shopId)) return false;
  if (fault.kind === '404 conversations' && !target.namesConversation) return false;
  if (fault.kind === 'wrong read') return target.readsOne;
  const isCreate = target.method === 'POST' && target.collection === 'messages';
  if (LIES.includes(fault.kind) && !isCreate) return false;
  switch (fault.paths) {
    case 'all':
      return true;
    case 'messages':
    case 'media':
      return target.collection === fault.paths;
    case 'reads':
      return target.method === 'GET';
    case 'posts':
      return target.method === 'POST';
  }
}

/** Wrong answers to single messages; reads are answered well. */
export const LIES: readonly FaultKind[] = [
  'error 200',
  'status 200',
  'failure 201',
  'stranger 409',
  'commit then error 200',
  'commit then bare 200',
];

/** Faults with which the platform still handles the request. */
const PASSING = [
  'commit then reset',
  'commit then silence',
  'commit then error 200',
  'commit then bare 200',
  'slow',
] as const;
type PassingFault = (typeof PASSING)[number];

export const isPassing = (kind: FaultKind): kind is PassingFault =>
  PASSING.some((each) => each === kind);

/** The client's result of a fault that prevents the request from reaching the platform. */
export function stoppedBy(
  kind: Exclude<FaultKind, PassingFault>,
  run: { at: number; afterMs: number; refusals: Refusals; random: Random },
): PlatformAnswer {
  const { at, afterMs, refusals, random } = run;
  const answer = (http: ReturnType<Refusals['of']>): PlatformAnswer => ({
    kind: 'answer',
    ...http,
    afterMs,
  });
  switch (kind) {
    case 'black hole':
      return { kind: 'silence' };
    case 'refused':
      return { kind: 'refused' };
    case 'reset':
      return { kind: 'reset', afterMs };
    case '500':
      return answer(refusals.of(500));
    case '502 html':
      return answer(html(502, '502 Bad Gateway'));
    case '503 retry-after':
      return answer(withHeader(refusals.of(503), 'retry-after', retryAfter(at, random)));
    case '429':
      return answer(withHeader(refusals.of(429), 'retry-after', retryAfter(at, random)));
    case '401':
      return answer(refusals.of(401));
    case '403':
      return answer(refusals.of(403));
    case '404 all':
    case '404 conversations':
      return answer(refusals.of(404));
    case 'html 200':
      return answer(html(200, 'Sign in'));
    case 'error 200':
      return answer(json(200, { error: { code: 'quota' }, id: random.uuid() }));
    case 'status 200':
      return answer(json(200, { status: 'error', id: random.uuid() }));
    case 'failure 201':
      return answer(json(201, { success: false, id: random.uuid() }));
    case 'stranger 409':
      return answer(json(409, { ...STRANGE, id: random.uuid() }));
    case 'wrong read':
      return answer(json(200, { ...STRANGE, id: random.uuid() }));
    case 'patience':
      return answer(withHeader(refusals.of(429), 'retry-after', '1000000000'));
    case 'redirect':
      return answer(withHeader(html(302, 'Found'), 'location', 'https://sign-in.example/'));
  }
}

/** What somebody else wrote. */
const STRANGE = {
  conversation_id: '99999999-9999-4999-8999-999999999999',
  ...{ ticket_id: null, contact_id: null, agent_id: null, user_id: null, remote_id: null },
  content: 'something else',
  updated_at: '2026-01-01T00:00:00Z',
};

/** One to twenty seconds, as a number or as a date (RFC 9110 §10.2.3). */
function retryAfter(at: number, random: Random): string {
  const seconds = random.between(1, 20);
  return random.chance(0.3) ? new Date(at + seconds * 1_000).toUTCString() : String(seconds);
}
