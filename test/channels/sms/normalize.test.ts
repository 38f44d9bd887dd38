import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { optOutsOf } from '../../../src/channels/sms/person.ts';
import { join } from 'node:path';
import { createSmsNormalizer } from '../../../src/channels/sms/normalize.ts';
import type { SmsShop } from '../../../src/channels/sms/shop.ts';
import type { Normalized } from '../../../src/intake/normalizer.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { createMessageRequestSchema } from '../../../src/platform-api/schemas.ts';
import type { Claimed } from '../../../src/spool/entry.ts';
import {
  inboundForm,
  messageSid,
  OUR_NUMBER,
  THEIR_NUMBER,
} from '../../support/twilio-stand-in.ts';
import { type RunningWebhook, smsShop, startWebhook } from './running-door.ts';

type Changes = Parameters<typeof inboundForm>[0];

let webhook: RunningWebhook;
let lastSid = 1000;

beforeAll(async () => {
  // A short code, a number of another country and an RCS agent beside the usual one.
  const numbers = [OUR_NUMBER, '54321', '+4915735985555', 'rcs:acme_agent'];
  webhook = await startWebhook({ shops: [smsShop({ numbers })] });
});
afterAll(() => webhook.close());

const normalizer = (changes: Partial<SmsShop> = {}) =>
  createSmsNormalizer(
    { shops: [smsShop(changes)], scratchDir: join(webhook.dir, 'scratch') },
    {
      optOuts: webhook.store.optOuts,
      personOf: (lane) => webhook.store.spool.personOf(lane),
      countMessage: () => Promise.resolve(undefined),
      clock: Date.now,
      logger: silentLogger,
      metrics: webhook.metrics,
    },
  );

/** From the webhook through the spool to the request; the entry is settled. */
async function arrive(
  changes: Changes,
  shop: Partial<SmsShop> = {},
  released = false,
): Promise<{ normalized: Normalized; claimed: Claimed; sid: string }> {
  lastSid += 1;
  const sid = messageSid(lastSid);
  const answer = await webhook.send(inboundForm({ MessageSid: sid, ...changes }));
  expect(answer.status).toBe(200);
  const claimed = await webhook.claim();
  if (claimed === undefined) throw new Error('nothing to claim');
  expect(claimed.entry.remoteId).toBe(sid);
  const normalized = await normalizer(shop)({ ...claimed, released }, new AbortController().signal);
  await webhook.store.spool.settle(claimed.lease, { state: 'delivered' }, { steps: [] });
  return { normalized, claimed, sid };
}

describe('what the shop wrote on its own phone', () => {
  /** As it is stored while the shop has the local platform. */
  async function echo(hasNotes: boolean, released = false): Promise<Normalized> {
    const { claimed } = await arrive({});
    const { entry } = claimed;
    const stored = {
      ...claimed,
      released,
      entry: { ...entry, meta: { ...entry.meta, echo: true } },
    };
    return normalizer({ hasNotes })(stored, new AbortController().signal);
  }

  it('is for the local platform alone', async () => {
    expect(await echo(true)).toMatchObject({
      ...{ verdict: { kind: 'deliver' }, isEcho: true },
      request: { message: { content: 'Where is my order?\n\n[Written on your own phone]' } },
    });
  });

  it('never goes to another platform, even if an operator releases it', async () => {
    const verdict = { kind: 'suppressed', reason: { code: 'echo' } };
    expect((await echo(false)).verdict).toEqual(verdict);
    expect((await echo(false, true)).verdict).toEqual(verdict);
  });
});

