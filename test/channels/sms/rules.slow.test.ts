// The sentences of "Payload" and "Opt-out" that normalize.test.ts does not show, by their words.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { optOutsOf } from '../../../src/channels/sms/person.ts';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FormFields, readIdentity } from '../../../src/channels/sms/providers/twilio/form.ts';
import { receivedText, twilioTexts } from '../../../src/channels/sms/providers/twilio/texts.ts';
import { laneOf } from '../../../src/channels/sms/receive.ts';
import { createSmsNormalizer } from '../../../src/channels/sms/normalize.ts';
import { consentOf } from '../../../src/channels/sms/normalize/consent.ts';
import type { SmsShop } from '../../../src/channels/sms/shop.ts';
import { createIntake } from '../../../src/intake/intake.ts';
import type { Normalized } from '../../../src/intake/normalizer.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { createMetrics } from '../../../src/observability/metrics.ts';
import type { Claimed, Outcome } from '../../../src/spool/entry.ts';
import type { Store } from '../../../src/spool/store.ts';
import { openStore } from '../../support/store.ts';
import { ends } from '../../support/ends.ts';
import { claimFrom } from '../../support/entries.ts';
import { tempDir } from '../../support/temp-dir.ts';
import {
  inboundForm,
  messageSid,
  OUR_NUMBER,
  THEIR_NUMBER,
} from '../../support/twilio-stand-in.ts';
import { type RunningWebhook, smsShop, toArrival, startWebhook } from './running-door.ts';

type Changes = Parameters<typeof inboundForm>[0];

let webhook: RunningWebhook;
let lastSid = 5000;

beforeAll(async () => {
  webhook = await startWebhook();
});
afterAll(() => webhook.close());

const normalizerOf = (store: Store, dir: string, changes: Partial<SmsShop> = {}) =>
  createSmsNormalizer(
    { shops: [smsShop(changes)], scratchDir: join(dir, 'scratch') },
    {
      optOuts: store.optOuts,
      personOf: (lane) => store.spool.personOf(lane),
      countMessage: () => Promise.resolve(undefined),
      clock: Date.now,
      logger: silentLogger,
      metrics: createMetrics(),
    },
  );

const settledAs = ({ verdict }: Normalized): Outcome =>
  verdict.kind === 'deliver'
    ? { state: 'delivered' }
    : { state: verdict.kind, reason: verdict.reason };

/** The next entry in turn, normalized and settled as delivery would. */
async function deliverNext(
  shop: Partial<SmsShop> = {},
): Promise<{ normalized: Normalized; claimed: Claimed }> {
  const claimed = await webhook.claim();
  if (claimed === undefined) throw new Error('nothing to claim');
  const normalize = normalizerOf(webhook.store, webhook.dir, shop);
  const normalized = await normalize(claimed, new AbortController().signal);
  await webhook.store.spool.settle(claimed.lease, settledAs(normalized), { steps: [] });
  return { normalized, claimed };
}

async function arrive(changes: Changes, shop: Partial<SmsShop> = {}) {
  lastSid += 1;
  const answer = await webhook.send(inboundForm({ MessageSid: messageSid(lastSid), ...changes }));
  expect(answer.status).toBe(200);
  return deliverNext(shop);
}

describe('contact.phone is From when it is E.164, as it came', () => {
  it.each([
    ['Mexico with its former 1', '+5215512345678'],
    ['Mexico without it', '+525512345678'],
    ['Argentina with the 9', '+5491123456789'],
    ['Argentina without it', '+541123456789'],
    ['Brazil with the ninth digit', '+5511987654321'],
    ['Brazil without it', '+551187654321'],
    ['a country code of three digits', '+3545551234'],
  ])('%s', async (_label, From) => {
    const { normalized } = await arrive({ From });
    expect(normalized.verdict).toEqual({ kind: 'deliver' });
    expect(normalized.request.contact).toEqual({ phone: From });
  });
});

