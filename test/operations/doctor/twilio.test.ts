// Longer than 400 lines: it is one table of situations.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { CheckResult } from '../../../src/operations/doctor/check.ts';
import {
  checkTwilioShop,
  type TwilioShop,
} from '../../../src/operations/doctor/twilio/check-shop.ts';
import { ends } from '../../support/ends.ts';
import {
  serveTwilioNumbers,
  twilioError,
  type TwilioNumbers,
  twilioSid,
} from '../../support/twilio-numbers.ts';
import {
  ACCOUNT_SID,
  AUTH_TOKEN,
  OUR_NUMBER,
  startTwilioStandIn,
  type TwilioStandIn,
} from '../../support/twilio-stand-in.ts';

const PUBLIC_URL = 'https://gw.acme.example';
const CALLED = `${PUBLIC_URL}/sms/twilio`;
const WANTED = `${CALLED}#rc=5&rp=all`;
const GOOD = { sms_url: WANTED, sms_fallback_url: WANTED };
const GOOD_SERVICE = { inbound_request_url: WANTED, fallback_url: WANTED };
const KEY = { apiKeySid: twilioSid('SK', 1), apiKeySecret: 'secret-of-the-key' };
const WRONG_TOKEN = 'f'.repeat(32);

type Change = Partial<Omit<TwilioShop, 'twilio'>> & { twilio?: Partial<TwilioShop['twilio']> };

interface Situation {
  readonly name: string;
  readonly at: (account: TwilioNumbers) => Change | undefined;
  readonly publicUrl?: string;
  /** `status check: a part of what was found or is to be done`, of all that is not `ok`. */
  readonly expected: readonly (readonly [status: string, check: string, part: RegExp])[];
  /** What `--fix` posts; absent when it must post nothing. */
  readonly fixes?: Readonly<Record<string, string>>;
}

const one =
  (fields: Readonly<Record<string, string>>) =>
  (account: TwilioNumbers): undefined =>
    void account.addNumber(OUR_NUMBER, fields);

