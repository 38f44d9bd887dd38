import { beforeEach, describe, expect, test } from '@jest/globals';
import { telnyxShopAccount } from '../../../../../src/channels/sms/providers/telnyx/account.ts';
import { telnyxLists } from '../../../../../src/channels/sms/providers/telnyx/lists.ts';
import type { SmsShop } from '../../../../../src/channels/sms/shop.ts';
import { serveTelnyx, type TelnyxApi, telnyxError } from '../../../../support/telnyx-api.ts';
import {
  ANOTHER_PUBLIC_KEY,
  API_KEY,
  inboundPayload,
  PUBLIC_KEY,
  TELNYX_NUMBER,
  telnyxEvent,
  telnyxId,
} from '../../../../support/telnyx-stand-in.ts';
import { waitFor } from '../../../../support/wait-for.ts';
import { readEvent, readMessage } from '../../../../../src/channels/sms/providers/telnyx/event.ts';
import { receivedText } from '../../../../../src/channels/sms/providers/telnyx/texts.ts';
import { arrivalOf } from '../../../../../src/channels/sms/receive.ts';
import { readStored } from '../../../../../src/channels/sms/stored.ts';
import { smsShop } from '../../running-door.ts';
import { bodyOf, reconciling, valueOf } from '../../reconciliation/running-reconciliation.ts';

const MINUTE = 60_000;
const MARK = `sms telnyx ${PUBLIC_KEY} reconciled until`;
const ago = (ms: number) => Date.now() - ms;

const shop = (changes: Partial<SmsShop> = {}, apiKey = API_KEY): SmsShop => ({
  ...smsShop({ numbers: [TELNYX_NUMBER] }),
  account: telnyxShopAccount({ apiKey, publicKey: PUBLIC_KEY }),
  ...changes,
});

let scene: Awaited<ReturnType<typeof reconciling>>;
let telnyx: TelnyxApi;

beforeEach(async () => {
  scene = await reconciling();
  telnyx = serveTelnyx(scene.twilio);
});

const keep = (n: number, text: string, at = ago(5 * MINUTE), to = TELNYX_NUMBER) =>
  telnyx.keep({ id: telnyxId(n), at, to, payload: { text } });
const run = () => scene.runOnce({ shops: [shop()] });

