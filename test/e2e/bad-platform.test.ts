import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { expect, test } from '@jest/globals';
import type { Gate, PlatformFront } from '../support/platform-front.ts';
import { sidOf } from '../support/sms-sender.ts';
import { waitFor } from '../support/wait-for.ts';
import { sharedGateway } from './shared-gateway.ts';

const PAGE = '<!doctype html><title>Back soon</title><h1>Maintenance</h1>';

/** Each answers 2xx, or nothing, and has not handled the request. */
const misbehaviours = {
  page: (response) => html(response, 200),
  page_502: (response) => html(response, 502),
  nothing: () => undefined,
  trickle: (response) => void trickle(response),
  half,
  flood,
} satisfies Record<string, (response: ServerResponse) => unknown>;
type Misbehaviour = keyof typeof misbehaviours;

/** A shop for each, and others that are given more time. */
const misbehaving = sharedGateway(
  { page: {}, page_502: {}, nothing: {}, trickle: {}, half: {}, flood: {} },
  () => ({ requestTimeout: '1s' }),
);
const scene = sharedGateway({ slow: {}, uploads: {} });

/** Does so to the first two requests. */
function firstAttempt(misbehave: (response: ServerResponse) => unknown): Gate {
  let left = 2;
  return (call, response) => {
    if (call !== 'POST /messages/' || left === 0) return undefined;
    left -= 1;
    misbehave(response);
    return Promise.resolve('taken');
  };
}

test.concurrent.each<[string, Misbehaviour]>([
  ['a maintenance page', 'page'],
  ['a maintenance page that is 502', 'page_502'],
  ['nothing at all', 'nothing'],
  ['an answer that trickles without an end', 'trickle'],
  ['half an answer', 'half'],
  ['an answer of many megabytes', 'flood'],
])(
  'a platform that answers with %s costs no message, and none twice',
  async (_what, misbehaviour) => {
    const { platform, sms } = misbehaving(misbehaviour);
    platform.gate = firstAttempt(misbehaviours[misbehaviour]);
    const [first, second] = [sidOf('first'), sidOf('second')];
    const started = performance.now();
    for (const MessageSid of [first, second]) {
      const { status } = await sms({ MessageSid, Body: MessageSid });
      expect(status).toBe(200);
    }
    // What the platform does is nothing to the sender, whom Twilio gives 15 s.
    expect(performance.now() - started).toBeLessThan(10_000);
    await delivered(platform, 2);
    expect(platform.messages.map(({ remote_id }) => remote_id)).toEqual([first, second]);
    expect(platform.payloads.map(({ message }) => message.remote_id)).toEqual([
      ...[first, first, first],
      second,
    ]);
  },
);

test('a platform that answers slowly holds up its own lane and no other', async () => {
  const { platform, sms, chat } = scene('slow');
  const slow = sidOf('slow');
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  platform.gate = (call) => {
    const isSlow =
      call === 'POST /messages/' && platform.payloads.at(-1)?.message.remote_id === slow;
    return isSlow ? released.then(() => 'pass') : undefined;
  };
  await sms({ MessageSid: slow, Body: 'slow' });
  await waitFor('the slow one to be on its way', () => platform.payloads.length === 1);
  await sms({ MessageSid: sidOf('behind'), Body: 'behind it' });
  const other = { From: '+14155550177', MessageSid: sidOf('other'), Body: 'another lane' };
  await sms(other);
  const visitor = await chat();
  await visitor.send('another channel');
  await delivered(platform, 2);
  expect(platform.messages.map(({ content }) => content).toSorted()).toEqual([
    'another channel',
    'another lane',
  ]);
  release();
  await delivered(platform, 4);
  expect(platform.messages.slice(2).map(({ content }) => content)).toEqual(['slow', 'behind it']);
});

test('an upload that the platform answers with a page is made again, and only once more', async () => {
  const { platform, chat } = scene('uploads');
  let pages = 2;
  platform.gate = (call, response) => {
    if (call !== 'POST /media/' || pages === 0) return undefined;
    pages -= 1;
    html(response, 200);
    return Promise.resolve('taken');
  };
  const visitor = await chat();
  const answer = await visitor.upload({
    name: 'a.txt',
    bytes: Buffer.from('the words'),
    type: 'text/plain',
  });
  // The upload's answer, as chat.md has it.
  const { id } = (await answer.json()) as { id: string };
  await visitor.send('see', { uploads: [id] });
  await delivered(platform, 1);
  expect(platform.posts).toEqual([
    ...Array.from({ length: 3 }, () => 'POST /media/'),
    'POST /messages/',
  ]);
  expect(platform.inspect.attachments(platform.messages[0]?.id ?? '')).toHaveLength(1);
});

function delivered(platform: PlatformFront, count: number): Promise<unknown> {
  // Where nobody else's message goes through, a shop is probed every 5 to 25 s.
  return waitFor(`${count} messages`, () => platform.messages.length === count);
}

function html(response: ServerResponse, status: number): void {
  response.writeHead(status, { 'content-type': 'text/html' }).end(PAGE);
}

/** A byte now and then: a timeout between two bytes would never fire. */
async function trickle(response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'content-type': 'application/json' });
  const timer = setInterval(() => response.write(' '), 50);
  await once(response, 'close');
  clearInterval(timer);
}

function half(response: ServerResponse): void {
  response.writeHead(201, { 'content-type': 'application/json', 'content-length': '500' });
  response.write('{"id":"');
  setImmediate(() => response.destroy());
}

function flood(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(`{"id":"${'x'.repeat(5_000_000)}"}`);
}
