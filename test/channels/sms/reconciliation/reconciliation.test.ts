import { describe, expect, test } from '@jest/globals';
import { createSmsNormalizer } from '../../../../src/channels/sms/normalize.ts';
import { FormFields, readIdentity } from '../../../../src/channels/sms/providers/twilio/form.ts';
import { readStored } from '../../../../src/channels/sms/stored.ts';
import { silentLogger } from '../../../../src/observability/logger.ts';
import { createMetrics } from '../../../../src/observability/metrics.ts';
import { sharedLeases } from '../../../support/leases.ts';
import { tooManyRequests } from '../../../support/twilio-messages.ts';
import {
  ACCOUNT_SID,
  AUTH_TOKEN,
  inboundForm,
  mediaPath,
  mediaSid,
  messageSid,
  OUR_NUMBER,
  THEIR_NUMBER,
} from '../../../support/twilio-stand-in.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { asShopId } from '../../../../src/domain/ids.ts';
import { smsShop, toArrival, TWILIO } from '../running-door.ts';
import { bodyOf, MARK, reconciling, valueOf } from './running-reconciliation.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const ago = (ms: number): number => Math.floor((Date.now() - ms) / 1000) * 1000;
const WHATSAPP = { from: `whatsapp:${THEIR_NUMBER}`, to: `whatsapp:${OUR_NUMBER}` };
const SERVICE = `MG${'5e'.repeat(16)}`;

test('of two gateways with one store, one asks Twilio; when it stops, the other one may', async () => {
  const { messages, start, runsIn } = await reconciling();
  const leasesOf = sharedLeases();
  const leases = leasesOf();
  const first = start({ leases });
  await waitFor('the run of the first', () => runsIn() === 1);
  const asked = messages.requests.length;
  const other = leasesOf();
  const second = start({ leases: other });
  await second.stop();
  expect(messages.requests).toHaveLength(asked);
  await first.stop();
  start({ leases: other });
  await waitFor('the run of the other', () => runsIn() === 2);
});