describe('a message becomes a request', () => {
  const family = '\u{1F468}\u200D\u{1F469}\u200D\u{1F467}\u200D\u{1F466}';
  const flag = '\u{1F3F4}\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}';

  const contents: readonly (readonly [label: string, changes: Changes, content: string])[] = [
    ['spaces and line breaks kept', { Body: '  a\r\n\tb  ' }, '  a\r\n\tb  '],
    ['an emoji of several code points', { Body: family }, family],
    ['an emoji made of tags', { Body: flag }, flag],
    [
      'right-to-left text',
      { Body: '\u0645\u0631\u062D\u0628\u0627' },
      '\u0645\u0631\u062D\u0628\u0627',
    ],
    ['a reaction', { Body: 'Liked “Your parcel left today.”' }, '👍'],
    ['a reaction of Google Messages', { Body: '\u200a❤️\u200a to “Hi”' }, '❤️'],
    ['a blank Body', { Body: ' \n ' }, '(no text)'],
    ['the first of two Bodies', { Body: ['one', 'two'] }, 'one'],
    [
      'a location without a name',
      { Body: '', Latitude: '0', Longitude: '-0.50', Address: '', Label: '' },
      'Location: 0,-0.50\nhttps://www.google.com/maps?q=0,-0.50',
    ],
    ['a keyword within a sentence', { Body: 'please cancel' }, 'please cancel'],
    ['an OptOutType that says nothing', { OptOutType: '' }, 'Where is my order?'],
  ];

  it.each(contents)('with %s', async (label, changes, content) => {
    const { normalized, claimed, sid } = await arrive(changes);
    expect(normalized.findings['reaction'] === true).toBe(label.includes('reaction'));
    expect(normalized.verdict).toEqual({ kind: 'deliver' });
    expect(normalized.request).toEqual({
      contact: { phone: THEIR_NUMBER },
      conversation: { direction: 'inbound', type: 'sms', agent_contact: OUR_NUMBER },
      message: {
        content,
        format: 'TEXT',
        remote_id: sid,
        timestamp: new Date(claimed.entry.receivedAt).toISOString(),
      },
    });
    expect(normalized.attachments).toEqual([]);
    createMessageRequestSchema.parse(normalized.request);
  });

  const parties: readonly (readonly [string, Changes, object, string])[] = [
    [
      'a profile name that turns around and hides',
      { ProfileName: 'Ann \u202Egnp.exe\u2066\u200B\u0007' },
      { phone: THEIR_NUMBER, name: 'Ann gnp.exe' },
      OUR_NUMBER,
    ],
    [
      'a profile name of nothing else',
      { ProfileName: '\u202E\u2069' },
      { phone: THEIR_NUMBER },
      OUR_NUMBER,
    ],
    [
      'WhatsApp',
      {
        From: 'whatsapp:+5511987654321',
        To: `whatsapp:${OUR_NUMBER}`,
        ProfileName: 'J\u00FAlia\u0000',
      },
      { phone: '+5511987654321', name: 'J\u00FAlia' },
      OUR_NUMBER,
    ],
    [
      'numbers of other countries',
      { From: '+541123456789', To: '+4915735985555' },
      { phone: '+541123456789' },
      '+4915735985555',
    ],
    [
      'a very long profile name cut between code points',
      { ProfileName: '\u{1F600}'.repeat(300) },
      { phone: THEIR_NUMBER, name: '\u{1F600}'.repeat(100) },
      OUR_NUMBER,
    ],
  ];

  it.each(parties)('from and to: %s', async (_label, changes, contact, agentContact) => {
    const { normalized } = await arrive(changes);
    expect(normalized.verdict).toEqual({ kind: 'deliver' });
    expect(normalized.request.contact).toEqual(contact);
    expect(normalized.request.conversation.agent_contact).toBe(agentContact);
  });
});

describe('a message is held', () => {
  it.each<[string, Changes, string]>([
    ['from a number that no country has', { From: '+999123456789' }, 'impossible_number'],
    ['from a short code that says STOP', { From: '72345', Body: 'STOP' }, 'short_code'],
  ])('%s', async (_label, changes, code) => {
    const { normalized } = await arrive(changes);
    expect(normalized.verdict).toEqual({ kind: 'held', reason: { code } });
  });

  it('until an operator releases it; the sender is its name then', async () => {
    const { normalized } = await arrive({ From: 'AMAZON' }, {}, true);
    expect(normalized.verdict).toEqual({ kind: 'deliver' });
    expect(normalized.request.contact).toEqual({ name: 'AMAZON' });
  });
});

describe('consent', () => {
  const optedOut = ({ entry }: Claimed) =>
    optOutsOf(webhook.store.optOuts, undefined).isOptedOut(entry.shopId, entry.lane);

  it.each([
    'STOP',
    'stopall',
    'Unsubscribe',
    'END',
    'quit',
    'CANCEL',
    'revoke',
    'OptOut',
    ' stop\n',
  ])('a bare %j opts out: suppressed, with an event', async (keyword) => {
    const { normalized, claimed } = await arrive({ Body: keyword, From: '+14155550101' });
    expect(normalized.verdict).toEqual({
      kind: 'suppressed',
      reason: { code: 'opt_out' },
      events: [
        {
          name: 'SMS opt-out',
          event_time: new Date(claimed.entry.receivedAt).toISOString(),
          contact: { phone: '+14155550101' },
        },
      ],
    });
    expect(await optedOut(claimed)).toBe(true);
  });

  it.each(['START', 'unstop', 'Yes'])('a bare %s opts in again, once', async (keyword) => {
    const From = '+14155550102';
    await arrive({ From, Body: 'STOP' });
    const back = await arrive({ From, Body: keyword });
    expect(back.normalized.verdict).toMatchObject({
      kind: 'suppressed',
      reason: { code: 'opt_in' },
      events: [{ name: 'SMS opt-in', contact: { phone: From } }],
    });
    expect(await optedOut(back.claimed)).toBe(false);
    expect((await arrive({ From, Body: keyword })).normalized.verdict.kind).toBe('deliver');
  });

  it('is kept apart for each of our numbers', async () => {
    const From = '+14155550103';
    await arrive({ From, Body: 'STOP' });
    const other = await arrive({ From, To: '54321', Body: 'YES' });
    expect(other.normalized.verdict.kind).toBe('deliver');
  });

  it.each([
    ['STOP', 'Arr\u00EAt', 'opt_out'],
    ['START', 'ICI', 'opt_in'],
    ['HELP', 'HELP', 'help_keyword'],
  ])('is what OptOutType %s says, whatever the text', async (OptOutType, Body, code) => {
    for (const optOut of ['provider', 'none'] as const) {
      const { normalized } = await arrive({ OptOutType, Body, From: '+14155550104' }, { optOut });
      expect(normalized.verdict).toMatchObject({ kind: 'suppressed', reason: { code } });
    }
  });

  it('is left alone by what an operator releases', async () => {
    const From = '+14155550106';
    const { normalized, claimed } = await arrive({ From, Body: 'STOP' }, {}, true);
    expect(normalized.verdict.kind).toBe('deliver');
    expect(await optedOut(claimed)).toBe(false);
  });
});