describe('short codes and alphanumeric senders are held, until somebody releases them', () => {
  it.each([
    ['72345', 'short_code'],
    ['123', 'short_code'],
    ['AMAZON', 'alphanumeric_sender'],
    ['Acme Ltd', 'alphanumeric_sender'],
    ['+999123456789', 'impossible_number'],
    ['14155552671', 'impossible_number'],
  ])('%s: %s', async (From, code) => {
    const { normalized, claimed } = await arrive({ From, Body: 'Your code is 1234' });
    expect(normalized.verdict).toEqual({ kind: 'held', reason: { code } });
    const { id } = claimed.entry;
    expect(await webhook.store.spool.get(id)).toMatchObject({ state: 'held', reason: { code } });

    expect(await webhook.store.spool.requeue(id)).toBe(true);
    const again = await deliverNext();
    expect(again.claimed.entry.id).toBe(id);
    expect(again.normalized.verdict).toEqual({ kind: 'deliver' });
    expect(again.normalized.request.contact).toEqual({ name: From.replace('whatsapp:', '') });
  });
});

// Twilio has acted on it: holding it would also hold the event back.
it('an opt-out by WhatsApp is not held where WhatsApp is', async () => {
  const addresses = { From: `whatsapp:${THEIR_NUMBER}`, To: `whatsapp:${OUR_NUMBER}` };
  const { normalized } = await arrive(
    { ...addresses, OptOutType: 'STOP', Body: 'STOP' },
    { whatsapp: 'hold' },
  );
  expect(normalized.verdict).toMatchObject({ kind: 'suppressed', reason: { code: 'opt_out' } });
});

describe('content has no NUL, and no control that nobody types', () => {
  it.each([
    ['escape sequences', 'a\u001b[31mb\u0007', 'a[31mb'],
    ['C1 and delete', 'a\u0085\u009bb\u007f', 'ab'],
    ['nothing else', '\u0001\u0002', '(no text)'],
    [
      'joiners, direction and variation marks stay',
      '\u200F\u2764\uFE0F\u200D',
      '\u200F\u2764\uFE0F\u200D',
    ],
  ])('%s', async (_label, Body, content) => {
    expect((await arrive({ Body })).normalized.request.message.content).toBe(content);
  });

  it('names and places are one line each', async () => {
    const place = {
      Body: '',
      Latitude: '1.5',
      Longitude: '2',
      Label: 'The\nShop ',
      Address: '1  St',
    };
    const { normalized } = await arrive({ ...place, ProfileName: 'Ann\r\nBcc: x\u0000' });
    expect(normalized.request.contact.name).toBe('Ann Bcc: x');
    expect(normalized.request.message.content).toBe(
      'Location: The Shop, 1 St, 1.5,2\nhttps://www.google.com/maps?q=1.5,2',
    );
  });
});

it('the timestamp is the receipt, for a message found later the time it was sent', async () => {
  const sent = Date.parse('2026-03-01T10:00:00Z');
  const pairs = inboundForm({ MessageSid: messageSid((lastSid += 1)) });
  const intake = createIntake({
    ...webhook.store,
    metrics: webhook.metrics,
    clock: Date.now,
    onAccepted: () => undefined,
  });
  await intake.accept([toArrival(smsShop(), readIdentity(new FormFields(pairs)), pairs, sent)]);
  const { normalized } = await deliverNext();
  expect(normalized.request.message.timestamp).toBe('2026-03-01T10:00:00.000Z');
});

describe('a bare keyword is the whole body, any case', () => {
  const KEYWORDS = 'STOP STOPALL UNSUBSCRIBE END QUIT CANCEL REVOKE OPTOUT'.split(' ');
  const read = (body: string, optOutType = '') =>
    consentOf({ body, optOutType }, twilioTexts.keywords);

  it.each(KEYWORDS)('%s opts out', (word) => {
    for (const body of [word, word.toLowerCase(), ` ${word}\r\n`])
      expect(read(body)).toBe('opt-out');
  });

  it.each(['START', 'UNSTOP', 'YES'])('%s opts in who is out', (word) => {
    for (const body of [word, word.toLowerCase()]) expect(read(body)).toBe('opt-in-if-out');
  });

  it.each([
    ['an order', 'CANCEL.'],
    ['a request in other words', 'remove me'],
    ['a sentence', 'please stop'],
    ['two keywords', 'STOP STOP'],
    ['fullwidth letters', '\uFF33\uFF34\uFF2F\uFF30'],
    ['a Cyrillic O', 'ST\u041EP'],
    ['a long s, which is S in upper case', '\u017Ftop'],
    ['a dotless i, which is I in upper case', 'qu\u0131t'],
    ['a ligature, which is ST in upper case', '\uFB06op'],
    ['a NUL', 'ST\u0000OP'],
    ['HELP', 'HELP'],
    ['INFO', 'INFO'],
    ['nothing', ''],
  ])('%s is a text for the agent', (_label, body) => expect(read(body)).toBe('none'));

  it.each(['STOP.', 'stop!', '"STOP"', 'STOP\u200B', 'STOP\u00A0', 'STOP \u{1F6D1}'])(
    '%j is kept and delivered',
    (body) => expect(read(body)).toBe('said-stop'),
  );

  it('an OptOutType that nobody knows says nothing', () => {
    expect(read('hello', 'OTHER')).toBe('none');
  });
});

