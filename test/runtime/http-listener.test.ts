import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { RequestListener, ServerResponse } from 'node:http';
import { describe, expect, test } from '@jest/globals';
import type { CutOff } from '../../src/runtime/http-connections.ts';
import {
  createHttpListener,
  HTTP_LISTENER_DEFAULTS,
  type HttpListenerOptions,
} from '../../src/runtime/http-listener.ts';
import { createNetworks } from '../../src/runtime/ip-addresses.ts';
import { ends } from '../support/ends.ts';
import { waitFor } from '../support/wait-for.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** No test waits so long: it shortens a bound, or lets time pass by a clock of its own. */
const BOUNDS = {
  headersMs: MINUTE,
  keepAliveMs: MINUTE,
  bodyPace: { minBytesPerSecond: 500, windowMs: MINUTE, totalMs: HOUR },
  drainMs: MINUTE,
  unreadMs: MINUTE,
  displaceAfterMs: MINUTE,
  checkEveryMs: 5,
} as const;

/** Time passes when a test says so, however busy the machine is. */
class Clock {
  #time = 0;
  #asked = 0;

  readonly now = (): number => {
    this.#asked += 1;
    return this.#time;
  };

  /** Resolves when the listener has looked at its connections since then. */
  async pass(ms: number): Promise<void> {
    this.#time += ms;
    const asked = this.#asked;
    await waitFor('a look at the connections', () => this.#asked > asked);
  }
}

/** Reads each body to its end, and tells how long it was. */
const countBytes: RequestListener = (request, response) => {
  let bytes = 0;
  request.on('data', (chunk: Buffer) => (bytes += chunk.length));
  request.on('end', () => response.end(String(bytes)));
};

function open(change: Partial<HttpListenerOptions>, onRequest = countBytes) {
  const cutOffs: CutOff[] = [];
  const seen = { open: 0 };
  const listener = createHttpListener(onRequest, {
    ...BOUNDS,
    onCutOff: (why) => cutOffs.push(why),
    onOpen: (connections) => (seen.open = connections),
    ...change,
  });
  ends(() => listener.stop(0));
  return {
    listener,
    cutOffs,
    seen,
    /** Call it last: it listens. */
    listen: () => listener.listen('127.0.0.1', 0),
  };
}

/** A client that leaves its own side open, whatever the server does. */
class Client {
  readonly socket: Socket;
  text = '';
  closed = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(port: number, localAddress = '127.0.0.1') {
    this.socket = connect({ port, host: '127.0.0.1', localAddress, allowHalfOpen: true });
    this.socket.on('data', (data) => (this.text += data.toString('latin1')));
    this.socket.on('error', () => undefined);
    this.socket.on('close', () => (this.closed = true));
    ends(() => this.end());
  }

  send(text: string): this {
    this.socket.write(text);
    return this;
  }

  trickle(text: string, everyMs = 15): this {
    this.#timer = setInterval(() => this.socket.write(text), everyMs);
    return this;
  }

