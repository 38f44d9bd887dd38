import { beforeEach, describe, expect, it, test } from '@jest/globals';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { FormFields } from '../../../../src/channels/sms/form.ts';
import { mediaOf } from '../../../../src/channels/sms/media/attachments.ts';
import { createDownloader } from '../../../../src/channels/sms/media/download.ts';
import { Patience } from '../../../../src/channels/sms/media/patience.ts';
import { readIdentity } from '../../../../src/channels/sms/message.ts';
import { AttachmentUnavailable, NotYet } from '../../../../src/intake/normalizer.ts';
import { silentLogger } from '../../../../src/observability/logger.ts';
import { createMetrics } from '../../../../src/observability/metrics.ts';
import { scene } from '../../../e2e/scene.ts';
import { ends } from '../../../support/ends.ts';
import { sendSms, sidOf } from '../../../support/sms-sender.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import {
  ACCOUNT_SID,
  AUTH_TOKEN,
  inboundForm,
  mediaPath,
  mediaSid,
  messageSid,
  startTwilioStandIn,
  type TwilioStandIn,
} from '../../../support/twilio-stand-in.ts';
import { waitFor } from '../../../support/wait-for.ts';

const MINUTE = 60_000;
const MMS = messageSid(1, 'MM');
const PATH = mediaPath(MMS, mediaSid(1));

let twilio: TwilioStandIn;
let now: number;

beforeEach(async () => {
  twilio = await startTwilioStandIn();
  ends(() => twilio.close());
  now = 0;
});

interface Setting {
  readonly baseUrl?: string;
  readonly tryTimeoutMs?: number;
  readonly retries?: number;
  readonly minTimeoutMs?: number;
}

/** The one medium of a message that was received at 0; each `open` is one attempt at the entry. */
function medium({ baseUrl = twilio.baseUrl, ...how }: Setting = {}) {
  const dir = tempDir();
  ends(() => dir.remove());
  const { tryTimeoutMs = 10_000, retries = 4, minTimeoutMs = 1 } = how;
  const fields = new FormFields(
    inboundForm({ MessageSid: MMS, NumMedia: '1', MediaUrl0: `https://api.twilio.com${PATH}` }),
  );
  const account = { accountSid: ACCOUNT_SID, authTokens: [AUTH_TOKEN], apiBaseUrl: baseUrl };
  const media = mediaOf(
    { identity: readIdentity(fields), receivedAt: 0, fields, account },
    {
      download: createDownloader({ maxBytes: 1e6, tryTimeoutMs, clock: () => now }),
      patience: new Patience(),
      scratchDir: join(dir.path, 'scratch'),
      retry: { retries, minTimeoutMs },
      clock: () => now,
      logger: silentLogger,
      metrics: createMetrics(),
    },
  );
  ends(() => media.dispose());
  const [attachment] = media.attachments;
  if (attachment === undefined) throw new Error('no attachment');
  const open = () => attachment.open(new AbortController().signal);
  return { open, failure: () => open().catch((error: unknown) => error) };
}

describe('404, 429, 5xx and network: again after 1, 3, 10, 30 s, then on the schedule', () => {
  test('four more tries in the first attempt, each later than the last', async () => {
    const at: number[] = [];
    twilio.route(() => {
      at.push(performance.now());
      return { status: 404 };
    });
    // A hundredth of the real times; a slow machine only makes them longer.
    expect(await medium({ minTimeoutMs: 10 }).failure()).toBeInstanceOf(NotYet);
    expect(at).toHaveLength(5);
    const gaps = at.slice(1).map((time, index) => time - (at[index] ?? 0));
    for (const [index, leastMs] of [10, 30, 100, 300].entries()) {
      // A timer counts whole milliseconds.
      expect(gaps[index]).toBeGreaterThan(leastMs - 2);
    }
  });

  test('on the schedule one try each, so that no other message waits for it', async () => {
    const { failure } = medium();
    twilio.script(PATH, { status: 503 });
    await failure();
    expect(twilio.requests).toHaveLength(5);
    now += 30_000;
    await failure();
    expect(twilio.requests).toHaveLength(6);
  });

  test('the schedule: 30 s, then 2 min, then 10 min, until the hour is over', () => {
    const patience = new Patience();
    const waits: (number | undefined)[] = [];
    let at = 0;
    for (;;) {
      const wait = patience.wait('ME1', 0, at, { retryAfterMs: undefined });
      waits.push(wait);
      if (wait === undefined) break;
      at += wait;
    }
    expect(at).toBe(60 * MINUTE);
    expect(waits.slice(0, 5)).toEqual([0.5, 0.5, 0.5, 0.5, 2].map((n) => n * MINUTE));
    expect(waits.at(-3)).toBe(10 * MINUTE);
    expect(waits.at(-1)).toBeUndefined();
  });

  test('what comes in time is taken', async () => {
    const { open, failure } = medium({ retries: 0 });
    twilio.script(PATH, { status: 404 }, { status: 200, body: 'late' });
    expect(await failure()).toMatchObject({ retryAfterMs: 30_000 });
    now += 30_000;
    expect((await open()).size).toBe(4);
  });
});

/** A server that never stops answering and never ends: one more piece every 10 ms. */
async function trickling(first: string, piece: string): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.write(first);
    const timer = setInterval(() => socket.write(piece), 10);
    socket.on('close', () => clearInterval(timer));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  });
  // A listening TCP server has an AddressInfo.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('an answer that trickles ends by the deadline', () => {
  it.each([
    ['in its headers', 'HTTP/1.1 200 OK\r\n', 'X: y\r\n'],
    ['in one header', 'HTTP/1.1 200 OK\r\nX: ', 'y'],
    ['in its body', 'HTTP/1.1 200 OK\r\nContent-Length: 900000\r\n\r\n', 'x'],
    ['in its chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', '1\r\nx\r\n'],
    [
      'in a redirect',
      'HTTP/1.1 302 Found\r\nLocation: /again\r\nContent-Length: 9999\r\n\r\n',
      'x',
    ],
  ])('%s', async (_label, first, piece) => {
    const baseUrl = await trickling(first, piece);
    const { failure } = medium({ baseUrl, tryTimeoutMs: 300, retries: 0 });
    const outcome = await failure();
    expect(outcome instanceof NotYet || outcome instanceof AttachmentUnavailable).toBe(true);
  });
});

test('at last the text goes without it, with a line in its place', async () => {
  const MessageSid = sidOf('gone', 'MM');
  const gone = mediaPath(MessageSid, mediaSid(1));
  const kept = mediaPath(MessageSid, mediaSid(2));
  twilio.script(gone, { status: 410 });
  twilio.script(kept, { status: 200, body: 'BEGIN:VCARD\r\nEND:VCARD\r\n' });
  const { platform, gateway } = await scene({ twilioUrl: twilio.baseUrl });
  await sendSms(gateway.httpUrl, {
    MessageSid,
    Body: 'Look',
    NumMedia: '2',
    MediaUrl0: `https://api.twilio.com${gone}`,
    MediaContentType0: 'image/jpeg',
    MediaUrl1: `https://api.twilio.com${kept}`,
    MediaContentType1: 'text/vcard',
  });
  await waitFor('the message', () => platform.messages.length === 1);
  const [payload] = platform.payloads;
  expect(payload?.message.content).toBe(
    `Look\n\n[attachment could not be retrieved: image/jpeg, ${mediaSid(1)}]`,
  );
  expect(payload?.message.attachments).toHaveLength(1);
});
