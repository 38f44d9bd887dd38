import { isDoubtfulAddress } from '../../src/domain/strict-addresses.ts';
import { asShopId } from '../../src/domain/ids.ts';
import type { Arrival } from '../../src/intake/intake.ts';
import type { Channel } from '../../src/domain/channel.ts';
import type { Wanted } from './heart.ts';
import { MARKERS } from './platform-markers.ts';
import { DEFAULT_TRAITS, type PlatformTraits, randomTraits } from './platform-traits.ts';
import type { Random } from './random.ts';

const MINUTE = 60_000;

export interface SimulatedMessage {
  /** Part of its content, which identifies it on any platform. */
  readonly tag: string;
  readonly at: number;
  readonly shopId: string;
  readonly channel: Channel;
  readonly lane: string;
  readonly wanted: Wanted;
  /** From a hostile sender. */
  readonly isStrange: boolean;
  /** How often the sender sends it, without waiting. */
  readonly copies: number;
}

/** A disturbance of the process or an operator's action; `at` in milliseconds from the start. */
export type Happening =
  | { readonly at: number; readonly kind: 'pause'; readonly ms: number }
  | {
      readonly at: number;
      readonly kind: 'crash';
      readonly downMs: number;
      readonly skewMs: number;
    }
  | { readonly at: number; readonly kind: 'reload' }
  /** All leases are lost, as if expired and possibly claimed by another process. */
  | { readonly at: number; readonly kind: 'leases lost' }
  | { readonly at: number; readonly kind: 'try now'; readonly shopId: string }
  /** Applied to a random entry that is not delivered. */
  | { readonly at: number; readonly kind: 'retry' | 'discard' | 'erase' }
  /** For this time no message can be stored; outcomes can, because of the ballast. */
  | { readonly at: number; readonly kind: 'disk full'; readonly ms: number }
  /** For this time each store call fails with this probability. */
  | {
      readonly at: number;
      readonly kind: 'store fails';
      readonly ms: number;
      readonly rate: number;
    };

export interface Scenario {
  readonly shops: readonly { readonly shopId: string; readonly apiKey: string }[];
  readonly traits: PlatformTraits;
  readonly messages: readonly SimulatedMessage[];
  readonly happenings: readonly Happening[];
  readonly concurrency: number;
  readonly requestTimeoutMs: number;
  /** Senders write until then. */
  readonly activeMs: number;
  /** Every shop has more messages to deliver than there are slots. */
  readonly isBacklog?: true;
}

const ODD_SENDERS = [
  '"p 0"@evil.example',
  'root@localhost',
  'a_b@under_score.example',
  'x@[127.0.0.1]',
  'jörg@ümlaut.example',
  '"quoted"@example.com',
  'a..b@example.com',
];
const MARKS = MARKERS.map(({ text }) => text);
/** Faults that make a request wait for its whole timeout or a long time. */
export const SILENT = ['black hole', 'commit then silence', 'slow'];
const HARMLESS = ['[[flaky]]', '[[lost-once]]'];

/** Draws one run from the seed; each feature is drawn independently (swarm testing). */
export function drawScenario(random: Random, gateways = 1): Scenario {
  const draw = random.fork('scenario');
  if (random.fork('kind').chance(0.03)) return threeBacklogs(draw);
  const shops = Array.from({ length: draw.pick([1, 1, 1, 2, 3]) }, (_, index) => ({
    shopId: `00000000-0000-4000-8000-00000000000${index + 1}`,
    apiKey: `key-${index}`,
  }));
  const activeMs = draw.pick([1, 3, 5, 10]) * MINUTE;
  const traits = consistent(
    draw.chance(0.15)
      ? { ...randomTraits(random.fork('traits'), shops, activeMs), faults: [], proxyEmptyRate: 0 }
      : randomTraits(random.fork('traits'), shops, activeMs),
  );
  const messages = drawMessages(random.fork('messages'), shops, activeMs);
  return {
    ...{ shops, traits, activeMs, messages },
    // Several gateways have more to go wrong.
    happenings: Array.from({ length: gateways }).flatMap((_, index) => {
      const own = index === 0 ? draw : random.fork(`trouble ${index}`);
      if (!own.chance(0.6)) return [];
      const which = random.fork(index === 0 ? 'happenings' : `happenings ${index}`);
      return drawHappenings(which, shops, { activeMs, messages, traits });
    }),
    concurrency: draw.pick([1, 2, 4, 16, 16]),
    requestTimeoutMs: draw.pick([10_000, 30_000]),
  };
}

