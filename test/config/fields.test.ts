import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { interpolate } from '../../src/config/source-tree.ts';
import { network, origin, httpUrl, relayUrl } from '../../src/config/network-fields.ts';
import { descriptions, nearest } from '../../src/config/field.ts';
import { parseDuration } from '../../src/config/duration.ts';
import {
  inboxAddress,
  phoneNumber,
  color,
  shownUrl,
  shownText,
} from '../../src/config/shop-fields.ts';

describe('durations', () => {
  test.each([
    ['500ms', 500],
    ['30s', 30_000],
    ['10m', 600_000],
    ['72h', 259_200_000],
    ['7d', 604_800_000],
    ['0s', 0],
  ])('%s is %d ms', (text, ms) => expect(parseDuration(text)).toBe(ms));

  test.each(['', '30', 's', '1.5h', '-1s', '10 m', '10M', '1w', '99999999d', '1e3s'])(
    '%j is none',
    (text) => expect(parseDuration(text)).toBeUndefined(),
  );
});

describe('interpolation', () => {
  const env = { A: 'one', EMPTY: '', B_2: 'x: "y"' };
  test.each([
    ['plain', 'plain'],
    ['${A}', 'one'],
    ['<${A}-${B_2}>', '<one-x: "y">'],
    ['${NONE:-fallback: 1}', 'fallback: 1'],
    ['${EMPTY:-fallback}', 'fallback'],
    ['${NONE:-}', ''],
    ['${EMPTY}', ''],
    ['$${A}', '${A}'],
    ['$A $ {A} $$', '$A $ {A} $$'],
  ])('%j becomes %j', (text, expected) => {
    expect(interpolate(text, env)).toMatchObject({ ok: true, text: expected });
  });

  test.each(['${', '${}', '${1A}', '${A', '${A:+x}'])('%j is malformed', (text) => {
    expect(interpolate(text, env)).toMatchObject({ ok: false, malformed: true });
  });

  test('all unset variables of a value are named', () => {
    expect(interpolate('${X}${A}${Y}', env)).toMatchObject({ ok: false, missing: ['X', 'Y'] });
  });

  test('what a variable holds is taken as it is', () => {
    fc.assert(
      fc.property(fc.string(), (value) => {
        expect(interpolate('${V}', { V: value })).toMatchObject({ ok: true, text: value });
      }),
    );
  });
});

