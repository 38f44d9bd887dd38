import { inspect } from 'node:util';
import { expect, test } from '@jest/globals';
import { connectTwilio, rebase } from '../../../../../src/channels/sms/providers/twilio/transport.ts';
import { ends } from '../../../../support/ends.ts';
import { ACCOUNT_SID, AUTH_TOKEN, startTwilioStandIn } from '../../../../support/twilio-stand-in.ts';

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
  const client = await connectTwilio({
    accountSid: ACCOUNT_SID,
    username: ACCOUNT_SID,
    password: AUTH_TOKEN,
    baseUrl: standIn.baseUrl,
    timeoutMs: 60_000,
  });
  const error: unknown = await client.incomingPhoneNumbers.list().catch((each: unknown) => each);
  expect(error).toMatchObject({ name: 'TwilioUnreachable', code: 'ECONNRESET' });
  const basic = Buffer.from(`${ACCOUNT_SID}:${AUTH_TOKEN}`).toString('base64');
  const printed = inspect(error, { depth: 9, showHidden: true });
  for (const secret of [AUTH_TOKEN, basic]) expect(printed).not.toContain(secret);
  expect(standIn.requests[0]?.authorization).toBe(`Basic ${basic}`);
});
