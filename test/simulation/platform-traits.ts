import type { Random } from './random.ts';

/**
 * How one platform behaves where the API document does not say (`not shown`), and which faults it
 * has. Plain data: `JSON.stringify` of it and a seed reproduce a run.
 */
export interface PlatformTraits {
  /** The answer to a new message (§4.7 rule 6: not shown). */
  readonly newMessageAnswer: (typeof NEW_MESSAGE_ANSWERS)[number];
  /** The status of that answer and of other creations (§4: not shown). */
  readonly createdStatus: (typeof CREATED_STATUSES)[number];
  /** The answer to a repeated message; `conflict` is a 409 with the existing message. */
  readonly duplicateAnswer: (typeof DUPLICATE_ANSWERS)[number];
  /**
   * Which messages count as repetitions (§4.7 rule 5: not shown). `content`: contact, conversation
   * and content are equal within five minutes. `none`: every message is stored.
   */
  readonly dedup: (typeof DEDUPS)[number];
  /** Whether answers show `remote_id`; otherwise it is null. */
  readonly keepsRemoteId: boolean;
  /** The key's scopes (§5.3: not shown); other operations are answered 403. */
  readonly scopes: {
    readonly contacts: boolean;
    readonly readMessages: boolean;
    readonly write: boolean;
  };
  /** The answer to a message for a conversation that the shop does not have. */
  readonly unknownConversation: 404 | 422;
  /** The status of an invalid body or query (§7: not shown). */
  readonly validationStatus: 400 | 422;
  /** The body of every refusal (§7: not shown). */
  readonly errorBodies: (typeof ERROR_BODIES)[number];
  /** How `email format` is validated (§4.7). */
  readonly emails: (typeof EMAILS)[number];
  /** How long an uploaded file can be attached; without it, forever. */
  readonly mediaLifetimeMs?: number;
  /** The order of every list (§4: not shown). */
  readonly listOrder: (typeof LIST_ORDERS)[number];
  /** The page size without `limit`, and the maximum of `limit` (§8: not shown). */
  readonly defaultLimit: number;
  readonly maxLimit: number;
  /** Whether message lists contain the agent's replies, which quote the customer. */
  readonly agentReplies: boolean;
  /**
   * The share of POSTs that a proxy answers with an empty 200: half of them without forwarding the
   * request, the other half in place of the platform's answer.
   */
  readonly proxyEmptyRate: number;
  /** The shortest and the longest time to an answer. */
  readonly latencyMs: readonly [low: number, high: number];
  /** The maximum requests per second of one shop; further ones get 429 (§8: not shown). */
  readonly maxPerSecond?: number;
  readonly faults: readonly ScheduledFault[];
}

/** A time window in which some requests fail. Times are counted from the model's creation. */
export interface ScheduledFault {
  readonly fromMs: number;
  /** The first millisecond after the window. */
  readonly toMs: number;
  /** Every shop, or the id of one. */
  readonly scope: string;
  readonly paths: (typeof FAULT_PATHS)[number];
  readonly kind: FaultKind;
  /** The share of requests that fail. */
  readonly rate: number;
}

export const NEW_MESSAGE_ANSWERS = [
  'message',
  'empty',
  'data',
  'message-envelope',
  'id-only',
  'ok',
  'no-conversation-id',
] as const;
export const CREATED_STATUSES = [200, 201, 202] as const;
export const DUPLICATE_ANSWERS = ['message', 'conflict', 'empty'] as const;
export const DEDUPS = ['remote_id', 'none', 'content'] as const;
export const ERROR_BODIES = ['django', 'pointer', 'code', 'html', 'empty'] as const;
export const EMAILS = ['ajv', 'lenient', 'none'] as const;
export const LIST_ORDERS = ['newest first', 'oldest first'] as const;
export const FAULT_PATHS = ['all', 'messages', 'media', 'reads', 'posts'] as const;
export const FAULT_KINDS = [
  'black hole',
  'refused',
  'reset',
  'commit then reset',
  'commit then silence',
  '500',
  '502 html',
  '503 retry-after',
  '429',
  'slow',
  '401',
  '403',
  '404 all',
  '404 conversations',
  'html 200',
  'redirect',
  // Errors that look like success, and success that looks like an error.
  'error 200',
  'status 200',
  'failure 201',
  'stranger 409',
  'commit then error 200',
  'commit then bare 200',
  // A GET of one resource is answered with another one.
  'wrong read',
  'patience',
] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

/** A platform without faults and with complete answers. */
export const DEFAULT_TRAITS: PlatformTraits = {
  newMessageAnswer: 'message',
  createdStatus: 201,
  duplicateAnswer: 'message',
  dedup: 'remote_id',
  keepsRemoteId: true,
  scopes: { contacts: true, readMessages: true, write: true },
  unknownConversation: 404,
  validationStatus: 422,
  errorBodies: 'pointer',
  emails: 'ajv',
  listOrder: 'newest first',
  defaultLimit: 50,
  maxLimit: 100,
  agentReplies: false,
  proxyEmptyRate: 0,
  latencyMs: [20, 200],
  faults: [],
};

/**
 * Traits for one run. Each is drawn independently from a random stream of its own, so that every
 * combination occurs and a new trait does not change those of existing seeds.
 * @param horizonMs how long senders are active: fault windows begin before it
 */
