import { text } from 'node:stream/consumers';

import { request as httpRequest } from 'node:http';
import { afterEach, describe, expect, test } from '@jest/globals';
import { parseEmailMeta } from '../../../src/channels/email/stored.ts';
import { createInboundTokens, readEnvelope } from '../../../src/channels/email/door-http.ts';
import { fromSmtp, SmtpRefusal } from '../../../src/channels/email/refusals.ts';
import { SpoolFull, SpoolUnavailable } from '../../../src/spool/errors.ts';
import { asBlobName } from '../../../src/domain/ids.ts';
import { ACME, MESSAGE, OTHER, openDoor } from '../../support/email-door.ts';
import {
  ACME_NEXT_TOKEN,
  ACME_TOKEN,
  type InboundChange,
  type InboundDoor,
  type InboundRequest,
  openInbound,
  OTHER_TOKEN,
  QUERY,
} from '../../support/inbound-door.ts';
import { waitFor } from '../../support/wait-for.ts';
import { withinProcessorTime } from '../../support/processor-time.ts';

let door: InboundDoor | undefined;
const open = async (change?: InboundChange): Promise<InboundDoor> =>
  (door = await openInbound(change));

afterEach(async () => {
  await door?.close();
  door = undefined;
});

const LARGE = `${MESSAGE}\r\n${'x'.repeat(998).concat('\r\n').repeat(300)}`;

