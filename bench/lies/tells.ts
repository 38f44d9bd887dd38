import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import type { PlatformAnswer } from '../../test/simulation/platform-answers.ts';
import {
  answered,
  type OwnAnswer,
  type Received,
} from '../../test/support/platform-model-server.ts';

/** Answers one request of a kind; `nth` counts them from 0. `platform` lets the platform act, and returns its answer. */
export type Tell = (
  received: Received,
  platform: () => PlatformAnswer,
  nth: number,
) => PlatformAnswer | OwnAnswer;

type Body = Readonly<Record<string, unknown>>;
type Headers = Readonly<Record<string, string>>;

const JSON_TYPE = { 'content-type': 'application/json' };
/** Fast enough to keep a connection busy, and slow enough for the machine. */
const TRICKLE_MS = 50;

/** Says this instead of the platform, which does not hear of the request. */
export const says =
  (status: number, body: unknown = '', headers: Headers = {}): Tell =>
  () => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const answer = answered(status, text);
    // All answers of `answered` are of this kind.
    return answer.kind === 'answer'
      ? { ...answer, headers: { ...answer.headers, ...headers } }
      : answer;
  };

/** The platform acts, and its answer is replaced by a lie. */
export const after =
  (tell: Tell): Tell =>
  (received, platform, nth) => {
    const answer = platform();
    return tell(received, () => answer, nth);
  };

/** The platform's answer with other members in its JSON. */
export const changed =
  (change: (body: Body, nth: number) => unknown, status?: number): Tell =>
  (_received, platform, nth) => {
    const answer = platform();
    if (answer.kind !== 'answer') return answer;
    // The model answers a request that it accepts with an object.
    const body = JSON.stringify(change(JSON.parse(answer.body) as Body, nth));
    return { ...answer, body, status: status ?? answer.status };
  };

/** The answers one after the other. */
export const inTurn =
  (...tells: readonly Tell[]): Tell =>
  (received, platform, nth) =>
    (tells[nth % tells.length] ?? says(500))(received, platform, nth);

/** What the platform answers, in bytes that `write` chooses. */
export const written =
  (write: (response: ServerResponse, body: string) => void): Tell =>
  (_received, platform) => {
    const answer = platform();
    const body = answer.kind === 'answer' ? answer.body : '';
    return { kind: 'own', write: (response) => write(response, body) };
  };

/** Bytes of no HTTP server; the platform does not hear of the request. */
export const bytes =
  (text: string | (() => string), end = true): Tell =>
  () => ({
    kind: 'own',
    write: ({ socket }) => {
      socket?.write(typeof text === 'string' ? text : text());
      if (end) socket?.end();
    },
  });

export const reset: Tell = () => ({ kind: 'reset', afterMs: 0 });
export const silence: Tell = () => ({ kind: 'silence' });

/** Repeats a piece until the other side has had enough. */
function endlessly(response: ServerResponse, piece: () => void): void {
  const timer = setInterval(piece, TRICKLE_MS);
  response.once('close', () => clearInterval(timer));
}

/** One byte after the other. */
export const trickle: Tell = () => ({
  kind: 'own',
  write: (response) => {
    response.writeHead(200, JSON_TYPE);
    endlessly(response, () => response.write(' '));
  },
});

/** As much as the connection takes. */
export const flood: Tell = () => ({
  kind: 'own',
  write: (response) => {
    response.writeHead(200, JSON_TYPE);
    const source = new Readable({ read: () => void source.push(Buffer.alloc(65_536, '[')) });
    response.once('close', () => source.destroy());
    source.pipe(response);
  },
});

/** Only informational answers (RFC 9110 §15.2), of which none is the last. */
export const informs =
  (head: string): Tell =>
  () => ({
    kind: 'own',
    write: (response) => endlessly(response, () => response.socket?.write(`${head}\r\n\r\n`)),
  });

/** A header that never ends. */
export const endlessHeader: Tell = () => ({
  kind: 'own',
  write: (response) => {
    response.socket?.write('HTTP/1.1 200 OK\r\n');
    endlessly(response, () => response.socket?.write(`x-more: ${'a'.repeat(100)}\r\n`));
  },
});

const BOMB = gzipSync(Buffer.alloc(256 * 1024 * 1024, ' '), { level: 9 });
/** 256 MiB of spaces in 250 KB. */
export const bomb: Tell = () => ({
  kind: 'own',
  write: (response) => {
    response.writeHead(200, { ...JSON_TYPE, 'content-encoding': 'gzip' });
    response.end(BOMB);
  },
});

const head = (status: string, body: string, ...lines: readonly string[]) =>
  [`HTTP/1.1 ${status}`, 'content-type: application/json', ...lines, '', body].join('\r\n');

/** The platform's own answer, in a form that only some clients read. */
export const asHttp10 = written(({ socket }, body) => {
  socket?.end(`HTTP/1.0 201 Created\r\ncontent-type: application/json\r\n\r\n${body}`);
});
export const tooShort = written(({ socket }, body) => {
  socket?.end(head('201 Created', body, `content-length: ${body.length + 100}`));
});
export const tooLong = written(({ socket }, body) => {
  socket?.end(head('201 Created', body, 'content-length: 20'));
});
export const twoAtOnce = written(({ socket }, body) => {
  const one = head('201 Created', body, `content-length: ${Buffer.byteLength(body)}`);
  socket?.write(one + one);
});
export const brokenChunks = written(({ socket }, body) => {
  socket?.end(head('201 Created', `zz\r\n${body}\r\n0\r\n\r\n`, 'transfer-encoding: chunked'));
});
export const megabyteHeader = written(({ socket }, body) => {
  const length = `content-length: ${Buffer.byteLength(body)}`;
  socket?.end(head('201 Created', body, length, `x-large: ${'a'.repeat(1_000_000)}`));
});
export const padded = (size: number): Tell =>
  written((response, body) => {
    response.writeHead(201, JSON_TYPE).end(body + ' '.repeat(size));
  });
export const withByteOrderMark = written((response, body) => {
  response.writeHead(201, JSON_TYPE).end(`\uFEFF${body}`);
});

/** Keeps each connection alive, and resets it when it is used again. */
export function resetsAtReuse(): Tell {
  const used = new WeakSet<object>();
  return (_received, platform) => ({
    kind: 'own',
    write: (response) => {
      const { socket } = response;
      if (socket === null || used.has(socket)) {
        socket?.resetAndDestroy();
        return;
      }
      used.add(socket);
      const answer = platform();
      const body = answer.kind === 'answer' ? answer.body : '';
      response.writeHead(answer.kind === 'answer' ? answer.status : 500, JSON_TYPE).end(body);
    },
  });
}

/** A message of a stranger, as the platform shows messages. */
export const strangers = (change: Body = {}): Body => ({
  ...{ id: randomUUID(), conversation_id: randomUUID(), ticket_id: randomUUID() },
  ...{ contact_id: randomUUID(), content: 'What a stranger wrote', role: 'contact' },
  ...{ remote_id: `of-a-stranger-${randomUUID()}`, updated_at: new Date().toISOString() },
  ...change,
});

/** A page of a list, and where its next one is. */
export const page = (
  results: readonly unknown[],
  cursor?: string,
  host = 'http://127.0.0.1',
): Body => ({
  results,
  next: cursor === undefined ? null : `${host}/v2026-04/messages/?cursor=${cursor}`,
  previous: null,
});
