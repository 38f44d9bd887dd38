import { sentence } from '../../../src/domain/reasons.ts';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { optOutsOf } from '../../../src/channels/sms/person.ts';
import type { Entry } from '../../../src/spool/entry.ts';
import {
  inboundForm,
  mediaPath,
  mediaSid,
  messageSid,
  type WebhookAnswer,
} from '../../support/twilio-stand-in.ts';
import { waitFor } from '../../support/wait-for.ts';
import { type InboundScene, startInboundScene } from './inbound-scene.ts';

const LONG = 'Your parcel is on its way to you.';
const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');

let scene: InboundScene;
let sids = 0;
let people = 0;

beforeAll(async () => {
  scene = await startInboundScene();
});
afterAll(() => scene.close());

const newPerson = (): string => `+1415555${String(3000 + (people += 1))}`;

interface Text {
  readonly From: string;
  readonly Body: string;
  readonly MessageSid?: string;
  readonly [name: string]: string | undefined;
}

function send({ MessageSid = messageSid((sids += 1)), ...text }: Text): Promise<WebhookAnswer> {
  return scene.webhook.send(inboundForm({ MessageSid, ...text }));
}

/** Sends them ten at a time, as ten webhooks at once. */
async function sendAll(texts: readonly Text[]): Promise<void> {
  for (let at = 0; at < texts.length; at += 10) {
    const answers = await Promise.all(texts.slice(at, at + 10).map(send));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  }
}

async function settledOf(person: string, count: number): Promise<readonly Entry[]> {
  scene.wake();
  return waitFor(
    'all attempts',
    async () => {
      const { spool } = scene.webhook.store;
      // The whole list is long: it is read once nothing is on its way.
      const onTheirWay = await spool.list({ states: ['queued', 'delivering'], limit: 1 });
      if (onTheirWay.length > 0) return false;
      const all = await spool.list({ limit: 5000 });
      const theirs = all.filter(({ meta }) => meta['from'] === person);
      const isDone = theirs.every(({ state }) => state === 'delivered' || state === 'held');
      return isDone && theirs.length === count && theirs;
    },
    20,
  );
}

const inState = (entries: readonly Entry[], state: Entry['state']) =>
  entries.filter((entry) => entry.state === state);

describe('a flood of one number', () => {
  test('300 equal texts: four pass, the others are held and counted as such', async () => {
    const From = newPerson();
    await sendAll(Array.from({ length: 300 }, () => ({ From, Body: LONG })));
    const entries = await settledOf(From, 300);
    expect(inState(entries, 'delivered')).toHaveLength(4);
    const reasons = new Map<string, number>();
    for (const { reason } of inState(entries, 'held')) {
      const words = reason === undefined ? '' : sentence(reason);
      reasons.set(words, (reasons.get(words) ?? 0) + 1);
    }
    expect(Object.fromEntries(reasons)).toEqual({
      'over the limit for one sender: loop.sameBodyPerHour': 296,
    });
    const counts = await scene.webhook.store.spool.counts();
    expect(counts).toContainEqual(expect.objectContaining({ channel: 'sms', state: 'held' }));
  });

  test('300 texts that differ: 30 pass in ten minutes', async () => {
    const From = newPerson();
    await sendAll(Array.from({ length: 300 }, (_, n) => ({ From, Body: `${LONG} Number ${n}` })));
    const entries = await settledOf(From, 300);
    expect(inState(entries, 'delivered')).toHaveLength(30);
    expect(
      new Set(inState(entries, 'held').map(({ reason }) => reason && sentence(reason))),
    ).toEqual(new Set(['over the limit for one sender: loop.per10min']));
  });

  test('is nobody else’s: another number writes the same text meanwhile', async () => {
    const [From, other] = [newPerson(), newPerson()];
    await sendAll(Array.from({ length: 10 }, () => ({ From, Body: LONG })));
    await sendAll([{ From: other, Body: LONG }]);
    expect(inState(await settledOf(other, 1), 'delivered')).toHaveLength(1);
  });

  test('is one flood under both forms of a Brazilian number', async () => {
    const forms = ['+551187654321', '+5511987654321'];
    await sendAll(forms.flatMap((From) => [1, 2, 3].map(() => ({ From, Body: LONG }))));
    const entries = await Promise.all(forms.map((form) => settledOf(form, 3)));
    expect(inState(entries.flat(), 'delivered')).toHaveLength(4);
  });
});

test('one webhook five times at once counts once', async () => {
  const From = newPerson();
  const again = { From, Body: LONG, MessageSid: messageSid((sids += 1)) };
  await sendAll([again, again, again, again, again]);
  await sendAll([1, 2, 3].map(() => ({ From, Body: LONG })));
  expect(inState(await settledOf(From, 4), 'delivered')).toHaveLength(4);
  await sendAll([{ From, Body: LONG }]);
  const held = inState(await settledOf(From, 5), 'held');
  expect(held).toMatchObject([
    { reason: { code: 'rate_limit', params: { limit: 'sameBodyPerHour' } } },
  ]);
});

test('a robot that answers each of our answers stops at 30 texts', async () => {
  const From = newPerson();
  // Its twin behind the platform answers whatever is delivered, and nothing else.
  for (let n = 1; n <= 31; n += 1) {
    await sendAll([{ From, Body: `I am out of the office until Monday (${n}).` }]);
    const [latest] = await settledOf(From, n);
    expect({ n, state: latest?.state }).toEqual({ n, state: n <= 30 ? 'delivered' : 'held' });
  }
});

describe('a person', () => {
  test('may say Yes five times and more', async () => {
    const From = newPerson();
    await sendAll(Array.from({ length: 8 }, () => ({ From, Body: 'Yes' })));
    expect(inState(await settledOf(From, 8), 'delivered')).toHaveLength(8);
  });

  test('may send five pictures under one caption', async () => {
    const From = newPerson();
    const texts = Array.from({ length: 6 }, () => {
      const [MessageSid, medium] = [messageSid((sids += 1), 'MM'), mediaSid(900 + sids)];
      const path = mediaPath(MessageSid, medium);
      scene.twilio.script(path, { status: 200, body: PNG });
      const MediaUrl0 = `https://api.twilio.com${path}`;
      const fields = { NumMedia: '1', MediaContentType0: 'image/png', MediaUrl0 };
      return { From, Body: LONG, MessageSid, ...fields };
    });
    await sendAll(texts);
    expect(inState(await settledOf(From, 6), 'delivered')).toHaveLength(6);
  });

  test('who has flooded can still opt out', async () => {
    const From = newPerson();
    await sendAll(Array.from({ length: 6 }, () => ({ From, Body: LONG })));
    const [flooded] = await settledOf(From, 6);
    await sendAll([{ From, Body: 'STOP' }]);
    scene.wake();
    const { shopId, lane = '' } = flooded ?? {};
    if (shopId === undefined) throw new Error('there is no entry');
    const { optOuts } = scene.webhook.store;
    await waitFor('the opt-out', () => optOutsOf(optOuts, undefined).isOptedOut(shopId, lane), 5);
  });
});