describe('a START whose attempt was killed after the state had changed', () => {
  const identity = (body: string, n: number) =>
    inboundForm({ MessageSid: messageSid(n), Body: body, From: THEIR_NUMBER });
  const lane = laneOf(receivedText(readIdentity(new FormFields(identity('', 1))), []));

  /** Opens a store, normalizes the next entry, and dies before it is settled. */
  const CHILD = `
    const [, , dir, dist] = process.argv;
    const from = (file) => import(new URL(file, dist));
    const { openSqliteStore } = await from('spool/sqlite/open.js');
    const { createSmsNormalizer } = await from('channels/sms/normalize.js');
    const { silentLogger } = await from('observability/logger.js');
    const { createMetrics } = await from('observability/metrics.js');
    const shop = JSON.parse(process.env.SHOP);
    const { spool, optOuts } = await openSqliteStore({ dir, role: 'owner', reserveBytes: 0 });
    await spool.recover();
    const due = { shopId: shop.shopId, limit: 1, from: ['due'] };
    const [[claimed]] = await spool.claim([due], 60_000, 1);
    const normalize = createSmsNormalizer({ shops: [shop], scratchDir: dir },
      { optOuts, personOf: (lane) => spool.personOf(lane), clock: Date.now, logger: silentLogger, metrics: createMetrics() });
    const { verdict } = await normalize(claimed, new AbortController().signal);
    process.stdout.write(verdict.reason?.code ?? verdict.kind);
    process.kill(process.pid, 'SIGKILL');
  `;

  it.each(['START', 'YES'])(
    '%s opts in on the retry too, and the next one is a text',
    async (word) => {
      const dir = tempDir();
      ends(() => dir.remove());
      const shop = smsShop();
      const withStore = async <T>(work: (store: Store) => Promise<T>): Promise<T> => {
        const store = await openStore(dir.path);
        try {
          await store.spool.recover();
          return await work(store);
        } finally {
          await store.spool.close();
        }
      };
      const accept = async (store: Store, body: string, n: number) => {
        const pairs = identity(body, n);
        const intake = createIntake({
          ...store,
          metrics: createMetrics(),
          clock: Date.now,
          onAccepted: () => undefined,
        });
        await intake.accept([toArrival(shop, readIdentity(new FormFields(pairs)), pairs)]);
      };
      const next = async (store: Store) => {
        const [claimed] = await claimFrom(store.spool, shop.shopId, 1, 60_000);
        if (claimed === undefined) throw new Error('nothing to claim');
        const normalize = normalizerOf(store, dir.path);
        const normalized = await normalize(claimed, new AbortController().signal);
        await store.spool.settle(claimed.lease, settledAs(normalized), { steps: [] });
        return normalized.verdict;
      };

      await withStore(async (store) => {
        await accept(store, 'STOP', 1);
        expect(await next(store)).toMatchObject({ reason: { code: 'opt_out' } });
        await accept(store, word, 2);
      });
      const dist = new URL('../../../dist/', import.meta.url).href;
      const script = join(dir.path, 'child.mjs');
      writeFileSync(script, CHILD);
      const child = spawnSync(process.execPath, [script, dir.path, dist], {
        encoding: 'utf8',
        env: { PATH: process.env['PATH'], SHOP: JSON.stringify(shop) },
      });
      expect(child).toMatchObject({ stdout: 'opt_in', signal: 'SIGKILL' });

      await withStore(async (store) => {
        expect(await optOutsOf(store.optOuts, undefined).isOptedOut(shop.shopId, lane)).toBe(false);
        expect(await next(store)).toMatchObject({
          kind: 'suppressed',
          reason: { code: 'opt_in' },
          events: [{ name: 'SMS opt-in', contact: { phone: THEIR_NUMBER } }],
        });
        await accept(store, word, 3);
        expect(await next(store)).toEqual({ kind: 'deliver' });
      });
    },
  );
});
