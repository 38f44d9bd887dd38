import { NOBODY, type NamedPlatform, STRANGER } from './named-platform.ts';
import {
  after,
  asHttp10,
  bomb,
  brokenChunks,
  bytes,
  changed,
  endlessHeader,
  flood,
  informs,
  inTurn,
  megabyteHeader,
  padded,
  page,
  reset,
  resetsAtReuse,
  says,
  silence,
  strangers,
  type Tell,
  tooLong,
  tooShort,
  trickle,
  twoAtOnce,
  withByteOrderMark,
} from './tells.ts';

/**
 * What is to become of a message that is sent while the platform lies, by the table of answers (`src/delivery/answer.ts`
 * and `post.ts`): it is delivered once; it is dead with the platform's words; it is held with an alarm; or it is
 * delivered as far as anybody can know, because the platform said so in the form of a message or an id.
 */
export type Fate = 'delivered' | 'refused' | 'held' | 'believed';

export interface Lie {
  readonly name: string;
  /** Before the platform has ever told the truth, and afterwards. */
  readonly cold: Fate;
  readonly warm: Fate;
  /** Which requests are answered with a lie. */
  readonly posts?: Tell;
  readonly uploads?: Tell;
  readonly list?: Tell;
  readonly message?: Tell;
  readonly all?: Tell;
  /** What becomes of the platform's name or certificate. */
  readonly line?: (named: NamedPlatform) => void;
}

type Told = Omit<Lie, 'name' | 'cold' | 'warm'>;

const lie = (name: string, told: Told, cold: Fate = 'delivered', warm = cold): Lie => ({
  name,
  cold,
  warm,
  ...told,
});
/** A platform that has answered with messages cannot answer so: it is a proxy's answer. */
const unlessKnown = (name: string, told: Told) => lie(name, told, 'held', 'delivered');
const on = (posts: Tell): Told => ({ posts });
const refusal = (status: number) =>
  lie(`${status}`, on(says(status, { errors: [{ message: 'no' }] })), 'refused');

const TOO_LONG = 'c'.repeat(10_000);
const STRANGE_IDS = [TOO_LONG, 'conv/../../x?y', '..', '', ' ', 'é', 0, -1, true, null, [], {}];
const BARE_ID = 'an-id-and-nothing-else';
const error = { code: 'quota', message: 'over the limit' };
const changedId = (name: string) =>
  changed((body, n) => ({ ...body, [name]: STRANGE_IDS[n % STRANGE_IDS.length] }));

