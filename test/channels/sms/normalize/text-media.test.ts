import { beforeEach, describe, expect, it, test } from '@jest/globals';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { createDownloader } from '../../../../src/channels/sms/providers/media-download.ts';
import { twilioShopAccount } from '../../../../src/channels/sms/providers/twilio/account.ts';
import { FormFields, readIdentity } from '../../../../src/channels/sms/providers/twilio/form.ts';
import { readText, twilioTexts } from '../../../../src/channels/sms/providers/twilio/texts.ts';
import { readMedia } from '../../../../src/channels/sms/normalize/medium.ts';
import { SharedTime, TextMedia } from '../../../../src/channels/sms/normalize/text-media.ts';
import { AttachmentLate, AttachmentUnavailable } from '../../../../src/intake/normalizer.ts';
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
  mediaForm,
  mediaPath,
  mediaSid,
  messageSid,
  startTwilioStandIn,
  type TwilioStandIn,
} from '../../../support/twilio-stand-in.ts';
import { waitFor } from '../../../support/wait-for.ts';

const MINUTE = 60_000;
const MMS = messageSid(1, 'MM');
const pathOf = (n: number) => mediaPath(MMS, mediaSid(n));

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
  readonly overdueMs?: number;
  readonly media?: number;
}

/** The media of a text that was received at 0, in an attempt that begins now. */
function text({ baseUrl = twilio.baseUrl, media: count = 1, ...how }: Setting = {}) {
  const dir = tempDir();
  ends(() => dir.remove());
  const { tryTimeoutMs = 10_000, retries = 4, minTimeoutMs = 1, overdueMs = 15_000 } = how;
  const fields = new FormFields(inboundForm({ MessageSid: MMS, ...mediaForm(MMS, count) }));
  const account = twilioShopAccount({
    ...{ accountSid: ACCOUNT_SID, authTokens: [AUTH_TOKEN], apiBaseUrl: baseUrl },
  });
  const clock = () => now;
  const found = readMedia(
    { message: readText(readIdentity(fields), fields), provider: twilioTexts, account },
    {
      download: createDownloader({ maxBytes: 1e6, tryTimeoutMs, clock }),
      scratchDir: join(dir.path, 'scratch'),
      logger: silentLogger,
      metrics: createMetrics(),
    },
  );
  ends(() => found.dispose());
  const retry = { retries, minTimeoutMs };
  const media = new TextMedia(found.media, 0, { retry, overdueMs, clock });
  const open = (index = 0) => {
    const attachment = media.attachments[index];
    if (attachment === undefined) throw new Error('no such attachment');
    return attachment.open(new AbortController().signal);
  };
  const failure = (index = 0) => open(index).catch((error: unknown) => error);
  return { media, open, failure };
}

const countOf = (n: number) => twilio.requests.filter(({ path }) => path === pathOf(n)).length;

describe('404, 429, 5xx and network: again after 1, 3, 10, 30 s, then the text goes', () => {
  test('four more tries, each later than the last', async () => {
    const at: number[] = [];
    twilio.route(() => {
      at.push(performance.now());
      return { status: 404 };
    });
    // A hundredth of the real times; a slow machine only makes them longer.
    expect(await text({ minTimeoutMs: 10 }).failure()).toBeInstanceOf(AttachmentLate);
    expect(at).toHaveLength(5);
    const gaps = at.slice(1).map((time, index) => time - (at[index] ?? 0));
    for (const [index, leastMs] of [10, 30, 100, 300].entries()) {
      // A timer counts whole milliseconds.
      expect(gaps[index]).toBeGreaterThan(leastMs - 2);
    }
  });

  test('no try begins after the minute', async () => {
    now = MINUTE - 4000;
    // The next would be after 5 s.
    expect(await text({ minTimeoutMs: 5000 }).failure()).toBeInstanceOf(AttachmentLate);
    expect(countOf(1)).toBe(1);
  });

  test('a Retry-After past the minute sends the text at once, and is kept for the follow-up', async () => {
    twilio.script(pathOf(1), { status: 429, headers: { 'Retry-After': '120' } });
    const { media, failure } = text();
    expect(await failure()).toBeInstanceOf(AttachmentLate);
    expect(countOf(1)).toBe(1);
    expect(media.late([mediaSid(1)])).toEqual({
      parts: [mediaSid(1)],
      notBefore: 2 * MINUTE,
      until: 60 * MINUTE,
    });
  });

  test('a Retry-After that is a date counts', async () => {
    now = Date.UTC(2026, 4, 1);
    const date = 'Fri, 01 May 2026 00:30:00 GMT';
    twilio.script(pathOf(1), { status: 503, headers: { 'Retry-After': date } });
    const { media, failure } = text();
    await failure();
    expect(media.late([]).notBefore).toBe(now + 30 * MINUTE);
  });

  test('a text that comes to its turn after its minute tries each picture once', async () => {
    now = 5 * 60 * MINUTE;
    const { media, failure } = text({ media: 2 });
    expect(await failure(0)).toBeInstanceOf(AttachmentLate);
    expect(await failure(1)).toBeInstanceOf(AttachmentLate);
    expect([countOf(1), countOf(2)]).toEqual([1, 1]);
    // Its hour has only begun.
    expect(media.late([]).until).toBe(now + 59 * MINUTE);
  });

  test('all pictures together have what is left of the minute, and each has a share of it', async () => {
    now = MINUTE - 2000;
    for (const n of [1, 2, 3]) twilio.script(pathOf(n), 'stall');
    twilio.script(pathOf(4), { status: 200, body: 'a picture' });
    const { open, failure } = text({ media: 4, overdueMs: 0 });
    const startedAt = performance.now();
    for (const n of [0, 1, 2]) expect(await failure(n)).toBeInstanceOf(AttachmentLate);
    expect((await open(3)).size).toBe(9);
    // A try of its own has 10 s.
    expect(performance.now() - startedAt).toBeLessThan(8000);
  });

  test('a share is an equal part of what is left for those that are still to come', () => {
    now = 0;
    const time = new SharedTime(60_000, 3, () => now);
    expect(time.nextShareMs()).toBe(20_000);
    now = 2000;
    expect(time.nextShareMs()).toBe(29_000);
    now = 61_000;
    expect(time.nextShareMs()).toBe(0);
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
    const { failure } = text({ baseUrl, tryTimeoutMs: 300, retries: 0 });
    const outcome = await failure();
    expect(outcome instanceof AttachmentLate || outcome instanceof AttachmentUnavailable).toBe(
      true,
    );
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