describe('texts that no webhook delivered', () => {
  test('are accepted in the order in which they were sent, with that time', async () => {
    const at = ago(5 * MINUTE);
    keep(2, 'second', at + 2000);
    keep(1, 'first', at);
    await run();
    const entries = await scene.entries();
    expect(entries.map(({ remoteId, receivedAt }) => [remoteId, receivedAt])).toEqual([
      [telnyxId(1), at],
      [telnyxId(2), at + 2000],
    ]);
    expect(await valueOf(scene.metrics, 'smsReconciled')).toBe(2);
  });

  test('are accepted once, by webhook or here', async () => {
    keep(1, 'by webhook');
    keep(2, 'not');
    const event = telnyxEvent(inboundPayload({ id: telnyxId(1), text: 'by webhook' }));
    const message = readMessage(readEvent(Buffer.from(event)).payload);
    await scene.newIntake().accept([arrivalOf(shop(), receivedText(message, Buffer.from(event)))]);
    await run();
    await run();
    expect((await scene.entries()).map(({ remoteId }) => remoteId)).toEqual([
      telnyxId(1),
      telnyxId(2),
    ]);
    // A message whose entry exists is not retrieved.
    const retrieved = telnyx.requests.filter(({ path }) => path.startsWith('/v2/messages/'));
    expect(retrieved.map(({ path }) => path)).toEqual([`/v2/messages/${telnyxId(2)}`]);
  });

  test('are found on later pages, and of each page only what is of the time', async () => {
    for (let n = 1; n <= 120; n += 1) keep(n, `text ${n}`, ago(n * 1000));
    for (let n = 200; n < 260; n += 1) keep(n, 'of long ago', ago(5 * 60 * MINUTE + n));
    await run();
    const ids = (await scene.entries()).map(({ remoteId }) => remoteId);
    expect(ids).toEqual(Array.from({ length: 120 }, (_, n) => telnyxId(120 - n)));
    const pages = telnyx.requests.map(({ query }) => query.get('page[number]')).filter(Boolean);
    // The fourth page would be of long ago.
    expect(pages).toEqual(['1', '2', '3']);
  });

  test('to numbers of nobody are left out, as is what was sent', async () => {
    keep(1, 'to another number', ago(5 * MINUTE), '+15550009999');
    keep(2, 'ours');
    await run();
    expect((await scene.claim(shop())).map(bodyOf)).toEqual(['ours']);
    expect(
      telnyx.requests.every(({ query }) => query.get('filter[direction]') !== 'outbound'),
    ).toBe(true);
  });

  test.each([
    ['second', { to: [{ phone_number: '+14155550111' }, { phone_number: TELNYX_NUMBER }] }],
    ['in cc', { to: [{ phone_number: '+14155550111' }], cc: [{ phone_number: TELNYX_NUMBER }] }],
  ])('are to our number, also in a group in which it is %s', async (_where, recipients) => {
    telnyx.keep({
      ...{ id: telnyxId(1), at: ago(5 * MINUTE), to: TELNYX_NUMBER },
      payload: { text: 'to all', ...recipients },
    });
    await run();
    const [claimed] = await scene.claim(shop());
    if (claimed === undefined) throw new Error('nothing was accepted');
    expect(claimed.entry.lane).toBe(`telnyx/sms/${TELNYX_NUMBER}/+14155552671`);
    expect(readStored(claimed).message).toMatchObject({
      to: TELNYX_NUMBER,
      context: ['[Sent to a group, also to +14155550111]'],
    });
  });

  test('are found after an outage with more than one list may have', async () => {
    const evening = Date.parse('2026-01-23T22:00:00Z');
    const clock = () => evening + 60 * MINUTE;
    await scene.store.spool.setMark(MARK, evening - 17 * 60 * MINUTE);
    keep(1000, 'of the morning', evening - 16 * 60 * MINUTE);
    // On the same day, so that each search for the morning begins with these.
    for (let n = 0; n < 160; n += 1) keep(n, `text ${n}`, evening + n * 15_000);
    await scene.runOnce({ shops: [shop()], clock, maxPages: 2 });
    const ids = (await scene.entries()).map(({ remoteId }) => remoteId);
    expect(ids).toEqual([telnyxId(1000), ...Array.from({ length: 160 }, (_, n) => telnyxId(n))]);
    expect(await scene.store.spool.mark(MARK)).toBe(clock());
  });

  test('hold up no other when they can no longer be retrieved', async () => {
    keep(1, 'gone');
    keep(2, 'there');
    telnyx.gone.add(telnyxId(1));
    await run();
    expect((await scene.claim(shop())).map(bodyOf)).toEqual(['there']);
    expect(await valueOf(scene.metrics, 'alarms', { alarm: 'sms_unreadable_message' })).toBe(1);
  });

  test('are looked for again after a failure', async () => {
    keep(1, 'late');
    telnyx.answerNext(telnyxError(500, '10007'), telnyxError(429, '10011'));
    await run();
    expect((await scene.claim(shop())).map(bodyOf)).toEqual(['late']);
    expect(await scene.store.spool.mark(MARK)).toBeGreaterThan(ago(MINUTE));
  });
});

test('a refused key is an alarm, and says nothing of the key', async () => {
  scene.start({ shops: [shop({}, 'KEY_of_nobody')], afterFailureMs: [60_000] });
  await waitFor('a failure', () =>
    scene.log.some(({ event }) => event === 'sms.reconciliation_failed'),
  );
  const failed = scene.log.find(({ event }) => event === 'sms.reconciliation_failed');
  expect(failed?.fields).toMatchObject({
    accountSid: `telnyx ${PUBLIC_KEY}`,
    kind: 'credentials',
    reason: 'http_401',
  });
  expect(JSON.stringify(scene.log)).not.toContain('KEY_of_nobody');
});

test('an account is listed once for all of its shops, whatever their numbers and API keys', () => {
  const of = (apiKey: string, publicKey: string, ...numbers: readonly string[]) => ({
    numbers,
    account: telnyxShopAccount({ apiKey, publicKey }),
  });
  const accounts = telnyxLists.accountsOf([
    of('one', PUBLIC_KEY, '+15550002223', '54321'),
    of('other', ANOTHER_PUBLIC_KEY, '+15550002224'),
    of('replaced', PUBLIC_KEY, '+15550002222'),
  ]);
  expect(accounts.map(({ id, name, addresses }) => [id, name, addresses])).toEqual([
    ['telnyx', `telnyx ${PUBLIC_KEY}`, undefined],
    ['telnyx', `telnyx ${ANOTHER_PUBLIC_KEY}`, undefined],
  ]);
});
