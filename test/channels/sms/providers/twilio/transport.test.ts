import { inspect } from 'node:util';
import { expect, test } from '@jest/globals';
import { failureOf } from '../../../../../src/channels/sms/providers/requests.ts';
import {
  apiCalls,
  connectTwilio,
  credentialsOf,
  rebase,
} from '../../../../../src/channels/sms/providers/twilio/transport.ts';
import { ends } from '../../../../support/ends.ts';
import {
  ACCOUNT_SID,
  AUTH_TOKEN,
  startTwilioStandIn,
} from '../../../../support/twilio-stand-in.ts';

test.each([
  ['https://api.twilio.com', 'https://messaging.twilio.com/v1/Services?Page=1'],
  [
    'https://api.dublin.ie1.twilio.com',
    'https://messaging.dublin.ie1.twilio.com/v1/Services?Page=1',
  ],
  ['https://proxy.acme.example/twilio/', 'https://proxy.acme.example/twilio/v1/Services?Page=1'],
  ['http://127.0.0.1:8090', 'http://127.0.0.1:8090/v1/Services?Page=1'],
  ['https://api.nottwilio.com', 'https://api.nottwilio.com/v1/Services?Page=1'],
])('with %s a call to another of its hosts goes to %s', (baseUrl, expected) => {
  expect(rebase('https://messaging.twilio.com/v1/Services?Page=1', baseUrl)).toBe(expected);
});

test('an error carries no credentials', async () => {
  const standIn = await startTwilioStandIn();
  ends(() => standIn.close());
  standIn.route(() => 'reset');
  const account = { accountSid: ACCOUNT_SID, authTokens: [AUTH_TOKEN] };
  const [credential] = credentialsOf(account);
  if (credential === undefined) throw new Error('no credential');
  const call = apiCalls({ baseUrl: standIn.baseUrl, timeoutMs: 60_000 });
  const client = await connectTwilio(ACCOUNT_SID, credential, call);
  const error: unknown = await client.incomingPhoneNumbers.list().catch((each: unknown) => each);
  expect(error).toMatchObject({ name: 'ProviderFailed', status: undefined, code: 'ECONNRESET' });
  const basic = Buffer.from(`${ACCOUNT_SID}:${AUTH_TOKEN}`).toString('base64');
  const printed = inspect(error, { depth: 9, showHidden: true });
  for (const secret of [AUTH_TOKEN, basic]) expect(printed).not.toContain(secret);
  expect(standIn.requests[0]?.authorization).toBe(`Basic ${basic}`);
});

const NOW = Date.UTC(2026, 4, 1);

test.each([
  [200, undefined, undefined],
  [204, undefined, { kind: 'later', message: 'http_204' }],
  [302, undefined, { kind: 'later' }],
  [400, '5', { kind: 'never', retryAfterMs: undefined }],
  [401, undefined, { kind: 'credentials', message: 'http_401' }],
  [403, undefined, { kind: 'credentials' }],
  [404, undefined, { kind: 'never' }],
  [408, undefined, { kind: 'later' }],
  [429, '7', { kind: 'later', retryAfterMs: 7000 }],
  [429, undefined, { kind: 'later', retryAfterMs: undefined }],
  [429, 'Fri, 01 May 2026 00:00:30 GMT', { kind: 'later', retryAfterMs: 30_000 }],
  [429, 'Thu, 30 Apr 2026 00:00:30 GMT', { kind: 'later', retryAfterMs: undefined }],
  [429, '9'.repeat(18), { kind: 'later', retryAfterMs: undefined }],
  [429, '-5', { kind: 'later', retryAfterMs: undefined }],
  [503, 'soon', { kind: 'later', retryAfterMs: undefined }],
])('status %i with Retry-After %s', (status, retryAfter, failure) => {
  const actual = failureOf(status, retryAfter, NOW);
  if (failure === undefined) expect(actual).toBeUndefined();
  else expect(actual).toMatchObject(failure);
});