describe('what was missing', () => {
  test('is accepted in the order of DateSent, with DateSent as its time', async () => {
    const { messages, runOnce, entries, metrics } = await reconciling();
    const times = [30, 10, 20].map((minutes) => ago(minutes * MINUTE));
    for (const [n, sentAt] of times.entries()) messages.keep({ sid: messageSid(n), sentAt });
    await runOnce();
    expect((await entries()).map(({ remoteId, receivedAt }) => ({ remoteId, receivedAt }))).toEqual(
      [0, 2, 1].map((n) => ({ remoteId: messageSid(n), receivedAt: times[n] })),
    );
    expect(await valueOf(metrics, 'smsReconciled', { shop: 'acme' })).toBe(3);
  });

  test('is in this order over SMS and WhatsApp, which are listed apart', async () => {
    const { messages, runOnce, entries } = await reconciling();
    messages.keep({ sid: messageSid(1), sentAt: ago(10 * MINUTE) });
    messages.keep({ sid: messageSid(2), sentAt: ago(20 * MINUTE), ...WHATSAPP });
    await runOnce();
    expect((await entries()).map(({ remoteId }) => remoteId)).toEqual(
      [2, 1].map((n) => messageSid(n)),
    );
  });

  test('keeps the order of texts of one second, over all pages', async () => {
    const { messages, runOnce, entries } = await reconciling({ maxPageSize: 7 });
    const sentAt = ago(5 * MINUTE);
    const sids = Array.from({ length: 50 }, (_, n) => messageSid((n * 37) % 101));
    for (const sid of sids) messages.keep({ sid, sentAt });
    await runOnce();
    expect((await entries()).map(({ remoteId }) => remoteId)).toEqual(sids);
    expect(messages.requests.filter(({ query }) => query.get('To') === OUR_NUMBER)).toHaveLength(8);
  });

  test('becomes what the webhook would have made of it, media too', async () => {
    const { messages, runOnce, claim, newIntake, store } = await reconciling();
    const sid = messageSid(1, 'MM');
    const sentAt = ago(3 * MINUTE);
    const media = [1, 2].map((n) => ({ sid: mediaSid(n), contentType: 'image/png' }));
    messages.keep({ sid, sentAt, body: 'See these', media, ...WHATSAPP });
    await runOnce();
    // The same text once more, as the webhook brings it, to another shop.
    const pairs = inboundForm({
      ...{ MessageSid: sid, Body: 'See these', NumMedia: '2' },
      ...{ From: WHATSAPP.from, To: WHATSAPP.to },
      ...Object.fromEntries(
        media.flatMap(({ sid: medium, contentType }, n) => [
          [`MediaContentType${n}`, contentType],
          [`MediaUrl${n}`, `https://api.twilio.com${mediaPath(sid, medium)}`],
        ]),
      ),
    });
    const other = smsShop({ shopId: asShopId('22222222-2222-4222-8222-222222222222') });
    const identity = readIdentity(new FormFields(pairs));
    await newIntake().accept([toArrival(other, identity, pairs, sentAt)]);

    const normalize = createSmsNormalizer(
      { shops: [smsShop(), other], scratchDir: 'unused' },
      {
        optOuts: store.optOuts,
        personOf: (lane) => store.spool.personOf(lane),
        countMessage: () => Promise.resolve(undefined),
        ...{ clock: Date.now, logger: silentLogger, metrics: createMetrics() },
      },
    );
    const results = [];
    for (const claimed of [...(await claim()), ...(await claim(other))]) {
      const { request, verdict, attachments, findings } = await normalize(
        claimed,
        new AbortController().signal,
      );
      const parts = attachments.map(({ part, placeholder }) => ({ part, placeholder }));
      results.push({ request, verdict, parts, findings, lane: claimed.entry.lane });
    }
    expect(results).toHaveLength(2);
    expect(results[0]).toEqual(results[1]);
    expect(results[0]?.parts.map(({ part }) => part)).toEqual([mediaSid(1), mediaSid(2)]);
  });

  test('is found on WhatsApp, on RCS and by its messaging service, and nothing else is', async () => {
    const { messages, runOnce, claim } = await reconciling();
    const keep = (n: number, body: string, more: object) =>
      messages.keep({ sid: messageSid(n), sentAt: ago(n * MINUTE), body, ...more });
    keep(9, 'plain', {});
    keep(8, 'whatsapp', WHATSAPP);
    keep(7, 'rcs', { from: `rcs:${THEIR_NUMBER}`, to: `rcs:${OUR_NUMBER}` });
    keep(6, 'ours', { direction: 'outbound-api', from: OUR_NUMBER, to: THEIR_NUMBER });
    keep(5, 'not whole', { status: 'receiving' });
    keep(4, 'of the service', { to: 'rcs:acme_agent', messagingServiceSid: SERVICE });
    keep(3, 'to another number', { to: '+15550009999' });
    await runOnce();
    expect((await claim()).map(bodyOf).toSorted()).toEqual(['plain', 'rcs', 'whatsapp']);
    // With the service configured the whole account is listed, and the rest is known.
    await runOnce({ shops: [smsShop({ messagingServiceSids: [SERVICE] })] });
    expect((await claim()).map(bodyOf)).toEqual(['of the service']);
    expect(messages.requests.at(-1)?.query.has('To')).toBe(false);
  });

  test('is for the shop that has the number, on an account that two shops share', async () => {
    const { messages, runOnce, claim } = await reconciling();
    const other = smsShop({
      name: 'other',
      shopId: asShopId('22222222-2222-4222-8222-222222222222'),
      numbers: ['+15550002222'],
    });
    messages.keep({ sid: messageSid(1), sentAt: ago(MINUTE), body: 'one' });
    messages.keep({ sid: messageSid(2), sentAt: ago(MINUTE), body: 'two', to: '+15550002222' });
    await runOnce({ shops: [smsShop(), other] });
    expect((await claim()).map(bodyOf)).toEqual(['one']);
    expect((await claim(other)).map(bodyOf)).toEqual(['two']);
  });
});

