import { beforeEach, describe, expect, test } from '@jest/globals';
import { checkWhatsAppShop } from '../../../src/operations/doctor/whatsapp.ts';
import { ends } from '../../support/ends.ts';
import { type GraphApi, graphError, serveGraph, VERSION } from '../../support/graph-api.ts';
import { startTwilioStandIn, type TwilioStandIn } from '../../support/twilio-stand-in.ts';
import {
  ACCESS_TOKEN,
  type Members,
  PHONE_NUMBER_ID,
  whatsappAccount,
} from '../../support/whatsapp-stand-in.ts';

const PUBLIC_URL = 'https://gw.acme.example';
const WANTED = `${PUBLIC_URL}/sms/whatsapp`;

let standIn: TwilioStandIn;
let graph: GraphApi;

beforeEach(async () => {
  standIn = await startTwilioStandIn();
  ends(() => standIn.close());
  graph = serveGraph(standIn);
});

/** What is not as it should be, as `status check: what was found; what to do`. */
async function told(
  accessToken = ACCESS_TOKEN,
  apiBaseUrl = standIn.baseUrl + VERSION,
  day = '2026-11-30',
): Promise<string[]> {
  const shop = { name: 'acme', whatsapp: whatsappAccount({ accessToken, apiBaseUrl }) };
  const options = { publicUrl: PUBLIC_URL, timeoutMs: 60_000, now: Date.parse(day) };
  const results = await checkWhatsAppShop(shop, options);
  expect(JSON.stringify(results)).not.toContain(accessToken);
  return results
    .filter(({ status }) => status !== 'ok')
    .map(({ status, check, found, todo = '' }) => `${status} ${check}: ${found}; ${todo}`);
}

const number = (webhook_configuration: unknown, changes: Members = {}) =>
  graph.numbers.set(PHONE_NUMBER_ID, {
    ...{ display_phone_number: '+1 555-078-3881', webhook_configuration },
    ...changes,
  });

describe('the webhook', () => {
  test.each<[of: string, urls: Members]>([
    ['the app', { application: WANTED }],
    ['the account', { application: 'https://old.example', whatsapp_business_account: WANTED }],
    ['the number', { whatsapp_business_account: 'https://old.example', phone_number: WANTED }],
  ])('may be that of %s', async (_of, urls) => {
    number(urls);
    expect(await told()).toEqual([]);
  });

  test.each<[what: string, urls: unknown, result: RegExp]>([
    ['none', {}, /^failed whatsapp\.webhook: no URL is set; set it in Meta's app dashboard/],
    ['not told', undefined, /^failed whatsapp\.webhook: no URL is set; /],
    [
      'another for the number',
      { application: WANTED, phone_number: 'https://u:pw@old.example/hook?token=pw' },
      /^failed whatsapp\.webhook: https:\/\/\[hidden\]@old\.example\/hook\?token=\[hidden\]; /,
    ],
  ])('is %s', async (_what, urls, result) => {
    number(urls);
    expect(await told()).toEqual([expect.stringMatching(result)]);
  });
});

describe('the number', () => {
  test('is another one: the ids are in another order', async () => {
    number({ application: WANTED }, { display_phone_number: '+1 555-000-9876' });
    expect(await told()).toEqual([
      expect.stringMatching(
        /^failed whatsapp\.number: the id is that of \+1 555-000-9876; put .* in the same order/,
      ),
    ]);
  });

  test('is not known', async () => {
    expect(await told()).toEqual([
      expect.stringMatching(
        /^failed whatsapp\.number: Meta responded with 400 \(error 100\); set sms\.whatsappCloud\.phoneNumberIds/,
      ),
    ]);
  });

  test('cannot be read with this token', async () => {
    expect(await told('EAA-of-nobody')).toEqual([
      expect.stringMatching(
        /^failed whatsapp\.number: Meta responded with 401 \(error 190\); set sms\.whatsappCloud\.accessToken/,
      ),
    ]);
  });

  test('cannot be read now', async () => {
    graph.answerNext(graphError(500, 2));
    expect(await told()).toEqual([
      'failed whatsapp.number: Meta responded with 500 (error 2); try again later',
    ]);
  });

  test('cannot be read, since nobody is there', async () => {
    const gone = await startTwilioStandIn();
    await gone.close();
    expect(await told(ACCESS_TOKEN, gone.baseUrl + VERSION)).toEqual([
      expect.stringMatching(/^failed whatsapp\.number: no response from Meta \(ECONNREFUSED\); /),
    ]);
  });
});

describe('the version of the API', () => {
  const TODO =
    'install a later release of Sluice; until then set sms.whatsappCloud.baseUrl to a later version';

  test.each<[day: string, told: string[]]>([
    ['2028-04-30', []],
    ['2028-05-01', [`warning whatsapp.version: v25.0 ends on 2028-07-29, in 89 days; ${TODO}`]],
    ['2028-07-28', [`warning whatsapp.version: v25.0 ends on 2028-07-29, in 1 day; ${TODO}`]],
    ['2028-07-29', [`warning whatsapp.version: v25.0 ends on 2028-07-29, today; ${TODO}`]],
    ['2028-07-30', [`failed whatsapp.version: v25.0 ended on 2028-07-29; ${TODO}`]],
  ])('ends: on %s', async (day, expected) => {
    number({ application: WANTED });
    expect(await told(ACCESS_TOKEN, standIn.baseUrl + VERSION, day)).toEqual(expected);
  });

  // The stand-in serves one version only.
  const toldOf = async (path: string) => (await told(ACCESS_TOKEN, standIn.baseUrl + path))[0];

  test.each<[path: string, first: RegExp]>([
    ['/v20.0/', /^failed whatsapp\.version: v20\.0 ended on 2026-09-24; /],
    // Its end has not been announced.
    ['/v26.0', /^failed whatsapp\.number: /],
    ['/v99.0', /^skipped whatsapp\.version: sms\.whatsappCloud\.baseUrl ends in no version /],
    ['/graph', /^skipped whatsapp\.version: sms\.whatsappCloud\.baseUrl ends in no version /],
  ])('is that of sms.whatsappCloud.baseUrl: %s', async (path, first) => {
    expect(await toldOf(path)).toMatch(first);
  });
});
