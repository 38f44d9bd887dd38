import { beforeEach, describe, expect, it } from '@jest/globals';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { followUpContentOf } from '../../../../src/channels/sms/normalize/content.ts';
import { messageText } from '../../../../src/channels/sms/providers/twilio/content.ts';
import { FormFields } from '../../../../src/channels/sms/providers/twilio/form.ts';
import { nextTryMs } from '../../../../src/channels/sms/normalize/text-media.ts';
import { THEIR_NUMBER } from '../../../support/twilio-stand-in.ts';
import { type LateScene, lateScene, ME, MINUTE, placeholder } from './late-scene.ts';

const HOUR = 60 * MINUTE;
/** The start of a JPEG (ISO/IEC 10918-1, B.1.1.3). */
const picture = { status: 200, body: Buffer.from('ffd8ffe000104a4649460001', 'hex') };

describe('late pictures', () => {
  let scene: LateScene;

  beforeEach(async () => {
    scene = await lateScene();
  });

  it.each([401, 403])(
    'of which one answers %d hold no later text of that person',
    async (status) => {
      scene.answer(1, { status });
      const first = await scene.accept({ pictures: 1 });
      const second = await scene.accept({ Body: 'Hello?' });
      expect(await scene.attempt()).toMatchObject({
        outcome: 'delivered',
        remoteId: first,
        content: `Where is my order?\n${placeholder(1)}`,
        late: [ME(1)],
      });
      expect(await scene.attempt()).toMatchObject({ outcome: 'delivered', remoteId: second });
      expect(scene.asked(1)).toBe(1);
      expect(await scene.alarms()).toBe(1);
    },
  );

  it('come as one message, in the lane of their text, once all of them are there', async () => {
    scene.answer(1, picture);
    scene.answer(2, { status: 404 });
    scene.answer(3, { status: 404 });
    const sid = await scene.accept({ pictures: 3 });
    const text = await scene.attempt();
    expect(text).toMatchObject({ files: ['image-1.jpg'], late: [ME(2), ME(3)] });

    scene.answer(2, picture);
    expect(await scene.attempt()).toMatchObject({ outcome: 'queued', waitMs: 30_000 });
    expect(await readdir(join(scene.dir, 'scratch'))).toEqual([]);
    scene.answer(3, picture);
    const followUp = await scene.attempt();
    expect(followUp).toMatchObject({
      outcome: 'delivered',
      remoteId: `${sid}/media`,
      lane: text.lane,
      request: {
        contact: { phone: THEIR_NUMBER },
        conversation: text.request?.conversation,
        message: { remote_id: `${sid}/media`, format: 'TEXT' },
      },
      content: 'Picture for: \u201CWhere is my order?\u201D',
      files: ['image-2.jpg', 'image-3.jpg'],
      late: [],
    });
    expect(await scene.attempt()).toMatchObject({ outcome: 'nothing' });
  });

  it('make an arrival that holds its lane back in no case', async () => {
    scene.answer(1, { status: 404 });
    const sid = await scene.accept({ pictures: 1 });
    const { followUp, lane } = await scene.attempt();
    expect(followUp).toMatchObject({
      ...{ channel: 'sms', lane, detached: true },
      ...{ dedupKey: `${sid}/media`, remoteId: `${sid}/media` },
      meta: { messageSid: sid, late: { parts: [ME(1)], until: scene.receivedAt + HOUR } },
      raw: { kind: 'inline' },
    });
  });

  it('come after a restart too, by the hour that stands in their entry', async () => {
    scene.answer(1, { status: 404 });
    scene.answer(2, { status: 404 });
    await scene.accept({ pictures: 2 });
    await scene.attempt();
    expect(await scene.attempt()).toMatchObject({ outcome: 'queued' });
    await scene.restart();
    scene.now = scene.receivedAt + HOUR - 1;
    expect(await scene.attempt()).toMatchObject({ outcome: 'queued', waitMs: 1 });
    await scene.restart();
    scene.answer(2, picture);
    scene.now += 1;
    expect(await scene.attempt()).toMatchObject({
      outcome: 'delivered',
      content: `Picture for: \u201CWhere is my order?\u201D\n${placeholder(1)}`,
      files: ['image-2.jpg'],
    });
  });

  it('of which none came within the hour leave an agent without an empty message', async () => {
    scene.answer(1, { status: 404 });
    scene.answer(2, { status: 404 });
    await scene.accept({ pictures: 2 });
    await scene.attempt();
    scene.answer(1, { status: 410 });
    expect(await scene.attempt()).toMatchObject({ outcome: 'queued' });
    scene.now = scene.receivedAt + HOUR;
    expect(await scene.attempt()).toMatchObject({
      outcome: 'suppressed',
      reason: 'media_never_came',
    });
  });

  it('that can never be had are not waited for', async () => {
    scene.answer(1, { status: 404 });
    await scene.accept({ pictures: 1 });
    await scene.attempt();
    scene.answer(1, { status: 410 });
    expect(await scene.attempt()).toMatchObject({ outcome: 'suppressed' });
  });

  it('are tried once more when an operator releases them, and go without', async () => {
    scene.answer(1, { status: 404 });
    await scene.accept({ pictures: 1 });
    await scene.attempt();
    expect(await scene.attempt({ released: true })).toMatchObject({
      outcome: 'delivered',
      content: `Picture for: \u201CWhere is my order?\u201D\n${placeholder(1)}`,
    });
  });

  it('of a text that was held and released are not held again', async () => {
    scene.answer(1, { status: 404 });
    await scene.accept({ pictures: 1, From: '72345' });
    expect(await scene.attempt({ released: true })).toMatchObject({ late: [ME(1)] });
    scene.answer(1, picture);
    expect(await scene.attempt()).toMatchObject({ outcome: 'delivered', files: ['image-1.jpg'] });
  });

  it('follow once the credentials are mended; each refusal is an alarm', async () => {
    scene.answer(1, { status: 401 });
    await scene.accept({ pictures: 1 });
    await scene.attempt();
    expect(await scene.attempt()).toMatchObject({ outcome: 'queued', waitMs: 5 * MINUTE });
    expect(await scene.alarms()).toBe(2);
    scene.answer(1, picture);
    expect(await scene.attempt()).toMatchObject({ outcome: 'delivered' });
  });

  it('are not asked for before the time that Twilio named', async () => {
    scene.answer(1, { status: 429, headers: { 'Retry-After': '300' } });
    await scene.accept({ pictures: 1 });
    await scene.attempt();
    expect(scene.asked(1)).toBe(1);
    expect(await scene.attempt()).toMatchObject({ outcome: 'queued', waitMs: 300_000 });
    expect(scene.asked(1)).toBe(1);
    scene.now += 300_000;
    scene.answer(1, picture);
    expect(await scene.attempt()).toMatchObject({ outcome: 'delivered' });
  });

  it('that were uploaded already are not fetched again', async () => {
    scene.answer(1, { status: 404 });
    await scene.accept({ pictures: 1 });
    await scene.attempt();
    scene.answer(1, picture);
    // The platform took the picture and not the message.
    expect(await scene.attempt({ platform: 'down' })).toMatchObject({ outcome: 'queued' });
    const asked = scene.asked(1);
    scene.answer(1, { status: 410 });
    scene.now = scene.receivedAt + 2 * HOUR;
    expect(await scene.attempt()).toMatchObject({ outcome: 'delivered', files: ['saved'] });
    expect(scene.asked(1)).toBe(asked);
  });
});