describe('what is known', () => {
  test('is not accepted again, nor are its media asked for', async () => {
    const { messages, runOnce, entries, metrics } = await reconciling();
    const media = [{ sid: mediaSid(1), contentType: 'image/png' }];
    messages.keep({ sid: messageSid(1, 'MM'), sentAt: ago(MINUTE), media });
    await runOnce();
    await runOnce();
    expect(await entries()).toHaveLength(1);
    expect(await valueOf(metrics, 'smsReconciled')).toBe(1);
    expect(messages.requests.filter(({ path }) => path.endsWith('/Media.json'))).toHaveLength(1);
  });

  test('is a duplicate when its webhook comes between the look-up and the accept', async () => {
    const { messages, runOnce, entries, metrics, newIntake } = await reconciling();
    messages.keep({ sid: messageSid(1), sentAt: ago(MINUTE) });
    const pairs = inboundForm({ MessageSid: messageSid(1) });
    const webhook = toArrival(smsShop(), readIdentity(new FormFields(pairs)), pairs);
    const intake = newIntake();
    await runOnce({
      intake: {
        accept: async (arrivals) => {
          await intake.accept([webhook]);
          return intake.accept(arrivals);
        },
      },
    });
    expect(await entries()).toHaveLength(1);
    expect(await valueOf(metrics, 'smsReconciled')).toBe(0);
  });

  test('a text that may be on its way to the webhook is left to it, until it is late', async () => {
    const { messages, start, runsIn, entries } = await reconciling();
    let ahead = 0;
    const clock = () => Date.now() + ahead;
    start({ clock, everyMs: 1 });
    await waitFor('the first run', () => runsIn() >= 1);
    messages.keep({ sid: messageSid(1), sentAt: Date.now() + 2000 });
    await waitFor('two more runs', () => runsIn() >= 3);
    expect(await entries()).toHaveLength(0);
    ahead = MINUTE;
    await waitFor('the text', async () => (await entries()).length === 1);
  });
});

describe('how far it looks back', () => {
  test('an hour at first: the past of a number is not answered again', async () => {
    const { messages, runOnce, claim } = await reconciling();
    messages.keep({ sid: messageSid(1), sentAt: ago(HOUR + MINUTE), body: 'past' });
    messages.keep({ sid: messageSid(2), sentAt: ago(HOUR - MINUTE), body: 'just before' });
    await runOnce();
    expect((await claim()).map(bodyOf)).toEqual(['just before']);
  });

  test('also when Twilio filters by day', async () => {
    const { messages, runOnce, claim } = await reconciling({ filtersByDay: true });
    messages.keep({ sid: messageSid(1), sentAt: ago(HOUR + MINUTE), body: 'past' });
    messages.keep({ sid: messageSid(2), sentAt: ago(MINUTE), body: 'new' });
    await runOnce();
    expect((await claim()).map(bodyOf)).toEqual(['new']);
  });

  test('to the last run that succeeded, days ago, over a restart, in spans', async () => {
    const { messages, runOnce, restart, entries, store } = await reconciling();
    await runOnce();
    const lastRun = ago(3 * 24 * HOUR);
    await store.spool.setMark(MARK, lastRun);
    await restart();
    const times = [71, 50, 49, 48, 30, 7, 6, 1].map((hours) => ago(hours * HOUR));
    for (const [n, sentAt] of times.entries()) messages.keep({ sid: messageSid(n), sentAt });
    messages.keep({ sid: messageSid(99), sentAt: lastRun - HOUR - MINUTE });
    await runOnce();
    expect((await entries()).map(({ receivedAt }) => receivedAt)).toEqual(times);
    const spans = messages.requests.filter(({ query }) => query.has('DateSent<'));
    expect(spans.length).toBeGreaterThan(12);
  });

  test('not to a time ahead of Twilio’s, by a clock that is wrong', async () => {
    const { messages, runOnce, store, claim } = await reconciling();
    await runOnce({ clock: () => Date.now() + 5 * HOUR });
    expect((await store.spool.mark(MARK)) ?? Infinity).toBeLessThanOrEqual(Date.now() + 1000);
    messages.keep({ sid: messageSid(1), sentAt: ago(MINUTE), body: 'new' });
    await runOnce();
    expect((await claim()).map(bodyOf)).toEqual(['new']);
  });

  test('at most thirty days, and that is an alarm', async () => {
    const { messages, runOnce, claim, metrics, store } = await reconciling();
    await store.spool.setMark(MARK, ago(40 * 24 * HOUR));
    messages.keep({ sid: messageSid(1), sentAt: ago(35 * 24 * HOUR), body: 'too old' });
    messages.keep({ sid: messageSid(2), sentAt: ago(25 * 24 * HOUR), body: 'old' });
    await runOnce();
    expect((await claim()).map(bodyOf)).toEqual(['old']);
    expect(await valueOf(metrics, 'alarms', { alarm: 'sms_reconciliation_gap' })).toBe(1);
  });
});