/** All lies, and what is to become of each. */
export const LIES: readonly Lie[] = [
  // Errors under every 2xx.
  lie('200 with an error and an id', on(says(200, { error, id: BARE_ID }))),
  lie('200 with an error, stored', on(after(says(200, { error })))),
  lie('201 success: false', on(says(201, { success: false, id: BARE_ID }))),
  lie('202 ok: false, in an envelope', on(says(202, { data: { ok: false, id: BARE_ID } }))),
  lie('203 with errors', on(says(203, { errors: ['later'] }))),
  lie(
    '200 that names a field',
    on(says(200, { errors: [{ field: 'message.content' }] })),
    'refused',
  ),
  unlessKnown('204', on(says(204))),
  lie('204, stored', on(after(says(204)))),
  unlessKnown('205 with null', on(says(205, 'null'))),
  unlessKnown('206 {}', on(says(206, {}))),
  unlessKnown('207 with a status of each', on(says(207, { results: [{ status: 500 }] }))),
  unlessKnown('208 []', on(says(208, []))),
  unlessKnown('226 "queued"', on(says(226, '"queued"'))),
  lie('200 OK as text', on(says(200, 'OK', { 'content-type': 'text/plain' }))),
  lie(
    '200 with a page',
    on(says(200, '<!doctype html><p>Back soon', { 'content-type': 'text/html' })),
  ),
  lie('200 status: error, unknown id', on(says(200, { status: 'error', id: BARE_ID }))),
  // It is read for ten minutes, so it is found to be none.
  lie('299 an id that cannot be read', {
    posts: says(299, { id: BARE_ID }),
    message: says(500),
  }),
  lie('a page under every 2xx, reads too', { all: says(200, '<!doctype html><p>Sign in') }),
  lie('500, stored', on(after(says(500, { error })))),
  lie('400,000 arrays in each other', on(says(200, '['.repeat(400_000)))),

  // Other messages.
  lie("201 a stranger's message", on(says(201, strangers())), 'held'),
  lie(
    "200 a stranger's message without a name",
    on(says(200, strangers({ remote_id: null }))),
    'believed',
  ),
  lie("409 a stranger's message", on(says(409, strangers())), 'refused'),
  lie("409 a stranger's without a name", on(says(409, strangers({ remote_id: null }))), 'refused'),
  lie('409 with our message, stored', on(changed((body) => body, 409))),
  lie('200 an id, which reads as another message', {
    posts: changed(({ id }) => ({ id })),
    message: says(200, strangers()),
  }),
  lie("200 an id, which reads as a stranger's", {
    posts: changed(({ id }) => ({ id })),
    message: changed((body) => ({ ...body, remote_id: 'of-a-stranger' })),
  }),

  // Ids of all kinds.
  lie('ids of all kinds', on(changedId('id'))),
  lie('conversation ids of all kinds', on(changedId('conversation_id'))),
  lie("another's conversation", on(anothersConversation())),
  lie('media ids of all kinds', { uploads: changedId('id') }),
  lie('uploads of which nothing comes', { uploads: inTurn(says(200, {}), says(204), reset) }),

  // Redirects.
  lie('302 to itself', on(says(302, '', { location: '/v2026-04/messages/' }))),
  lie('308 to another host', { all: says(308, '', { location: 'http://nobody.lies.example/' }) }),
  lie('303 without a place, 304', on(inTurn(says(303), says(304)))),

  // Bytes.
  lie('an endless body, stored', on(after(trickle))),
  lie('a flood', { all: flood }),
  lie('100 Continue for ever', on(informs('HTTP/1.1 100 Continue'))),
  lie('103 Early Hints for ever', on(informs('HTTP/1.1 103 Early Hints'))),
  lie(
    '101 Switching Protocols',
    on(bytes('HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\nconnection: upgrade\r\n\r\n')),
  ),
  lie('a compressed bomb', on(bomb)),
  lie('bombs for every read', { posts: reset, list: bomb, all: bomb }),
  lie('a header of a megabyte, stored', on(megabyteHeader)),
  lie('a header without an end', on(endlessHeader)),
  lie('HTTP/1.0', on(asHttp10)),
  lie('less than its length, stored', on(tooShort)),
  lie('more than its length, stored', on(tooLong)),
  lie('two answers at once', on(twoAtOnce)),
  lie('broken chunks, stored', on(brokenChunks)),
  lie('bytes of another protocol', { all: bytes('220 mx.stranger.example ESMTP\r\n') }),
  lie('a message of 900 KB', on(padded(900_000))),
  lie('a message of 2 MB, stored', on(padded(2_000_000))),
  lie('a byte order mark', on(withByteOrderMark)),
  lie('reset at reuse', { all: resetsAtReuse() }),
  lie('silence after it is stored', on(after(silence))),

  // Statuses.
  ...[400, 413, 415, 422].map(refusal),
  lie('401 for everything', { all: says(401, { detail: 'Invalid credentials' }) }),
  lie('403 for messages', on(says(403, 'Blocked'))),
  lie('404 and 405', on(inTurn(says(404), says(405)))),
  lie('408 and 425', on(inTurn(says(408), says(425)))),
  lie('429, and to wait for 30 years', on(says(429, '', { 'retry-after': '1000000000' }))),
  lie('503, and to wait for -5 s', on(says(503, '', { 'retry-after': '-5' }))),
  lie('503, and to wait for 20 s', on(says(503, '', { 'retry-after': '20' }))),

  // Lists.
  lie('a list that links to itself', {
    posts: after(reset),
    list: changed((body) => ({ ...body, next: 'http://127.0.0.1/v2026-04/messages/?cursor=a' })),
  }),
  lie('a list without an end', {
    posts: reset,
    list: (received, platform, n) =>
      says(200, page([strangers()], `c${n}`, 'http://nobody.lies.example'))(received, platform, n),
  }),
  lie('a list of nulls', { posts: reset, list: says(200, { results: [null, 1, { id: null }] }) }),
  lie('a list in another form', { posts: reset, list: says(200, { data: [] }) }),

  // Certificates and names.
  lie('a certificate that expired', { line: (named) => named.show(named.pairs.expired) }),
  lie('a certificate of another name', { line: (named) => named.show(named.pairs.other) }),
  lie('a certificate that nobody knows', { line: (named) => named.show(named.pairs.unknown) }),
  lie('a certificate that is renewed', { line: (named) => named.show(named.pairs.renewed) }),
  lie('a name that is unknown', { line: (named) => named.lead(undefined) }),
  lie('a name that leads to nobody', { line: (named) => named.lead(NOBODY) }),
  lie('a name that leads to a stranger', { line: (named) => named.lead(STRANGER) }),
  lie('a platform that moves', { line: (named) => named.move() }),
];

/** Each message is said to be in the conversation of the first. */
function anothersConversation(): Tell {
  let first: unknown;
  return changed((body) => {
    first ??= body['conversation_id'];
    return { ...body, conversation_id: first };
  });
}