describe('the schedule', () => {
  it('is 30 s, then 2 min, then 10 min, until the hour is over', () => {
    const waits: number[] = [];
    let at = 0;
    for (;;) {
      const wait = nextTryMs(HOUR, at, { kind: 'later', retryAfterMs: undefined });
      if (wait === undefined) break;
      waits.push(wait / MINUTE);
      at += wait;
    }
    expect(at).toBe(HOUR);
    expect(waits.slice(0, 5)).toEqual([0.5, 0.5, 0.5, 0.5, 2]);
    expect(waits.at(-2)).toBe(10);
  });

  it.each([
    ['a Retry-After is a lower bound', { kind: 'later', retryAfterMs: 4 * MINUTE }, 0, 4 * MINUTE],
    [
      'a Retry-After ends with the hour',
      { kind: 'later', retryAfterMs: HOUR },
      MINUTE,
      59 * MINUTE,
    ],
    ['credentials have time', { kind: 'credentials', retryAfterMs: undefined }, 0, 5 * MINUTE],
    ['what is refused for good', { kind: 'never', retryAfterMs: undefined }, 0, undefined],
    ['the hour is over', { kind: 'later', retryAfterMs: undefined }, HOUR, undefined],
  ] as const)('%s', (_label, failure, now, expected) => {
    expect(nextTryMs(HOUR, now, failure)).toBe(expected);
  });
});

describe('the first words of the text', () => {
  const words = 'Here is the lamp that arrived broken yesterday, as I told you on the phone';
  it.each([
    ['a short text', 'Look!', 'Look!'],
    ['no text', '', '(no text)'],
    ['lines', ' My\r\n lamp\t', 'My lamp'],
    ['exactly 60 characters', 'x'.repeat(60), 'x'.repeat(60)],
    ['a long text', words, 'Here is the lamp that arrived broken yesterday, as I told\u2026'],
    ['a word without an end', 'x'.repeat(61), `${'x'.repeat(60)}\u2026`],
    ['emoji', '\u{1F600}'.repeat(61), `${'\u{1F600}'.repeat(60)}\u2026`],
  ])('%s', (_label, Body, shown) => {
    const content = followUpContentOf({
      words: messageText(new FormFields([['Body', Body]])),
    });
    expect(content).toBe(`Picture for: \u201C${shown}\u201D`);
  });
});