describe('trouble', () => {
  test.each([
    ['429 with Retry-After', tooManyRequests('1')],
    ['429 without', tooManyRequests()],
    ['500', { status: 500, body: 'oops' }],
    ['a reset', 'reset' as const],
    ['a maintenance page', { status: 200, body: '<html>' }],
  ])('%s is tried again in the same run', async (_, answer) => {
    const { messages, runOnce, entries, metrics } = await reconciling();
    messages.keep({ sid: messageSid(1), sentAt: ago(MINUTE) });
    messages.answerNext(answer);
    await runOnce();
    expect(await entries()).toHaveLength(1);
    expect(await valueOf(metrics, 'alarms')).toBe(0);
  });

  test('a run that fails is an alarm and is tried again sooner; the mark stays', async () => {
    const { messages, start, entries, metrics, log, store } = await reconciling();
    await store.spool.setMark(MARK, ago(2 * HOUR));
    const mark = await store.spool.mark(MARK);
    messages.keep({ sid: messageSid(1), sentAt: ago(150 * MINUTE) });
    messages.answerNext(...Array.from({ length: 3 }, () => ({ status: 503 })));
    start();
    await waitFor('the failure', () => log.some(({ event }) => event.endsWith('failed')));
    expect(await store.spool.mark(MARK)).toBe(mark);
    await waitFor('the text', async () => (await entries()).length === 1);
    expect(await valueOf(metrics, 'alarms', { alarm: 'sms_reconciliation' })).toBe(1);
    expect(log.find(({ level }) => level === 'error')?.fields).toEqual({
      accountSid: ACCOUNT_SID,
      kind: 'later',
      reason: 'http_503',
      waitMs: 1,
    });
  });

  test('a long Retry-After ends the run, and the next one waits for it', async () => {
    const { messages, start, log } = await reconciling();
    messages.answerNext(tooManyRequests('900'));
    const reconciliation = start();
    const failed = await waitFor('the failure', () => log.find(({ level }) => level === 'error'));
    expect(failed.fields).toMatchObject({ reason: 'http_429', waitMs: 900_000 });
    expect(messages.requests).toHaveLength(1);
    await reconciliation.stop();
  });

  test('refused credentials are an alarm, and no secret reaches the log', async () => {
    const { start, log, messages } = await reconciling({ credentials: 'other:secret' });
    messages.keep({ sid: messageSid(1), sentAt: ago(MINUTE), body: 'private words' });
    start({ afterFailureMs: [] });
    const failed = await waitFor('the failure', () => log.find(({ level }) => level === 'error'));
    expect(failed.fields).toMatchObject({ kind: 'credentials', reason: 'http_401' });
    expect(JSON.stringify(log)).not.toMatch(new RegExp(`${AUTH_TOKEN}|private words`));
  });

  test('a message whose media are gone, or that cannot be read, keeps nothing back', async () => {
    const { messages, runOnce, claim, metrics } = await reconciling();
    const media = [{ sid: mediaSid(1), contentType: 'image/png' }];
    messages.keep({ sid: 'XX1', sentAt: ago(3 * MINUTE), body: 'strange' });
    messages.keep({ sid: `MM${'F'.repeat(32)}`, sentAt: ago(2 * MINUTE), body: 'gone', media });
    messages.keep({ sid: messageSid(2), sentAt: ago(MINUTE), body: 'good', from: '+14155550123' });
    await runOnce();
    expect((await claim()).map(bodyOf)).toEqual(['gone', 'good']);
    expect(await valueOf(metrics, 'alarms', { alarm: 'sms_unreadable_message' })).toBe(1);
  });

  test('one account’s trouble does not hold up another’s', async () => {
    const { messages, start, runsIn, claim } = await reconciling();
    messages.keep({ sid: messageSid(1), sentAt: ago(MINUTE), body: 'one' });
    const twilio = { accountSid: `AC${'b2'.repeat(16)}`, authTokens: ['x'] };
    start({ shops: [smsShop({ name: 'strange', twilio }), smsShop()], afterFailureMs: [] });
    await waitFor('a run', () => runsIn() === 1);
    expect((await claim()).map(bodyOf)).toEqual(['one']);
  });

  test('a span with more than can be listed in one go is listed in halves', async () => {
    const { messages, runOnce, entries } = await reconciling({ maxPageSize: 1 });
    const sids = Array.from({ length: 30 }, (_, n) => messageSid(n));
    for (const [n, sid] of sids.entries()) {
      messages.keep({ sid, sentAt: ago(50 * MINUTE) + n * 60_000 });
    }
    await runOnce({ maxPages: 4 });
    expect((await entries()).map(({ remoteId }) => remoteId)).toEqual(sids);
  });

  test('more than that in a second is an alarm, not a silent loss', async () => {
    const { messages, start, log } = await reconciling({ maxPageSize: 1 });
    const sentAt = ago(MINUTE);
    for (let n = 0; n < 3; n += 1) messages.keep({ sid: messageSid(n), sentAt });
    start({ afterFailureMs: [], maxPages: 2 });
    const failed = await waitFor('the failure', () => log.find(({ level }) => level === 'error'));
    expect(failed.fields).toMatchObject({ kind: 'never', reason: 'too_many_messages' });
  });

  test('a stop does not wait for an answer that never ends', async () => {
    const { messages, start, log } = await reconciling();
    messages.answerNext('stall');
    const reconciliation = start();
    await waitFor('the request', () => messages.requests.length === 1);
    await reconciliation.stop();
    expect(log).toEqual([]);
  });
});

