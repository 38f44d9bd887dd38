import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { getExpectedTwilioSignature } from 'twilio/lib/webhooks/webhooks.js';
import { PUBLIC_URL, SHOP } from '../support/shop.ts';
import { atRate } from '../support/at-rate.ts';
import { percentile } from '../support/statistics.ts';

const PATH = '/sms/twilio';
const SENDERS = 200;

export interface WebhookRun {
  readonly seconds: number;
  readonly p99Ms: number;
}

/** Sends signed webhooks over keep-alive connections, one in flight on each. */
export function start() {
  let requests: Buffer[] = [];
  return Promise.resolve({
    /** Prepares and signs the next load before the measurement. */
    prepare: (count: number): void => {
      requests = Array.from({ length: count }, (_, index) => signedRequest(index));
    },
    /** @throws when an answer is not 200 */
    run: async (port: number, connections: number): Promise<WebhookRun> => {
      const latencies: number[] = [];
      const next = (): Buffer | undefined => requests.pop();
      const sockets = await Promise.all(
        Array.from({ length: connections }, () => openSocket(port)),
      );
      const started = performance.now();
      await Promise.all(sockets.map((socket) => sendAll(socket, next, latencies)));
      const seconds = (performance.now() - started) / 1000;
      return { seconds, p99Ms: percentile(latencies, 0.99) };
    },
    /** The same at this rate a second, each on a connection of its own. */
    steadily: (port: number, perSecond: number): Promise<void> =>
      atRate(requests.splice(0), perSecond, async (request) => {
        const one = [request];
        await sendAll(await openSocket(port), () => one.pop(), []);
      }),
  });
}

/** A complete request with a customer's text message, as Twilio posts it. */
export function signedRequest(index: number): Buffer {
  const params = {
    MessageSid: `SM${randomBytes(16).toString('hex')}`,
    AccountSid: SHOP.accountSid,
    From: `+1303555${String(1000 + (index % SENDERS))}`,
    To: SHOP.number,
    Body: `Where is my order ${index}? It should have come on Monday.`,
    NumMedia: '0',
    NumSegments: '1',
    SmsStatus: 'received',
    FromCountry: 'US',
    FromState: 'CO',
    FromCity: 'DENVER',
    FromZip: '80201',
    ToCountry: 'US',
    ApiVersion: '2010-04-01',
  };
  const signature = getExpectedTwilioSignature(SHOP.authToken, PUBLIC_URL + PATH, params);
  const body = new URLSearchParams(params).toString();
  return Buffer.from(
    `POST ${PATH} HTTP/1.1\r\nHost: gateway.example\r\n` +
      `User-Agent: TwilioProxy/1.1\r\nX-Twilio-Signature: ${signature}\r\n` +
      'Content-Type: application/x-www-form-urlencoded\r\n' +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

function openSocket(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, noDelay: true });
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject);
      resolve(socket);
    });
  });
}

/** Parses as little of an answer as possible: the client shares the machine with the server. */
function sendAll(
  socket: Socket,
  next: () => Buffer | undefined,
  latencies: number[],
): Promise<void> {
  return new Promise((resolve, reject) => {
    let sentAt = 0;
    let received = '';
    const send = (): void => {
      const request = next();
      if (request === undefined) {
        socket.destroy();
        resolve();
        return;
      }
      sentAt = performance.now();
      socket.write(request);
    };
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString('latin1');
      if (!isWhole(received)) return;
      if (!received.startsWith('HTTP/1.1 200 ')) {
        socket.destroy();
        reject(new Error(`the webhook was answered ${received.slice(0, 60)}`));
        return;
      }
      latencies.push(performance.now() - sentAt);
      received = '';
      send();
    });
    socket.once('error', reject);
    socket.once('end', () => reject(new Error('the server closed a keep-alive connection')));
    send();
  });
}

function isWhole(answer: string): boolean {
  const head = answer.indexOf('\r\n\r\n');
  if (head === -1) return false;
  const length = /\r\ncontent-length: (\d+)/i.exec(answer.slice(0, head))?.[1];
  return length !== undefined && answer.length >= head + 4 + Number(length);
}
