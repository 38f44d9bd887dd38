import { describe, expect, test } from '@jest/globals';
import {
  checkLinks,
  checkPublicUrl,
  differences,
  isReachable,
  shownUrl,
  TELNYX,
  TWILIO,
  webhookUrl,
} from '../../../src/operations/doctor/public-url.ts';

const PUBLIC_URL = 'https://gw.acme.example/sluice';
const CALLED = `${PUBLIC_URL}/sms/twilio`;
const OVERRIDES = '#rc=5&rp=all';

test('the URL to set keeps the path of the public URL', () => {
  expect(webhookUrl(PUBLIC_URL)).toBe(CALLED + OVERRIDES);
  expect(webhookUrl(`${PUBLIC_URL}/`)).toBe(CALLED + OVERRIDES);
  expect(differences(webhookUrl(PUBLIC_URL), PUBLIC_URL)).toEqual([]);
});

describe('how a URL differs from the one to set', () => {
  test.each([
    ['', ['not set']],
    ['gw.acme.example', ['not a URL']],
    [CALLED, ['without #rc=5&rp=all']],
    [`${CALLED}#rc=5&rp=ct`, ['without #rc=5&rp=all']],
    [`${CALLED}#rp=all`, ['without #rc=5&rp=all']],
    [`${CALLED}#rp=4xx,all&ct=2000&rc=5`, []],
    [`${CALLED}?x=1${OVERRIDES}`, ['a query']],
    [`${CALLED}?${OVERRIDES}`, ['a query']],
    [`${CALLED}/${OVERRIDES}`, ['a trailing slash']],
    [`${PUBLIC_URL}//sms/twilio${OVERRIDES}`, ['a doubled slash']],
    [`https://gw.acme.example/sms/twilio${OVERRIDES}`, ['another path']],
    [`https://GW.acme.example/sluice/sms/twilio${OVERRIDES}`, ['different spelling']],
    [`https://gw.acme.example:443/sluice/sms/twilio${OVERRIDES}`, ['the default port']],
    [`https://gw.acme.example:4430/sluice/sms/twilio${OVERRIDES}`, ['another port']],
    [
      `https://u:p@gw.acme.example/sluice/sms/twilio${OVERRIDES}`,
      ['a user name or password in it'],
    ],
    [`http://gw.acme.example/sluice/sms/twilio${OVERRIDES}`, ['http instead of https']],
    [`https://gw.other.example/sluice/sms/twilio${OVERRIDES}`, ['another host']],
  ])('%s', (set, expected) => {
    expect(differences(set, PUBLIC_URL)).toEqual(expect.arrayContaining(expected));
    expect(differences(set, PUBLIC_URL).filter((each) => each !== 'different spelling')).toEqual(
      expected.filter((each) => each !== 'different spelling'),
    );
  });
});

test.each([
  ['', '(nothing)'],
  ['https://a.example/x?y=1#rc=2', 'https://a.example/x?y=1#rc=2'],
  ['https://joe:pw@a.example/', 'https://[hidden]@a.example/'],
  [
    'https://a.example/?AuthToken=pw&x=1&sig=pw',
    'https://a.example/?AuthToken=[hidden]&x=1&sig=[hidden]',
  ],
])('%s is shown as %s', (url, shown) => {
  expect(shownUrl(url)).toBe(shown);
});

describe('http.publicUrl', () => {
  test.each([
    [
      'https://gw.acme.example',
      'ok',
      /POST: https:\/\/gw\.acme\.example\/sms\/twilio#rc=5&rp=all$/,
    ],
    ['https://gw.acme.example:8443/a', 'ok', /:8443\/a\/sms\/twilio#rc=5/],
    ['https://93.184.215.14', 'ok', /POST/],
    ['http://gw.acme.example', 'warning', /not encrypted/],
    ['http://localhost:8080', 'warning', /cannot reach/],
    ['https://gateway', 'warning', /cannot reach/],
    ['https://gw.local', 'warning', /cannot reach/],
    ['https://gw.corp.internal.', 'warning', /cannot reach/],
    ['https://192.168.1.5', 'warning', /cannot reach/],
    ['https://10.0.0.5:8443', 'warning', /cannot reach/],
    ['https://[::1]', 'warning', /cannot reach/],
    ['https://[fd00::1]', 'warning', /cannot reach/],
    ['https://gw.acme.example/', 'failed', /ends with a slash/],
    ['https://gw.acme.example:443', 'failed', /default port/],
    ['gw.acme.example', 'failed', /not a URL/],
  ] as const)('%s: %s', (url, status, found) => {
    expect(checkPublicUrl(url)).toMatchObject({ status, found: expect.stringMatching(found) });
  });

  test('names the URL to set at each provider', () => {
    const { found } = checkPublicUrl('https://gw.acme.example', [TWILIO, TELNYX]);
    expect(found).toBe(
      'https://gw.acme.example; ' +
        'to be entered at Twilio, with method POST: https://gw.acme.example/sms/twilio#rc=5&rp=all; ' +
        'to be entered at Telnyx: https://gw.acme.example/sms/telnyx',
    );
    expect(checkPublicUrl('http://localhost:8080', [TELNYX]).found).toContain(
      'Telnyx cannot reach it',
    );
  });

  test.each([
    ['https://gw.acme.example', 'ok', /gw\.acme\.example/],
    ['http://127.0.0.1:8080', 'warning', /customers cannot open it/],
    ['nonsense', 'failed', /not a URL/],
  ] as const)('for links in emails only, %s: %s', (url, status, found) => {
    expect(checkLinks(url)).toMatchObject({ status, found: expect.stringMatching(found) });
  });

  test('an address that is public is reachable', () => {
    expect(isReachable('https://[2606:4700::6810:84e5]/')).toBe(true);
  });
});