describe('the API', () => {
  test('is asked with the API key where there is one', async () => {
    const apiKeySid = `SK${'c3'.repeat(16)}`;
    const { messages, runOnce, entries } = await reconciling({
      credentials: `${apiKeySid}:key-secret`,
    });
    messages.keep({ sid: messageSid(1), sentAt: ago(MINUTE) });
    const twilio = { ...TWILIO, apiKeySid, apiKeySecret: 'key-secret' };
    await runOnce({ shops: [smsShop({ twilio })] });
    expect(await entries()).toHaveLength(1);
  });

  test('is the configured one, whatever the environment says', async () => {
    const { messages, runOnce, entries } = await reconciling();
    messages.keep({ sid: messageSid(1), sentAt: ago(MINUTE) });
    const names = ['TWILIO_REGION', 'TWILIO_EDGE', 'HTTP_PROXY', 'TWILIO_AUTH_TOKEN'];
    for (const name of names) process.env[name] = 'http://127.0.0.1:9';
    try {
      await runOnce();
    } finally {
      for (const name of names) Reflect.deleteProperty(process.env, name);
    }
    expect(await entries()).toHaveLength(1);
  });

  test('is asked a few times a second at most', async () => {
    const { messages, runOnce } = await reconciling({ maxPageSize: 2 });
    for (let n = 0; n < 10; n += 1) messages.keep({ sid: messageSid(n), sentAt: ago(MINUTE) });
    const before = performance.now();
    await runOnce({ pace: { gapMs: 50 } });
    expect(performance.now() - before).toBeGreaterThan(50 * (messages.requests.length - 1) - 50);
    expect(messages.requests).toHaveLength(7);
  });

  test('reads back the parameters that were kept', async () => {
    const { messages, runOnce, claim } = await reconciling();
    messages.keep({ sid: messageSid(1), sentAt: ago(MINUTE), body: 'Line 1\nЗдравей 👋' });
    await runOnce();
    const [claimed] = await claim();
    if (claimed === undefined) throw new Error('nothing was accepted');
    const { message } = readStored(claimed);
    expect(message).toMatchObject({
      id: messageSid(1),
      account: ACCOUNT_SID,
      from: THEIR_NUMBER,
      to: OUR_NUMBER,
      body: 'Line 1\nЗдравей 👋',
    });
  });
});