  end(): void {
    clearInterval(this.#timer);
    this.socket.destroy();
  }

  async answered(what: string | RegExp): Promise<void> {
    const is = (): boolean =>
      typeof what === 'string' ? this.text.includes(what) : what.test(this.text);
    await waitFor(`an answer ${String(what)} in ${this.text}`, is);
  }

  /** Resolves when the server has no connection any more: then what it is sent is reset. */
  async gone(): Promise<void> {
    clearInterval(this.#timer);
    this.trickle('x');
    await waitFor('the end of the connection', () => this.closed);
  }
}

const post = (length: number): string =>
  `POST /x HTTP/1.1\r\nHost: gateway.example\r\nContent-Length: ${length}\r\n\r\n`;
const GET = 'GET /x HTTP/1.1\r\nHost: gateway.example\r\n\r\n';
const TIMEOUT = /^HTTP\/1\.1 408 Request Timeout\r\nConnection: close\r\n/;
const TOO_MANY = /^HTTP\/1\.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 10\r\n/;

describe('a slow client is told 408 and cut off, though it keeps its own side open', () => {
  const pace = { minBytesPerSecond: 500, windowMs: 100, totalMs: HOUR };

  test.each<[string, Partial<HttpListenerOptions>, (client: Client) => void, CutOff]>([
    ['that says nothing', { headersMs: 100 }, () => undefined, 'slow_headers'],
    [
      'whose headers trickle',
      { headersMs: 100 },
      (client) => client.send('GET /x HTTP/1.1\r\n').trickle('X-A: b\r\n'),
      'slow_headers',
    ],
    [
      'whose body trickles',
      { bodyPace: pace },
      (client) => client.send(post(100_000)).trickle('x'),
      'slow_body',
    ],
    [
      'whose chunked body trickles',
      { bodyPace: pace },
      (client) =>
        client
          .send('POST /x HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n')
          .trickle('1\r\nx\r\n'),
      'slow_body',
    ],
    [
      'whose body stops after a fast beginning',
      { bodyPace: pace },
      (client) => client.send(post(100_000) + 'x'.repeat(50_000)),
      'slow_body',
    ],
  ])('%s', async (_, change, behave, why) => {
    const { cutOffs, seen, listen } = open(change);
    const client = new Client(await listen());
    behave(client);
    await client.answered(TIMEOUT);
    await client.gone();
    expect(cutOffs).toEqual([why]);
    expect(seen.open).toBe(0);
  });

  test('whose body does not move for a quarter of a minute, by default', async () => {
    const clock = new Clock();
    let isHere = false;
    const { bodyPace } = HTTP_LISTENER_DEFAULTS;
    const { cutOffs, listen } = open({ now: clock.now, bodyPace }, () => void (isHere = true));
    const client = new Client(await listen()).send(post(100_000));
    await waitFor('the request', () => isHere);
    await clock.pass(15_000);
    await client.answered(TIMEOUT);
    expect(cutOffs).toEqual(['slow_body']);
  });

  test('that keeps an idle connection with line breaks', async () => {
    const clock = new Clock();
    const { cutOffs, listen } = open({ now: clock.now });
    const client = new Client(await listen()).send(GET);
    await client.answered('200 OK');
    client.trickle('\r\n');
    await clock.pass(0);
    await clock.pass(2 * MINUTE + 1);
    expect(cutOffs).toEqual(['slow_headers']);
    await client.gone();
  });

  test('that goes on with a body whose answer has gone out', async () => {
    const { cutOffs, listen } = open({ drainMs: 100 }, (_request, response) =>
      response.writeHead(404, { 'Content-Length': 0 }).end(),
    );
    const client = new Client(await listen()).send(post(100_000)).trickle('x'.repeat(100));
    await client.answered('404');
    await waitFor('the end of its patience', () => cutOffs.length > 0);
    await client.gone();
    expect(cutOffs).toEqual(['slow_body']);
    expect(client.text).not.toContain('408');
  });

  test('that does not read a large answer', async () => {
    const { cutOffs, listen } = open({ unreadMs: 100 }, (_request, response) =>
      response.end(Buffer.alloc(64 * 1024 * 1024)),
    );
    const client = new Client(await listen());
    client.socket.pause();
    client.send(GET);
    await waitFor('the end', () => cutOffs.length > 0);
    expect(cutOffs).toEqual(['unread_answer']);
  });
});

describe('whoever is honest goes on', () => {
  test('an upload that is slow and moves', async () => {
    const clock = new Clock();
    let received: number | undefined;
    const { listener, cutOffs, listen } = open({ now: clock.now }, (request, response) => {
      received = 0;
      request.on('data', (chunk: Buffer) => (received = (received ?? 0) + chunk.length));
      request.on('end', () => response.end('all of it'));
    });
    const pieces = 12;
    const pieceBytes = 10_500;
    const client = new Client(await listen()).send(post(pieces * pieceBytes));
    await waitFor('the request', () => received === 0);
    for (let sent = 1; sent <= pieces; sent += 1) {
      client.send('x'.repeat(pieceBytes));
      await waitFor('the piece', () => received === sent * pieceBytes);
      await clock.pass(20_000);
    }
    await client.answered('all of it');
    expect(cutOffs).toEqual([]);
    // Node's own limit goes by its own clock, and for how long a request takes, moving or not.
    expect(listener.server.requestTimeout).toBe(0);
  });

  test('an event stream that is silent for longer than any bound', async () => {
    const clock = new Clock();
    let stream: ServerResponse | undefined;
    const { cutOffs, listen } = open({ now: clock.now }, (_request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' }).flushHeaders();
      stream = response;
    });
    const client = new Client(await listen()).send(GET);
    await client.answered('text/event-stream');
    await clock.pass(HOUR);
    await clock.pass(HOUR);
    stream?.write('data: x\n\n');
    await client.answered('data: x');
    expect(cutOffs).toEqual([]);
  });

  test('a client that waits for us to read what it has sent', async () => {
    const clock = new Clock();
    let read: (() => void) | undefined;
    const { cutOffs, listen } = open({ now: clock.now }, (request, response) => {
      read = () => countBytes(request, response);
    });
    const client = new Client(await listen()).send(post(200_000) + 'x'.repeat(200_000));
    const begin = await waitFor('the request', () => read);
    for (let windows = 0; windows < 3; windows += 1) await clock.pass(MINUTE);
    begin();
    await client.answered(/200 OK[^]*200000$/);
    expect(cutOffs).toEqual([]);
  });

  test('a connection that was upgraded, and it counts no more', async () => {
    const clock = new Clock();
    const { listener, seen, cutOffs, listen } = open({ now: clock.now, maxConnectionsPerIp: 1 });
    let upgraded: Socket | undefined;
    listener.server.on('upgrade', (_request, socket: Socket) => {
      ends(() => void socket.destroy());
      socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n');
      upgraded = socket;
    });
    const port = await listen();
    const upgrade = 'Connection: Upgrade\r\nUpgrade: x\r\n';
    const client = new Client(port).send(`GET /x HTTP/1.1\r\nHost: a.example\r\n${upgrade}\r\n`);
    await client.answered('101');
    expect(seen.open).toBe(0);
    const plain = new Client(port).send(GET);
    await plain.answered('200 OK');
    plain.end();
    await waitFor('its end', () => seen.open === 0);
    await clock.pass(HOUR);
    upgraded?.write('still here');
    await client.answered('still here');
    expect(cutOffs).toEqual([]);
  });
});

test('a pipelined answer is not followed by a 408 in its middle', async () => {
  const { listen } = open(
    { bodyPace: { minBytesPerSecond: 500, windowMs: 100, totalMs: HOUR } },
    (request, response) => {
      if (request.method === 'GET') response.write('begun');
      else request.resume();
    },
  );
  const client = new Client(await listen()).send(GET + post(100_000));
  await client.gone();
  expect(client.text).toContain('begun');
  expect(client.text).not.toContain('408');
});

test('a request that is not HTTP, or has too large headers, is told so', async () => {
  const { listen } = open({});
  const port = await listen();
  const odd = new Client(port).send('EHLO client.example\r\n\r\n');
  await odd.answered(/^HTTP\/1\.1 400 Bad Request\r\n/);
  await odd.gone();
  const large = new Client(port).send(`GET / HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`);
  await large.answered(/^HTTP\/1\.1 431 Request Header Fields Too Large\r\n/);
  await large.gone();
});

describe('connections', () => {
  test('of one address are limited; one too many is told 503, and closed', async () => {
    const { cutOffs, seen, listen } = open({ maxConnectionsPerIp: 2 });
    const port = await listen();
    const first = [new Client(port, '127.0.1.1'), new Client(port, '127.0.1.1')];
    await waitFor('both', () => seen.open === 2);
    const third = new Client(port, '127.0.1.1').send(GET);
    await third.answered(TOO_MANY);
    await third.gone();
    expect(cutOffs).toEqual(['too_many_connections']);
    await new Client(port, '127.0.1.2').send(GET).answered('200 OK');
    first[0]?.end();
    await waitFor('one less', () => seen.open === 2);
    await new Client(port, '127.0.1.1').send(GET).answered('200 OK');
  });

  test('of a trusted proxy are limited in all alone, and leave a quarter to others', async () => {
    const { seen, listen } = open({
      ...{ maxConnections: 8, maxConnectionsPerIp: 1 },
      trusted: createNetworks(['127.0.9.9']),
    });
    const port = await listen();
    for (let more = 0; more < 6; more += 1) void new Client(port, '127.0.9.9');
    await waitFor('six', () => seen.open === 6);
    await new Client(port, '127.0.9.9').answered(TOO_MANY);
    await new Client(port, '127.0.1.1').send(GET).answered('200 OK');
  });

  test('that stand still make room for others of the same address', async () => {
    const { cutOffs, seen, listen } = open({ maxConnectionsPerIp: 2, displaceAfterMs: 0 });
    const port = await listen();
    const slow = [new Client(port), new Client(port)];
    await waitFor('both', () => seen.open === 2);
    await new Client(port).send(GET).answered('200 OK');
    expect(cutOffs).toEqual(['displaced']);
    await slow[0]?.gone();
    expect(slow[0]?.text).toMatch(TOO_MANY);
  });

  test('that stand still make room when all are taken, those of a proxy do not', async () => {
    const { seen, listen } = open({
      ...{ maxConnections: 4, displaceAfterMs: 0 },
      trusted: createNetworks(['127.0.9.9']),
    });
    const port = await listen();
    const proxied = new Client(port, '127.0.9.9').send(post(10));
    await waitFor('the first', () => seen.open === 1);
    const crowd = ['127.0.1.1', '127.0.1.2', '127.0.1.3'].map((from) => new Client(port, from));
    await waitFor('all', () => seen.open === 4);
    await new Client(port, '127.0.2.1').send(GET).answered('200 OK');
    await waitFor('one less of the crowd', () =>
      crowd.some(({ text }) =>
        text.startsWith(
          'HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 10\r\n',
        ),
      ),
    );
    await proxied.send('0123456789').answered('200 OK');
  });

  test('are all gone when the listener stops, also those that hear last words', async () => {
    const { listener, seen, listen } = open({ maxConnectionsPerIp: 1 });
    const port = await listen();
    const held = new Client(port);
    await waitFor('it', () => seen.open === 1);
    const refused = new Client(port);
    await once(refused.socket, 'data');
    await listener.stop(0);
    await Promise.all([held.gone(), refused.gone()]);
  });
});
