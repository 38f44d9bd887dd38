import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { TwilioShopAccount } from '../../../../src/channels/sms/providers/twilio/account.ts';
import { accountsOf as accountsOfShops } from '../../../../src/channels/sms/providers/twilio/message-lists.ts';
import {
  halves,
  spansSince,
} from '../../../../src/channels/sms/reconciliation/reconcile-account.ts';
import type { SmsShop } from '../../../../src/channels/sms/shop.ts';
import { ACCOUNT_SID, AUTH_TOKEN, OUR_NUMBER } from '../../../support/twilio-stand-in.ts';
import { smsShop, TWILIO } from '../running-door.ts';

const KEY = { apiKeySid: `SK${'1'.repeat(32)}`, apiKeySecret: 'of the key' };
const twilio = TWILIO;

/** `smsShop` makes shops with numbers at Twilio. */
const accountsOf = (shops: readonly SmsShop[]) =>
  accountsOfShops(shops.map((shop) => ({ ...shop, account: shop.account as TwilioShopAccount })));

test('the current auth token is a credential; an API key of any shop goes before it', () => {
  expect(accountsOf([smsShop()])).toEqual([
    {
      accountSid: ACCOUNT_SID,
      credential: { name: 'authTokens[0]', username: ACCOUNT_SID, password: AUTH_TOKEN },
      apiBaseUrl: undefined,
      addresses: [OUR_NUMBER, `whatsapp:${OUR_NUMBER}`, `rcs:${OUR_NUMBER}`],
    },
  ]);
  const [account] = accountsOf([smsShop(), smsShop({ twilio: { ...twilio, ...KEY } })]);
  expect(account?.credential).toEqual({
    name: 'apiKeySid',
    username: KEY.apiKeySid,
    password: KEY.apiKeySecret,
  });
});

test('half an API key is none, and an account without a token cannot be asked', () => {
  const { apiKeySid } = KEY;
  const [account] = accountsOf([smsShop({ twilio: { ...twilio, apiKeySid } })]);
  expect(account?.credential.username).toBe(ACCOUNT_SID);
  expect(accountsOf([smsShop({ twilio: { ...twilio, authTokens: [] } })])).toEqual([]);
});

test('an account is listed once, by all numbers of its shops, or whole with a service', () => {
  const other = smsShop({ name: 'other', numbers: ['12345', 'rcs:acme_agent'] });
  const strange = { ...twilio, accountSid: `AC${'9'.repeat(32)}` };
  const accounts = accountsOf([
    smsShop(),
    other,
    smsShop({ twilio: strange, messagingServiceSids: [`MG${'2'.repeat(32)}`] }),
  ]);
  expect(accounts.map(({ addresses }) => addresses)).toEqual([
    [OUR_NUMBER, `whatsapp:${OUR_NUMBER}`, `rcs:${OUR_NUMBER}`, '12345', 'rcs:acme_agent'],
    undefined,
  ]);
});

describe('spans of the past', () => {
  test.each([
    ['less than one length', 95, [{ from: 95 }]],
    ['one length', 90, [{ from: 90 }]],
    ['a little more', 89, [{ from: 89, to: 99 }, { from: 99 }]],
    ['many', 65, [{ from: 65, to: 75 }, { from: 75, to: 85 }, { from: 85, to: 95 }, { from: 95 }]],
    ['nothing', 100, [{ from: 100 }]],
    ['what is to come', 120, [{ from: 120 }]],
  ])('%s', (_, from, spans) => {
    expect(spansSince(from, 100, 10)).toEqual(spans);
  });

  test('two halves are the whole, without a gap, until they are too short', () => {
    const time = fc.integer({ min: 0, max: 4e12 });
    fc.assert(
      fc.property(time, fc.integer({ min: 0, max: 1e9 }), fc.boolean(), (from, length, open) => {
        const now = from + length;
        const span = { from, ...(!open && { to: now }) };
        const parted = halves(span, now);
        if (parted === undefined) {
          expect(length).toBeLessThan(4000);
          return;
        }
        const [first, second] = parted;
        expect(first.from).toBe(from);
        expect(first.to).toBe(second.from);
        expect(second.to).toBe(span.to);
        expect(second.from).toBeGreaterThan(from);
        expect(second.from).toBeLessThanOrEqual(now);
      }),
    );
  });
});