describe('POST /email/inbound', () => {
  test('takes a raw message and answers with its entry, and again when it comes again', async () => {
    const at = await open();
    const first = await at.send(MESSAGE);
    expect(first.status).toBe(202);
    const again = await at.send(MESSAGE, { token: ACME_NEXT_TOKEN });
    expect(again.status).toBe(200);
    expect(again.body).toEqual(first.body);
    const [entry, ...others] = await at.entries();
    expect(others).toEqual([]);
    expect(first.body).toEqual({ ok: true, entries: [entry?.id] });
    expect(entry).toMatchObject({ shopId: ACME, state: 'queued', remoteId: '<one@example.com>' });
    expect(parseEmailMeta(entry?.meta ?? {})).toMatchObject({
      envelopeFrom: 'ann@example.com',
      envelopeTo: ['support@acme.example'],
      agentContact: 'support@acme.example',
      remoteAddress: '127.0.0.1',
      trustedRelay: true,
      receivedHeader: expect.stringMatching(/\r\n\tby mx\.acme\.example with HTTP id /),
    });
  });

  test('gives each IPv4 client a rate of its own where the server listens on ::', async () => {
    const at = await open({
      messageRate: { messages: 1, perMs: 60_000 },
      parts: () => ({ clientIp: ({ headers }) => `::ffff:${String(headers['x-client'])}` }),
    });
    const statusFor = async (client: string) =>
      (await at.send(MESSAGE, { headers: { 'x-client': client } })).status;
    expect(await statusFor('192.0.2.1')).toBe(202);
    expect(await statusFor('192.0.2.1')).toBe(429);
    expect(await statusFor('192.0.2.2')).toBe(200);
  });

  test('leaves its place to the next one when it ends', async () => {
    const at = await open({ maxInProgress: 1 });
    for (const status of [202, 200, 200]) expect((await at.send(MESSAGE)).status).toBe(status);
  });

  test('keeps a large message byte for byte, in a file', async () => {
    const at = await open();
    expect((await at.send(LARGE)).status).toBe(202);
    expect((await at.send(LARGE)).status).toBe(200);
    const [entry] = await at.entries();
    const [file, ...others] = at.files();
    expect(others).toEqual([]);
    const raw = entry && (await at.spool.raw(entry.id));
    expect(raw).toMatchObject({ kind: 'file', blob: file, size: LARGE.length });
    expect(await text(at.spool.blobs.read(asBlobName(file ?? '')))).toBe(LARGE);
  });

  test('is the same message when it comes by SMTP as well', async () => {
    const at = await open();
    const smtp = await openDoor({ parts: () => ({ intake: at.intake }) });
    try {
      // SMTP ends every message with a line end.
      const { body } = await at.send(`${MESSAGE}\r\n`);
      expect(await smtp.deliver(MESSAGE)).toBe(
        `250 2.0.0 Ok: queued as ${body.entries?.[0] ?? ''}`,
      );
      expect(await at.entries()).toHaveLength(1);
    } finally {
      await smtp.close();
    }
  });

  test('takes to several times, + as it stands, a null sender and a bare postmaster', async () => {
    const at = await open();
    const query = 'from=&to=support+order@acme.example&to=sales%40acme.example&to=postmaster';
    expect((await at.send(MESSAGE, { query })).status).toBe(202);
    const [entry, ...others] = await at.entries();
    expect(others).toEqual([]);
    expect(parseEmailMeta(entry?.meta ?? {})).toMatchObject({
      envelopeFrom: '',
      envelopeTo: ['support+order@acme.example', 'sales@acme.example', 'postmaster'],
    });
  });

  interface Row {
    readonly title: string;
    readonly status: number;
    readonly error: RegExp;
    readonly body?: string;
    readonly request?: InboundRequest;
    readonly change?: InboundChange;
    readonly retryAfter?: true;
  }
  const rows: readonly Row[] = [
    { title: 'no token', status: 401, error: /token/, request: { token: '' } },
    { title: 'a wrong token', status: 401, error: /token/, request: { token: `${ACME_TOKEN}x` } },
    {
      title: 'a token that is no bearer token',
      ...{ status: 401, error: /token/ },
      request: { token: '', headers: { authorization: `Basic ${ACME_TOKEN}` } },
    },
    {
      title: 'no recipient',
      ...{ status: 400, error: /to=/ },
      request: { query: 'from=ann@example.com' },
    },
    {
      title: 'no sender',
      ...{ status: 400, error: /from=/ },
      request: { query: 'to=support@acme.example' },
    },
    { title: 'two senders', status: 400, error: /from=/, request: { query: `from=&${QUERY}` } },
    {
      title: 'a recipient that is no address',
      ...{ status: 400, error: /to= is no address/ },
      request: { query: 'from=&to=nobody' },
    },
    {
      title: 'a query that is not percent-encoded',
      ...{ status: 400, error: /percent-encoded/ },
      request: { query: `${QUERY}&x=%E0%A4%A` },
    },
    {
      title: 'more recipients than a message may have',
      ...{ status: 400, error: /at most 100/ },
      request: { query: `from=${'&to=%@help.acme.example'.repeat(101).replace(/%/g, numbered())}` },
    },
    { title: 'an empty body', status: 400, error: /empty/, body: '' },
    {
      title: 'a recipient that is nobody',
      ...{ status: 404, error: /^The recipient/ },
      request: { query: 'from=&to=nobody@acme.example' },
    },
    {
      title: 'a domain that is nobody’s: no open relay',
      ...{ status: 404, error: /^The recipient/ },
      request: { query: 'from=&to=ann@elsewhere.example' },
    },
    {
      title: "a recipient that is another shop's",
      ...{ status: 404, error: /^Recipient 2 is no mailbox of this shop/ },
      request: { query: `${QUERY}&to=hello@other.example` },
    },
    { title: 'GET', status: 405, error: /POST/, request: { method: 'GET' } },
    {
      title: 'a length over the limit',
      ...{ status: 413, error: /size/, body: LARGE },
      change: { maxMessageBytes: 100_000 },
    },
    { title: 'a form', status: 415, error: /rfc822/, request: { type: 'multipart/form-data' } },
    {
      title: 'a compressed message',
      ...{ status: 415, error: /compressed/ },
      request: { headers: { 'content-encoding': 'gzip' } },
    },
    {
      title: 'a message that has been through more than 50 servers',
      ...{ status: 422, error: /Received/ },
      body: `${'Received: from here by there\r\n'.repeat(51)}${MESSAGE}`,
    },
    {
      title: 'a client that sends too many messages',
      ...{ status: 429, error: /later/, retryAfter: true },
      change: { messageRate: { messages: 0, perMs: 60_000 } },
    },
    {
      title: 'too many messages at the same time',
      ...{ status: 429, error: /same time/, retryAfter: true },
      change: { maxInProgress: 0 },
    },
    {
      title: 'a disk that is full',
      ...{ status: 503, error: /disk space/, retryAfter: true },
      change: { parts: () => ({ intake: failing(new SpoolFull('full')) }) },
    },
    {
      title: 'a shop that has its share of the disk, before its message is read',
      ...{ status: 503, error: /disk space/, retryAfter: true },
      change: {
        parts: () => ({
          intake: {
            assertSpace: ([shopId]) =>
              shopId === ACME ? Promise.reject(new SpoolFull('full')) : Promise.resolve(),
            accept: () => Promise.reject(new Error('it was read')),
          },
        }),
      },
    },
    {
      title: 'a spool that is down',
      ...{ status: 503, error: /later/, retryAfter: true },
      change: { parts: () => ({ intake: failing(new SpoolUnavailable('fsync')) }) },
    },
    {
      title: 'an error that nobody has thought of',
      ...{ status: 503, error: /later/, retryAfter: true },
      change: { parts: () => ({ intake: failing(new TypeError('bug')) }) },
    },
    {
      title: 'an answer that does not come in time',
      ...{ status: 503, error: /later/, retryAfter: true },
      change: {
        answerWithinMs: 50,
        parts: () => ({
          intake: { ...failing(new Error()), accept: () => new Promise(() => undefined) },
        }),
      },
    },
  ];

  test.each(rows)('$status for $title, in words, and nothing stays', async (row) => {
    const at = await open(row.change);
    const { status, body, headers } = await at.send(row.body ?? MESSAGE, row.request);
    expect({ status, ...body }).toEqual({
      status: row.status,
      ok: false,
      error: expect.stringMatching(row.error),
    });
    expect(headers.get('retry-after')).toEqual(row.retryAfter ? '30' : null);
    if (status === 401) expect(headers.get('www-authenticate')).toBe('Bearer');
    if (status === 405) expect(headers.get('allow')).toBe('POST');
    expect(await at.entries()).toEqual([]);
    expect(at.files()).toEqual([]);
  });
});