/** Three shops with a backlog each and no faults, which must be served in turn. */
function threeBacklogs(random: Random): Scenario {
  const shops = Array.from({ length: 3 }, (_, index) => ({
    shopId: `00000000-0000-4000-8000-00000000000${index + 1}`,
    apiKey: `key-${index}`,
  }));
  const messages = shops.flatMap(({ shopId }, index) =>
    Array.from({ length: 120 }, (_, nth) => ({
      ...messageOf(random, {
        ...{ shopId, channel: 'sms', lane: `person ${index}/${nth}`, tag: `#${index}.${nth}.0#` },
        ...{ at: random.integer(300), isStrange: false },
      }),
      copies: 1,
    })),
  );
  const plain = messages.map((message) => ({
    ...message,
    wanted: { ...message.wanted, content: `${message.tag} hello`, attachments: [] },
  }));
  return {
    ...{ shops, messages: plain, happenings: [], activeMs: MINUTE, isBacklog: true },
    traits: { ...DEFAULT_TRAITS, latencyMs: [200, 300] },
    ...{ concurrency: random.pick([6, 16]), requestTimeoutMs: 30_000 },
  };
}

/**
 * A platform that answers a new message with an empty 200 cannot be distinguished from a proxy that
 * does so in its place, and no gateway can handle both correctly.
 */
function consistent(traits: PlatformTraits): PlatformTraits {
  const looksLikeProxy = traits.newMessageAnswer === 'empty' && traits.createdStatus === 200;
  return looksLikeProxy ? { ...traits, proxyEmptyRate: 0 } : traits;
}

function drawMessages(
  random: Random,
  shops: Scenario['shops'],
  activeMs: number,
): readonly SimulatedMessage[] {
  const messages: SimulatedMessage[] = [];
  for (const [index, { shopId }] of shops.entries()) {
    const people = random.fork(`people ${index}`);
    const lanes = people.pick([1, 1, 2, 4, 8]);
    const each = people.pick([1, 3, 6, 12]);
    const burst = people.chance(0.3);
    for (let lane = 0; lane < lanes; lane += 1) {
      const channel = people.pick(['email', 'sms', 'web_chat'] as const);
      for (let nth = 0; nth < each; nth += 1) {
        messages.push(
          messageOf(people, {
            ...{ shopId, channel, lane: `person ${index}/${lane}` },
            tag: `#${index}.${lane}.${nth}#`,
            at: burst ? people.integer(2000) : people.integer(activeMs),
            isStrange: false,
          }),
        );
      }
    }
    const strangers = random.fork(`strangers ${index}`);
    if (!strangers.chance(0.5)) continue;
    const many = strangers.pick([1, 3, 6, 12]);
    const begin = strangers.integer(activeMs);
    for (let nth = 0; nth < many; nth += 1) {
      const channel = strangers.pick(['email', 'email', 'sms', 'web_chat'] as const);
      messages.push(
        messageOf(strangers, {
          ...{ shopId, channel, lane: `stranger ${index}/${strangers.chance(0.9) ? nth : 0}` },
          tag: `#${index}.s.${nth}#`,
          at: strangers.chance(0.5) ? begin + strangers.integer(2000) : strangers.integer(activeMs),
          isStrange: true,
        }),
      );
    }
  }
  return messages.toSorted((a, b) => a.at - b.at);
}

