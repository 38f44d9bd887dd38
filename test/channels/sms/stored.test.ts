import { describe, expect, test } from '@jest/globals';
import { parametersIn, readStored, storedSms } from '../../../src/channels/sms/stored.ts';
import { asShopId } from '../../../src/domain/ids.ts';
import type { Claimed, EntryMeta } from '../../../src/spool/entry.ts';

const SID = `SM${'1'.repeat(32)}`;
const ACCOUNT = `AC${'a'.repeat(32)}`;

/** Without a provider's name, it is Twilio's. */
const META = { messageSid: SID, accountSid: ACCOUNT, from: '+14155552671', to: '+15550001111' };
const RAW = [
  ['MessageSid', SID],
  ['AccountSid', ACCOUNT],
  ['From', '+14155552671'],
  ['To', '+15550001111'],
  ['Body', 'Where is my order?'],
  ['ProfileName', 'Ann'],
  ['OptOutType', 'HELP'],
  ['NumMedia', '1'],
  ['MediaContentType0', 'image/jpeg'],
  ['MediaUrl0', 'https://api.twilio.com/x'],
];

function claimed(meta: EntryMeta, raw: unknown): Claimed {
  const entry = { shopId: asShopId('11111111-1111-4111-8111-111111111111'), meta };
  const bytes = Buffer.from(JSON.stringify(raw));
  // `readStored` reads nothing else of a claim.
  return { entry, raw: { kind: 'inline', bytes } } as unknown as Claimed;
}

describe('an entry', () => {
  test('is read as its provider sent it', () => {
    const { provider, message, late } = readStored(claimed(META, RAW));
    expect(provider.name).toBe('twilio');
    expect(late).toBeUndefined();
    expect(message).toEqual({
      id: SID,
      account: ACCOUNT,
      from: '+14155552671',
      to: '+15550001111',
      body: 'Where is my order?',
      words: 'Where is my order?',
      context: [],
      name: 'Ann',
      optOutType: 'HELP',
      media: [{ url: 'https://api.twilio.com/x', contentType: 'image/jpeg' }],
    });
  });

  test('has its sender and recipient as a summary', () => {
    const raw = Buffer.from(JSON.stringify(RAW));
    expect(storedSms.summaryOf(META, raw)).toEqual({
      from: 'Ann +14155552671',
      to: '+15550001111',
      subject: '',
      more: '',
    });
  });

  test('may be the follow-up of one', () => {
    const late = { parts: [`ME${'2'.repeat(32)}`], notBefore: 5, until: 9 };
    expect(readStored(claimed({ ...META, late }, RAW)).late).toEqual(late);
  });
});

describe('the parameters in a raw form', () => {
  const raw = Buffer.from(JSON.stringify(RAW));

  test('are those of the form that its provider sent', () => {
    expect(parametersIn(META, raw)).toEqual(RAW);
    expect(parametersIn(META, raw.subarray(0, 50))).toBeUndefined();
  });

  test('are none if its provider sends no forms', () => {
    expect(parametersIn({ ...META, provider: 'telnyx' }, raw)).toBeUndefined();
  });
});

describe('an entry of a provider that this version does not know', () => {
  const meta = { provider: 'pigeon', from: '+14155552671', to: '+15550001111' };

  test('is listed by its addresses', () => {
    expect(storedSms.summaryOf(meta, Buffer.from('{}'))).toMatchObject({
      from: '+14155552671',
      to: '+15550001111',
    });
  });

  test('is not read', () => {
    expect(() => readStored(claimed(meta, {}))).toThrow('not known');
  });
});