const SITUATIONS: readonly Situation[] = [
  { name: 'all is set', at: one(GOOD), expected: [] },
  {
    name: 'overrides in another order, with a timeout',
    at: one({ ...GOOD, sms_url: `${CALLED}#rt=5000&rp=ct,all&rc=5` }),
    expected: [],
  },
  {
    name: 'nothing is set',
    at: one({}),
    expected: [
      ['failed', 'twilio.webhook', /no URL is set/],
      ['failed', 'twilio.fallback', /no URL is set/],
    ],
    fixes: { SmsUrl: WANTED, SmsFallbackUrl: WANTED },
  },
  {
    name: 'without the fragment Twilio does not try again',
    at: one({ ...GOOD, sms_url: CALLED }),
    expected: [['failed', 'twilio.webhook', /\(without #rc=5&rp=all\)/]],
    fixes: { SmsUrl: WANTED },
  },
  {
    name: 'fewer retries than five',
    at: one({ ...GOOD, sms_url: `${CALLED}#rc=2&rp=all` }),
    expected: [['failed', 'twilio.webhook', /without #rc=5&rp=all/]],
    fixes: { SmsUrl: WANTED },
  },
  {
    name: 'the method is GET',
    at: one({ ...GOOD, sms_method: 'GET', sms_fallback_method: 'GET' }),
    expected: [
      ['failed', 'twilio.webhook', /^GET https.*GET for POST/],
      ['failed', 'twilio.fallback', /GET for POST/],
    ],
    fixes: { SmsMethod: 'POST', SmsFallbackMethod: 'POST' },
  },
  {
    name: 'no fallback URL',
    at: one({ sms_url: WANTED }),
    expected: [['failed', 'twilio.fallback', /no URL is set/]],
    fixes: { SmsFallbackUrl: WANTED },
  },
  {
    name: "another system's URL, with its secrets",
    at: one({ ...GOOD, sms_url: 'https://joe:hunter2@old.example/in?api_key=hunter2&v=1' }),
    expected: [
      [
        'failed',
        'twilio.webhook',
        /https:\/\/\[hidden\]@old\.example\/in\?api_key=\[hidden\]&v=1.*another host, another path, a query/,
      ],
    ],
    fixes: { SmsUrl: WANTED },
  },
  {
    name: 'the account has no such number, only longer and shorter ones',
    at: (account) => {
      account.addNumber(`${OUR_NUMBER}9`, GOOD);
      return undefined;
    },
    expected: [['failed', 'twilio.number', /no such number/]],
  },
  {
    name: 'the number is found on a later page',
    at: (account) => {
      for (let n = 0; n < 5; n += 1) account.addNumber(`${OUR_NUMBER}${n}`);
      account.addNumber(OUR_NUMBER, GOOD);
      return undefined;
    },
    expected: [],
  },
  {
    name: 'an application decides, and its URL is wrong',
    at: (account) => {
      const sid = account.addApplication({ sms_url: 'https://other.example/' });
      account.addNumber(OUR_NUMBER, { ...GOOD, sms_application_sid: sid });
      return undefined;
    },
    expected: [
      ['failed', 'twilio.webhook', /SmsUrl is ignored, application AP\w+ decides.*another host/],
      ['failed', 'twilio.fallback', /SmsUrl is ignored.*no URL is set/],
    ],
  },
  {
    name: 'an application decides, and it is right',
    at: (account) => {
      const sid = account.addApplication(GOOD);
      account.addNumber(OUR_NUMBER, { sms_application_sid: sid });
      return undefined;
    },
    expected: [],
  },
  {
    name: 'a messaging service decides, and receives nothing',
    at: (account) => {
      const sid = account.addService([account.addNumber(OUR_NUMBER, GOOD)]);
      return { messagingServiceSids: [sid] };
    },
    expected: [
      ['skipped', 'twilio.webhook', /ignored: messaging service MG/],
      ['skipped', 'twilio.fallback', /ignored/],
      ['failed', 'twilio.webhook', /no URL is set.*--fix changes only numbers/],
      ['failed', 'twilio.fallback', /no URL is set/],
    ],
  },
  {
    name: 'a messaging service decides, and it is right',
    at: (account) => {
      const sid = account.addService([account.addNumber(OUR_NUMBER)], GOOD_SERVICE);
      return { messagingServiceSids: [sid] };
    },
    expected: [
      ['skipped', 'twilio.webhook', /ignored/],
      ['skipped', 'twilio.fallback', /ignored/],
    ],
  },
  {
    name: 'a messaging service that no shop names has the number, and calls by GET',
    at: (account) => {
      const number = account.addNumber(OUR_NUMBER, GOOD);
      account.addService([number], { ...GOOD_SERVICE, inbound_method: 'GET' });
      return undefined;
    },
    expected: [
      ['skipped', 'twilio.webhook', /ignored/],
      ['skipped', 'twilio.fallback', /ignored/],
      ['failed', 'twilio.webhook', /GET for POST/],
    ],
  },
  {
    name: "a messaging service that uses the number's own webhook",
    at: (account) => {
      const number = account.addNumber(OUR_NUMBER, { ...GOOD, sms_url: CALLED });
      const sid = account.addService([number], { use_inbound_webhook_on_number: true });
      return { messagingServiceSids: [sid] };
    },
    expected: [['failed', 'twilio.webhook', /without #rc/]],
    fixes: { SmsUrl: WANTED },
  },
  {
    name: 'a configured messaging service is not in the account',
    at: (account) => {
      account.addNumber(OUR_NUMBER, GOOD);
      return { messagingServiceSids: [twilioSid('MG', 99)] };
    },
    expected: [['failed', 'twilio.service', /no such service/]],
  },
  {
    name: 'the credentials may not read messaging services',
    at: (account) => {
      account.addNumber(OUR_NUMBER, GOOD);
      account.faults.set('/v1/Services', twilioError(403, 20003, 'Permission denied'));
      return undefined;
    },
    expected: [['warning', 'twilio.service', /responded with 403/]],
  },
  {
    name: 'a short code',
    at: (account) => {
      account.addShortCode('1234567');
      account.addShortCode('12345', { sms_fallback_url: WANTED });
      return { numbers: ['12345'] };
    },
    expected: [['failed', 'twilio.webhook', /no URL is set/]],
    fixes: { SmsUrl: WANTED },
  },
  {
    name: 'WhatsApp and RCS senders cannot be looked up',
    at: (account) => {
      account.addNumber(OUR_NUMBER, GOOD);
      return { numbers: [`whatsapp:${OUR_NUMBER}`, 'rcs:acme_agent'] };
    },
    expected: [
      ['skipped', 'twilio.number', /whatsapp senders are not among/],
      ['skipped', 'twilio.number', /rcs senders are not among/],
    ],
  },
  {
    name: 'the auth token is wrong',
    at: (account) => {
      account.addNumber(OUR_NUMBER, GOOD);
      return { twilio: { authTokens: [WRONG_TOKEN] } };
    },
    expected: [
      ['failed', 'twilio.credentials', /401 \(error 20003\).*primary auth token/],
      ['skipped', 'twilio.number', /no credential/],
    ],
  },
  {
    name: 'the API key is right and the auth token is wrong: no signature would match',
    at: (account) => {
      account.addNumber(OUR_NUMBER, GOOD);
      account.accepted.clear();
      account.accepted.add(`${KEY.apiKeySid}:${KEY.apiKeySecret}`);
      return { twilio: KEY };
    },
    expected: [['failed', 'twilio.credentials', /401.*authTokens/]],
  },
  {
    name: 'the API key is wrong: the token looks at the rest',
    at: (account) => {
      account.addNumber(OUR_NUMBER);
      return { twilio: KEY };
    },
    expected: [
      ['failed', 'twilio.credentials', /401.*apiKeySid and apiKeySecret/],
      ['failed', 'twilio.webhook', /no URL is set/],
      ['failed', 'twilio.fallback', /no URL is set/],
    ],
    fixes: { SmsUrl: WANTED, SmsFallbackUrl: WANTED },
  },
  {
    name: 'an old token is left from a rotation',
    at: (account) => {
      account.addNumber(OUR_NUMBER, GOOD);
      return { twilio: { authTokens: [AUTH_TOKEN, WRONG_TOKEN] } };
    },
    expected: [['warning', 'twilio.credentials', /remove this token/]],
  },
  {
    name: 'a key that may not read numbers',
    at: (account) => {
      account.addNumber(OUR_NUMBER, GOOD);
      account.faults.set('/IncomingPhoneNumbers', twilioError(403, 20003, 'Permission denied'));
      return undefined;
    },
    expected: [
      ['warning', 'twilio.credentials', /no permission to read phone numbers/],
      ['skipped', 'twilio.number', /no credential/],
    ],
  },
  {
    name: 'Twilio has an outage',
    at: (account) => {
      account.faults.set('/IncomingPhoneNumbers', { status: 503, body: '<html>' });
      return { twilio: { ...KEY, authTokens: [AUTH_TOKEN] } };
    },
    expected: [
      ['failed', 'twilio.credentials', /.*/],
      ['failed', 'twilio.credentials', /503; try again later/],
      ['skipped', 'twilio.number', /no credential/],
    ],
  },
  {
    name: 'the connection is reset',
    at: (account) => {
      account.faults.set('/IncomingPhoneNumbers', 'reset');
      return undefined;
    },
    expected: [
      ['failed', 'twilio.credentials', /no response from Twilio \(\w+\).*baseUrl/],
      ['skipped', 'twilio.number', /no credential/],
    ],
  },
  {
    name: 'a captive portal answers',
    at: (account) => {
      account.faults.set('/IncomingPhoneNumbers', { status: 200, body: '<html>Welcome</html>' });
      return undefined;
    },
    expected: [
      ['failed', 'twilio.credentials', /is not from Twilio's API/],
      ['skipped', 'twilio.number', /no credential/],
    ],
  },
  {
    name: 'a gateway that Twilio cannot reach is not set there',
    publicUrl: 'http://localhost:8080',
    at: one(GOOD),
    expected: [
      ['failed', 'twilio.webhook', /another host/],
      ['failed', 'twilio.fallback', /another host/],
    ],
  },
];

let standIn: TwilioStandIn;
let account: TwilioNumbers;
beforeAll(async () => void (standIn = await startTwilioStandIn()));
afterAll(() => standIn.close());
// The latest route answers first: each test has an account of its own.
beforeEach(() => void (account = serveTwilioNumbers(standIn, 2)));

function check(change: Change | undefined, fix: boolean, publicUrl = PUBLIC_URL) {
  const { twilio, ...rest } = change ?? {};
  const shop: TwilioShop = {
    name: 'acme',
    numbers: [OUR_NUMBER],
    twilio: {
      accountSid: ACCOUNT_SID,
      authTokens: [AUTH_TOKEN],
      apiBaseUrl: standIn.baseUrl,
      ...twilio,
    },
    ...rest,
  };
  return checkTwilioShop(shop, { publicUrl, fix, timeoutMs: 60_000 });
}

const notOk = (results: readonly CheckResult[]) => results.filter(({ status }) => status !== 'ok');

describe.each(SITUATIONS)('$name', ({ at, publicUrl, expected, fixes }) => {
  test('is told, and nothing is changed', async () => {
    const results = await check(at(account), false, publicUrl);
    const told = notOk(results);
    expect(told.map(({ status, check: name }) => [status, name])).toEqual(
      expected.map(([status, name]) => [status, name]),
    );
    for (const [index, [, , part]] of expected.entries()) {
      const { found, todo = '' } = told[index] ?? { found: '' };
      expect(`${found} ${todo}`).toMatch(part);
    }
    for (const { status, todo } of results) if (status === 'failed') expect(todo).toBeTruthy();
    expect(account.updates).toEqual([]);
    const printed = JSON.stringify(results);
    for (const secret of [AUTH_TOKEN, WRONG_TOKEN, KEY.apiKeySecret, 'hunter2']) {
      expect(printed).not.toContain(secret);
    }
  });

  test('--fix sets what it may, and a second run finds that right', async () => {
    const change = at(account);
    const first = await check(change, true, publicUrl);
    expect(account.updates.map(({ form }) => form)).toEqual(fixes === undefined ? [] : [fixes]);
    const changed = first.flatMap((result) => result.changed ?? []);
    expect(Object.fromEntries(changed.map((each) => [each.setting, each.after]))).toEqual(
      fixes ?? {},
    );
    for (const { before, after } of changed) expect(before).not.toBe(after);
    expect(JSON.stringify(first)).not.toContain('hunter2');

    const second = await check(change, true, publicUrl);
    expect(account.updates).toHaveLength(fixes === undefined ? 0 : 1);
    if (fixes !== undefined) {
      const fixed = second.filter(({ subject }) => !subject.includes('MG'));
      expect(notOk(fixed).filter(({ check: name }) => name !== 'twilio.credentials')).toEqual([]);
    }
    expect(second.flatMap((result) => result.changed ?? [])).toEqual([]);
  });
});

test('--fix says the old and the new value of what it changed, and nothing else', async () => {
  const sid = account.addNumber(OUR_NUMBER, {
    ...GOOD,
    sms_url: 'https://demo.twilio.com/welcome/sms/reply',
    voice_url: 'https://voice.example/',
  });
  const results = await check(undefined, true);
  expect(results.find((result) => result.check === 'twilio.webhook')).toMatchObject({
    status: 'ok',
    changed: [
      {
        setting: 'SmsUrl',
        before: 'https://demo.twilio.com/welcome/sms/reply',
        after: WANTED,
      },
    ],
  });
  expect(account.updates).toEqual([
    {
      path: `/2010-04-01/Accounts/${ACCOUNT_SID}/IncomingPhoneNumbers/${sid}.json`,
      form: { SmsUrl: WANTED },
    },
  ]);
  expect(account.resources.get(sid)).toMatchObject({ voice_url: 'https://voice.example/' });
});

test('--fix that Twilio refuses is told, with what was there', async () => {
  const sid = account.addNumber(OUR_NUMBER, { ...GOOD, sms_url: CALLED });
  account.faults.set(`/${sid}.json`, twilioError(400, 21502, 'SmsUrl is not valid'));
  const results = await check(undefined, true);
  expect(notOk(results)).toMatchObject([
    {
      status: 'failed',
      check: 'twilio.webhook',
      todo: expect.stringMatching(/^not changed: Twilio responded with 400 \(error 21502\)/),
    },
  ]);
});

test('nobody listens at the base URL', async () => {
  const gone = await startTwilioStandIn();
  await gone.close();
  const [first] = await check({ twilio: { apiBaseUrl: gone.baseUrl } }, false);
  expect(first).toMatchObject({
    status: 'failed',
    found: 'no response from Twilio (ECONNREFUSED)',
  });
});

test('an answer that stalls ends with the deadline', async () => {
  const stalling = await startTwilioStandIn();
  ends(() => stalling.close());
  stalling.route(() => 'stall');
  const shop = {
    name: 'acme',
    numbers: [],
    twilio: { accountSid: ACCOUNT_SID, authTokens: [AUTH_TOKEN], apiBaseUrl: stalling.baseUrl },
  };
  const results = await checkTwilioShop(shop, {
    publicUrl: PUBLIC_URL,
    fix: false,
    timeoutMs: 200,
  });
  expect(results).toMatchObject([{ status: 'failed', found: 'no response from Twilio (timeout)' }]);
});