function messageOf(
  random: Random,
  base: Omit<SimulatedMessage, 'wanted' | 'copies'>,
): SimulatedMessage {
  const { tag, isStrange, channel, lane } = base;
  const mark = isStrange
    ? random.pick(['', '', ...MARKS])
    : random.chance(0.1)
      ? random.pick(HARMLESS)
      : '';
  const name = lane.replaceAll(/\W/g, '-');
  const email = isStrange && random.chance(0.5) ? random.pick(ODD_SENDERS) : `${name}@mail.example`;
  const digits = Array.from(lane).reduce((sum, c) => (sum * 31 + c.charCodeAt(0)) % 9_000_000, 7);
  const oddCopy = isStrange && random.chance(0.3);
  return {
    ...base,
    copies: random.chance(0.1) ? 2 : 1,
    wanted: {
      contact:
        channel === 'email'
          ? { email, name: 'A Person' }
          : channel === 'sms'
            ? { phone: `+1555${String(digits).padStart(7, '0')}` }
            : { name: `Visitor ${digits}` },
      content: `${tag} ${mark} hello`,
      format: random.pick(['TEXT', 'MARKDOWN', 'HTML'] as const),
      cc:
        channel !== 'email'
          ? []
          : oddCopy
            ? [random.pick(ODD_SENDERS)]
            : random.chance(0.2)
              ? ['c@mail.example']
              : [],
      attachments: random.chance(0.2) ? ['a.txt', 'b.txt'].slice(0, random.between(1, 2)) : [],
    },
  };
}

function drawHappenings(
  random: Random,
  shops: Scenario['shops'],
  { activeMs, messages, traits }: Pick<Scenario, 'activeMs' | 'messages' | 'traits'>,
): readonly Happening[] {
  // Often at the worst moment, while a message is in transit.
  const moment = () =>
    random.chance(0.5)
      ? random.pick(messages).at + random.integer(400)
      : random.integer(activeMs + 2 * MINUTE);
  const happenings: Happening[] = [];
  const sometimes = (probability: number, many: number, make: (at: number) => Happening) => {
    if (!random.chance(probability)) return;
    for (let nth = random.between(1, many); nth > 0; nth -= 1) {
      happenings.push(make(moment()));
    }
  };
  sometimes(0.4, 2, (at) => ({
    at,
    kind: 'pause',
    ms: random.pick([1500, 12_000, 40_000, 75_000, 200_000]),
  }));
  sometimes(0.4, 3, (at) => ({
    ...{ at, kind: 'crash', downMs: random.pick([100, 3000, 60_000]) },
    skewMs: random.pick([0, 0, 0, -25 * 3_600_000, -600_000, 3_600_000]),
  }));
  sometimes(0.2, 3, (at) => ({ at, kind: 'reload' }));
  sometimes(0.15, 4, (at) => ({ at, kind: 'leases lost' }));
  // While a request may hang, another attempt begins and the first one ends after it.
  for (const { kind, fromMs, toMs } of traits.faults) {
    const lost = random.fork(`leases ${fromMs}`);
    if (!SILENT.includes(kind) || !lost.chance(0.3)) continue;
    happenings.push({ at: fromMs + lost.integer(toMs - fromMs), kind: 'leases lost' });
  }
  sometimes(0.2, 3, (at) => ({ at, kind: 'try now', shopId: random.pick(shops).shopId }));
  sometimes(0.2, 4, (at) => ({ at, kind: 'retry' }));
  sometimes(0.15, 3, (at) => ({ at, kind: 'discard' }));
  sometimes(0.15, 3, (at) => ({ at, kind: 'erase' }));
  sometimes(0.15, 2, (at) => ({
    ...{ at, kind: 'store fails', ms: random.pick([100, 3000, 20_000]) },
    rate: random.pick([0.1, 0.5, 1]),
  }));
  sometimes(0.15, 2, (at) => ({
    ...{ at, kind: 'disk full', ms: random.pick([1000, 30_000, 120_000]) },
  }));
  return happenings.toSorted((a, b) => a.at - b.at);
}

/** The message as a channel gives it to the intake. */
export function arrivalOf({ tag, shopId, channel, lane, wanted }: SimulatedMessage): Arrival {
  return {
    ...{ shopId: asShopId(shopId), channel, lane, dedupKey: tag, remoteId: `<${tag}@sender>` },
    meta: { ...wanted },
    raw: { kind: 'inline', bytes: Buffer.from(tag) },
    summary: { from: '', to: '', subject: '', more: '' },
  };
}

/** The number of places with addresses that strict platforms may refuse. */
export const oddAddresses = ({ wanted }: SimulatedMessage): number =>
  [[wanted.contact.email ?? ''], wanted.cc].filter((emails) =>
    emails.some((email) => email !== '' && isDoubtfulAddress(email)),
  ).length;