export function randomTraits(
  random: Random,
  shops: readonly { readonly shopId: string }[],
  horizonMs: number,
): PlatformTraits {
  const sometimes = <T>(
    trait: string,
    probability: number,
    draw: (from: Random) => T,
  ): T | null => {
    const from = random.fork(trait);
    return from.chance(probability) ? draw(from) : null;
  };
  const oneOf = <T>(trait: string, probability: number, list: readonly T[], usual: T): T =>
    sometimes(trait, probability, (from) => from.pick(list)) ?? usual;
  const mediaLifetimeMs = sometimes('media lifetime', 0.2, (from) =>
    Math.round(horizonMs * (0.05 + from.fraction())),
  );
  const maxPerSecond = sometimes('rate limit', 0.2, (from) => from.between(2, 20));
  const slowest = oneOf('latency', 0.5, [20, 1_000, 4_000, 9_000], 200);
  return {
    newMessageAnswer: oneOf('new message', 0.6, NEW_MESSAGE_ANSWERS, 'message'),
    createdStatus: oneOf('created status', 0.5, CREATED_STATUSES, 201),
    duplicateAnswer: oneOf('duplicate', 0.5, DUPLICATE_ANSWERS, 'message'),
    dedup: oneOf('dedup', 0.4, DEDUPS, 'remote_id'),
    keepsRemoteId: sometimes('remote id', 0.3, () => false) ?? true,
    scopes: {
      contacts: sometimes('contacts', 0.15, () => false) ?? true,
      readMessages: sometimes('read messages', 0.2, () => false) ?? true,
      write: sometimes('write', 0.02, () => false) ?? true,
    },
    unknownConversation: oneOf('unknown conversation', 1, [404, 422] as const, 404),
    validationStatus: oneOf('validation status', 1, [400, 422] as const, 422),
    errorBodies: oneOf('error bodies', 1, ERROR_BODIES, 'pointer'),
    emails: oneOf('emails', 0.5, EMAILS, 'ajv'),
    ...(mediaLifetimeMs === null ? {} : { mediaLifetimeMs }),
    listOrder: oneOf('list order', 1, LIST_ORDERS, 'newest first'),
    defaultLimit: oneOf('default limit', 0.5, [5, 20, 100], 50),
    maxLimit: oneOf('max limit', 0.3, [10, 25, 1_000], 100),
    agentReplies: sometimes('agent replies', 0.4, () => true) ?? false,
    proxyEmptyRate: sometimes('proxy', 0.15, (from) => from.between(1, 30) / 100) ?? 0,
    latencyMs: [Math.min(20, Math.round(slowest / 4)), slowest],
    ...(maxPerSecond === null ? {} : { maxPerSecond }),
    faults: randomFaults(random.fork('faults'), shops, horizonMs),
  };
}

/** No faults in a quarter of the runs, otherwise one to four. */
function randomFaults(
  random: Random,
  shops: readonly { readonly shopId: string }[],
  horizonMs: number,
): readonly ScheduledFault[] {
  const count = random.chance(0.25) ? 0 : random.between(1, 4);
  return Array.from({ length: count }, (_none, index) => {
    const draw = random.fork(`fault ${index}`);
    const kind = draw.pick(FAULT_KINDS);
    const fromMs = draw.integer(horizonMs);
    // Short and long windows are equally frequent: from a second to half of the horizon.
    const lengthMs = 1_000 * Math.max(1, horizonMs / 2_000) ** draw.fraction();
    const concernsAllPaths = kind === '404 conversations' || draw.chance(0.5);
    return {
      fromMs,
      toMs: Math.ceil(fromMs + lengthMs),
      scope: shops.length === 0 || draw.chance(0.6) ? 'all' : draw.pick(shops).shopId,
      paths: concernsAllPaths ? 'all' : draw.pick(FAULT_PATHS),
      kind,
      rate: draw.chance(0.5) ? 1 : draw.between(5, 95) / 100,
    };
  });
}

/** The traits in a few lines, for the report of a failed run. */
export function describeTraits(traits: PlatformTraits): string {
  const { scopes } = traits;
  const missing = [
    scopes.contacts ? [] : 'contacts',
    scopes.readMessages ? [] : 'reading messages',
    scopes.write ? [] : 'writing',
  ].flat();
  return [
    `answers: new ${traits.createdStatus} ${traits.newMessageAnswer}, ` +
      `duplicate ${traits.duplicateAnswer}, unknown conversation ${traits.unknownConversation}, ` +
      `invalid ${traits.validationStatus}, error bodies ${traits.errorBodies}, emails ${traits.emails}`,
    `dedup: ${traits.dedup}; remote_id ${traits.keepsRemoteId ? 'shown' : 'not shown'}; ` +
      `the key lacks ${missing.length === 0 ? 'nothing' : missing.join(' and ')}; ` +
      `media kept ${traits.mediaLifetimeMs === undefined ? 'forever' : `${traits.mediaLifetimeMs} ms`}`,
    `lists: ${traits.listOrder}, ${traits.defaultLimit} of at most ${traits.maxLimit} results, ` +
      `${traits.agentReplies ? 'with' : 'without'} the agent's replies`,
    `network: ${traits.latencyMs.join('..')} ms, proxy empties ${traits.proxyEmptyRate}, ` +
      (traits.maxPerSecond === undefined ? 'no rate limit' : `${traits.maxPerSecond} requests/s`),
    ...traits.faults.map(
      ({ kind, fromMs, toMs, scope, paths, rate }) =>
        `fault: ${kind}, ${fromMs}..${toMs} ms, shop ${scope}, paths ${paths}, rate ${rate}`,
    ),
    ...(traits.faults.length === 0 ? ['fault: none'] : []),
  ].join('\n');
}
