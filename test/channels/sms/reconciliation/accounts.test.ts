import { expect, test } from '@jest/globals';
import { accountsOf } from '../../../../src/channels/sms/reconciliation/accounts.ts';
import { ACCOUNT_SID, AUTH_TOKEN, OUR_NUMBER } from '../../../support/twilio-stand-in.ts';
import { smsShop } from '../running-door.ts';

const KEY = { apiKeySid: `SK${'1'.repeat(32)}`, apiKeySecret: 'of the key' };
const twilio = smsShop().twilio;

test('the current auth token is a credential; an API key of any shop goes before it', () => {
  expect(accountsOf([smsShop()])).toEqual([
    {
      accountSid: ACCOUNT_SID,
      credentials: { username: ACCOUNT_SID, password: AUTH_TOKEN },
      apiBaseUrl: undefined,
      addresses: [OUR_NUMBER, `whatsapp:${OUR_NUMBER}`, `rcs:${OUR_NUMBER}`],
    },
  ]);
  const [account] = accountsOf([smsShop(), smsShop({ twilio: { ...twilio, ...KEY } })]);
  expect(account?.credentials).toEqual({ username: KEY.apiKeySid, password: KEY.apiKeySecret });
});

test('half an API key is none, and an account without a token cannot be asked', () => {
  const { apiKeySid } = KEY;
  const [account] = accountsOf([smsShop({ twilio: { ...twilio, apiKeySid } })]);
  expect(account?.credentials.username).toBe(ACCOUNT_SID);
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