describe('a body', () => {
  const head = `POST /email/inbound?${QUERY} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n`;
  const full = `${head}Authorization: Bearer ${ACME_TOKEN}\r\nContent-Type: message/rfc822\r\n`;

  test('in chunks over the limit is answered 413 at its end', async () => {
    const at = await open({ maxMessageBytes: 1000 });
    const chunk = `5dc\r\n${'x'.repeat(1500)}\r\n0\r\n\r\n`;
    const answer = await at.raw(`${full}Transfer-Encoding: chunked\r\n\r\n${chunk}`);
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(await at.entries()).toEqual([]);
  });

  test('in chunks of more than twice the limit is cut off', async () => {
    const at = await open({ maxMessageBytes: 1000 });
    const chunk = `5dc\r\n${'x'.repeat(1500)}\r\n`;
    expect(await at.raw(`${full}Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(3)}`)).toBe('');
    expect(await at.entries()).toEqual([]);
  });

  test('that comes too slowly is told so and cut off', async () => {
    const at = await open({
      dataPace: { minBytesPerSecond: 500, windowMs: 60, totalMs: 10_000 },
    });
    const answer = await at.raw(`${full}Content-Length: 1000\r\n\r\nSubject: slow\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 408 .*"error":"Data comes too slowly"/s);
    expect(await at.entries()).toEqual([]);
  });

  test.each([
    ['small', MESSAGE],
    ['large', LARGE],
  ])('that breaks off leaves nothing: %s', async (_, message) => {
    const at = await open();
    const request = httpRequest(`${at.url}?${QUERY}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${ACME_TOKEN}`,
        'content-type': 'message/rfc822',
        'content-length': message.length + 1,
      },
    });
    request.on('error', () => undefined);
    const closed = new Promise((resolve) => request.once('close', resolve));
    await new Promise<void>((resolve) => request.write(message, () => resolve()));
    if (message === LARGE) await waitFor('a file', () => at.files().length === 1);
    request.destroy();
    await closed;
    await waitFor('no file', () => at.files().length === 0);
    expect((await at.send(MESSAGE)).status).toBe(202);
    expect(await at.entries()).toHaveLength(1);
  });

  test('that is refused before it is read does not become the next request', async () => {
    const at = await open();
    const inner = `${full}Content-Length: ${MESSAGE.length}\r\n\r\n${MESSAGE}`;
    const outer = `${head.replace('close', 'keep-alive')}Content-Length: ${inner.length}\r\n\r\n`;
    const next = `GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
    const answers = (await at.raw(`${outer}${inner}${next}`)).match(/HTTP\/1\.1 \d+/g);
    expect(answers).toEqual(['HTTP/1.1 401', 'HTTP/1.1 200']);
    expect(await at.entries()).toEqual([]);
  });
});

test.each([
  ['loop', 422, 'loop'],
  ['dmarc', 422, 'dmarc'],
  ['disk_short', 503, 'disk_short'],
  ['unavailable', 503, 'unavailable'],
  ['rate', 429, 'rate'],
  ['not_our_domain', 422, 'rejected'],
  ['shutting_down', 503, 'unavailable'],
] as const)('what SMTP refuses as %s is %i here', (reason, status, name) => {
  const refusal = fromSmtp(new SmtpRefusal(reason));
  expect([refusal.status, refusal.reason]).toEqual([status, name]);
});

describe('tokens', () => {
  const tokens = createInboundTokens([
    { shopId: ACME, tokens: [ACME_TOKEN, ACME_NEXT_TOKEN] },
    { shopId: OTHER, tokens: [OTHER_TOKEN] },
  ]);

  test.each([
    [`Bearer ${ACME_TOKEN}`, ACME],
    [`bearer  ${ACME_NEXT_TOKEN}`, ACME],
    [`Bearer ${OTHER_TOKEN}`, OTHER],
    [`Bearer ${OTHER_TOKEN} ${ACME_TOKEN}`, undefined],
    [ACME_TOKEN, undefined],
    ['Bearer ', undefined],
    [undefined, undefined],
    [`Bearer ${'x'.repeat(100_000)}`, undefined],
  ])('%.40s', (authorization, shopId) => {
    expect(tokens.shopOf(authorization)).toBe(shopId);
  });
});

test('an envelope of a long query is read in linear time', async () => {
  await withinProcessorTime(4000, () => {
    expect(() => readEnvelope(`/x?${'to=&'.repeat(100_000)}`, 100)).toThrow('to= is no address');
    expect(
      readEnvelope(`/x?from=&to=a@b.example${'&x=%20'.repeat(200_000)}`, 100).recipients,
    ).toEqual(['a@b.example']);
  });
});

function failing(error: Error) {
  return { assertSpace: () => Promise.resolve(), accept: () => Promise.reject(error) };
}

/** Each occurrence another number. */
function numbered(): () => string {
  let next = 0;
  return () => String((next += 1));
}

test.each(['%22a%0D%0AX-Evil:%201%22@example.com', '%22a%00%22@example.com', 'a%0Ab@example.com'])(
  'an address with a control character is none: %s',
  (address) => {
    expect(() => readEnvelope(`/?from=${address}&to=support@acme.example`, 10)).toThrow(
      /no address/,
    );
    expect(() => readEnvelope(`/?from=&to=${address}`, 10)).toThrow(/no address/);
  },
);