describe('fields', () => {
  test.each([
    ['10.0.0.0/8', true],
    ['::1/128', true],
    ['10.0.0.1', true],
    ['10.0.0.0/33', false],
    ['10.0.0.0/', false],
    ['10.0.0.0/8/8', false],
    ['localhost', false],
  ])('network %s: %s', (text, ok) => expect(network('x').safeParse(text).success).toBe(ok));

  test.each([
    ['https://acme.example', true],
    ['http://localhost:8080', true],
    ['https://acme.example:443', false],
    ['https://ACME.example', false],
    ['https://acme.example/', false],
    ['https://*.acme.example', false],
    ['*', false],
    ['null', false],
    ['file:///x', false],
  ])('origin %s: %s', (text, ok) => expect(origin().safeParse(text).success).toBe(ok));

  test.each([
    ['https://api.example', 'https://api.example'],
    ['https://api.example/base/', 'https://api.example/base'],
    ['https://api.example/v2026-04', undefined],
    ['https://api.example/?a=1', undefined],
    ['https://u:p@api.example', undefined],
    ['ftp://api.example', undefined],
  ])('base URL %s: %s', (text, expected) =>
    expect(httpUrl('', '').safeParse(text).data).toBe(expected),
  );

  test.each([
    ['+15550001111', true],
    ['12345', true],
    ['15550001111', false],
    ['+0123456789', false],
    ['+1 555 000 1111', false],
    ['+123', false],
    ['rcs:acme_agent', true],
    ['rcs:', false],
    ['rcs:acme agent', false],
    ['acme_agent', false],
  ])('number %s: %s', (text, ok) => expect(phoneNumber().safeParse(text).success).toBe(ok));

  test.each([
    ['Support@ACME.example', 'support@acme.example'],
    ['*@ACME.example', '*@acme.example'],
    ['büro@bücher.example', 'büro@xn--bcher-kva.example'],
    ['support', undefined],
    ['@acme.example', undefined],
    ['a@b@c d', undefined],
  ])('address %s: %s', (text, expected) =>
    expect(inboxAddress().safeParse(text).data).toBe(expected),
  );

  test.each([
    ['#0F6fde', '#0f6fde', undefined],
    ['#0af', undefined, '"#00aaff"'],
    ['0f6fde', undefined, '"#0f6fde"'],
    ['rgb(15, 111, 222)', undefined, '"#0f6fde"'],
    ['rgb(15, 111, 922)', undefined, undefined],
    ['blue', undefined, undefined],
    ['#0f6fde; background: red', undefined, undefined],
  ])('colour %s: %s, meant %s', (text, expected, meant) => {
    const colour = color('"#0f6fde"');
    expect(colour.safeParse(text).data).toBe(expected);
    if (expected === undefined) expect(descriptions.get(colour)?.hint?.(text)).toBe(meant);
  });

  test.each([
    ['https://acme.example/logo.png?v=2', 'https://acme.example/logo.png?v=2', undefined],
    ['http://acme.example/logo.png', undefined, 'https://acme.example/logo.png'],
    ['//acme.example/logo.png', undefined, 'https://acme.example/logo.png'],
    ['logo.png', undefined, undefined],
    ['data:image/png;base64,AAAA', undefined, undefined],
    ['javascript:alert(1)', undefined, undefined],
    ['https://user:password@acme.example/logo.png', undefined, undefined],
  ])('picture %s: %s, meant %s', (text, expected, meant) => {
    const picture = shownUrl('a picture', 'x');
    expect(picture.safeParse(text).data).toBe(expected);
    if (expected === undefined) expect(descriptions.get(picture)?.hint?.(text)).toBe(meant);
  });

  test.each([
    ['Hello!\nHow can we help?\n', 'Hello!\nHow can we help?', undefined],
    ['  ', undefined, undefined],
    ['bell\u0007', undefined, 'bell'],
    ['x'.repeat(31), undefined, 'x'.repeat(30)],
    ['\u{1F45F}'.repeat(30), '\u{1F45F}'.repeat(30), undefined],
  ])('shown text %j: %j, meant %j', (text, expected, meant) => {
    const shown = shownText(30, 'Hello');
    expect(shown.safeParse(text).data).toBe(expected);
    if (expected === undefined) expect(descriptions.get(shown)?.hint?.(text)).toBe(meant);
  });

  test.each([
    ['smtp://mx.example', true],
    ['smtps://mx.example:465/', true],
    ['smtp://user:p%40ss@10.0.0.5:587', true],
    ['smtp://[::1]:25', true],
    ['smtp://localhost', true],
    ['mx.example', false],
    ['https://mx.example', false],
    ['smtp://', false],
    ['smtp://mx.example:0', false],
    ['smtp://mx.example:99999', false],
    ['smtp://user@mx.example', false],
    ['smtp://:pass@mx.example', false],
    ['smtp://user:100%@mx.example', false],
    ['smtp://us%0D%0Aer:pass@mx.example', false],
    ['smtp://mx.example/path', false],
    ['smtp://mx.example?tls=no', false],
    ['smtp://mx.example#x', false],
    ['smtp://mx_1.exam ple', false],
  ])('relay %s: %s', (text, ok) => expect(relayUrl().safeParse(text).success).toBe(ok));

  test.each([
    ['prot', 'port'],
    ['apikey', 'apiKey'],
    ['unrelated', undefined],
  ])('nearest to %s is %s', (text, expected) =>
    expect(nearest(text, ['port', 'apiKey', 'host', 'shopId'])).toBe(expected),
  );
});
