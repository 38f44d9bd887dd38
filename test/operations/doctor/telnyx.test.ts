import { beforeEach, describe, expect, test } from '@jest/globals';
import { checkTelnyxShop } from '../../../src/operations/doctor/telnyx.ts';
import { ends } from '../../support/ends.ts';
import { serveTelnyx, type TelnyxApi, telnyxError } from '../../support/telnyx-api.ts';
import { API_KEY, type Members, PUBLIC_KEY, TELNYX_NUMBER } from '../../support/telnyx-stand-in.ts';
import { startTwilioStandIn, type TwilioStandIn } from '../../support/twilio-stand-in.ts';

const PUBLIC_URL = 'https://gw.acme.example';
const WANTED = `${PUBLIC_URL}/sms/telnyx`;
const PROFILE = '0f512bda-ae1e-4597-8e11-e5f5686b97d3';
const GOOD = {
  name: 'Acme',
  enabled: true,
  webhook_url: WANTED,
  webhook_failover_url: WANTED,
  webhook_api_version: '2',
};

let standIn: TwilioStandIn;
let telnyx: TelnyxApi;

beforeEach(async () => {
  standIn = await startTwilioStandIn();
  ends(() => standIn.close());
  telnyx = serveTelnyx(standIn);
});

/** What is not as it should be, as `status check: what was found; what to do`. */
async function told(apiKey = API_KEY, apiBaseUrl = standIn.baseUrl): Promise<string[]> {
  const shop = {
    ...{ name: 'acme', numbers: [TELNYX_NUMBER] },
    telnyx: { apiKey, publicKey: PUBLIC_KEY, apiBaseUrl },
  };
  const results = await checkTelnyxShop(shop, { publicUrl: PUBLIC_URL, timeoutMs: 60_000 });
  expect(JSON.stringify(results)).not.toContain(apiKey);
  return results
    .filter(({ status }) => status !== 'ok')
    .map(({ status, check, found, todo = '' }) => `${status} ${check}: ${found}; ${todo}`);
}

const assigned = (profile: Members) => {
  telnyx.numbers.set(TELNYX_NUMBER, PROFILE);
  telnyx.profiles.set(PROFILE, profile);
};

test('all is set', async () => {
  assigned(GOOD);
  expect(await told()).toEqual([]);
});

describe('at the messaging profile', () => {
  test.each<[what: string, changes: Members, result: RegExp]>([
    ['no URL', { webhook_url: '' }, /^failed telnyx\.webhook: .*Acme: no URL is set; set it in/],
    ['a URL that is null', { webhook_url: null }, /^failed telnyx\.webhook: .*no URL is set/],
    [
      'the URL of another system',
      { webhook_url: 'https://u:pw@old.example/hook?token=pw' },
      /^failed telnyx\.webhook: .*https:\/\/\[hidden\]@old\.example\/hook\?token=\[hidden\]; /,
    ],
    ['the URL of Twilio', { webhook_url: `${PUBLIC_URL}/sms/twilio` }, /^failed telnyx\.webhook/],
    ['version 1', { webhook_api_version: '1' }, /^failed telnyx\.version: .*Acme: version 1; /],
    ['no version', { webhook_api_version: null }, /^failed telnyx\.version: .*version unknown/],
    ['disabled', { enabled: false }, /^failed telnyx\.webhook: .*it is disabled/],
    [
      'no failover URL',
      { webhook_failover_url: null },
      /^warning telnyx\.failover: .*\(nothing\); /,
    ],
  ])('%s', async (_what, changes, result) => {
    assigned({ ...GOOD, ...changes });
    const [only, ...more] = await told();
    expect(only).toMatch(result);
    expect(more).toEqual([]);
  });
});

describe('of the account', () => {
  test('a number that it does not have', async () => {
    expect(await told()).toEqual([
      expect.stringMatching(/^failed telnyx\.number: the account has no such number; add/),
    ]);
  });

  test('a number without a messaging profile', async () => {
    telnyx.numbers.set(TELNYX_NUMBER, null);
    expect(await told()).toEqual([
      expect.stringMatching(/^failed telnyx\.number: it has no messaging profile/),
    ]);
  });

  test('a refused key', async () => {
    expect(await told('KEY_of_nobody')).toEqual([
      expect.stringMatching(
        /^failed telnyx\.api-key: Telnyx responded with 401 \(error 10009\); set sms\.telnyx\.apiKey/,
      ),
    ]);
  });

  test('nobody there', async () => {
    const gone = await startTwilioStandIn();
    await gone.close();
    expect(await told(API_KEY, gone.baseUrl)).toEqual([
      expect.stringMatching(/^failed telnyx\.api-key: no response from Telnyx \(ECONNREFUSED\); /),
    ]);
  });

  test('trouble at one number', async () => {
    assigned(GOOD);
    const ok = { status: 200, headers: { 'Content-Type': 'application/json' }, body: '{}' };
    telnyx.answerNext(ok, telnyxError(500, '10007'));
    expect(await told()).toEqual([
      'failed telnyx.number: Telnyx responded with 500 (error 10007); try again later',
    ]);
  });
});
