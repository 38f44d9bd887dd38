import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { subscriberOf } from '../../src/domain/phone-forms.ts';
import { countriesOf, readPerson } from '../../src/cli/erase-person.ts';

const US = ['+15550001111'];
const kindOf = (typed: string) => readPerson(typed, countriesOf(US)).reading;

describe('what is typed', () => {
  test.each([
    ['ann@example.com', { kind: 'email', key: 'ann@example.com' }],
    [' Ann.Lee+shop@EXAMPLE.com ', { kind: 'email', key: 'ann.lee@example.com' }],
    ['Ann Lee <ann@BÜCHER.example>', { kind: 'email', key: 'ann@xn--bcher-kva.example' }],
    ['mailto:ann@example.com', { kind: 'email', key: 'ann@example.com' }],
    ['+1 (415) 555-2671', { kind: 'number', key: '+14155552671' }],
    ['0014155552671', { kind: 'number', key: '+14155552671' }],
    ['tel:+1-415-555-2671', { kind: 'number', key: '+14155552671' }],
    ['whatsapp:+14155552671', { kind: 'number', key: '+14155552671' }],
    ['(415) 555-2671', { kind: 'number', key: '+14155552671' }],
    ['415.555.2671', { kind: 'number', key: '+14155552671' }],
    ['1 415 555 2671', { kind: 'number', key: '+14155552671' }],
    ['+44 (0)20 7946 0958', { kind: 'number', key: '+442079460958' }],
    ['customer-42', { kind: 'visitor', key: 'customer-42' }],
    [
      '9f86d081884c7d659a2feaa0c55ad015',
      { kind: 'visitor', key: '9f86d081884c7d659a2feaa0c55ad015' },
    ],
  ])('%s', (typed, reading) => {
    expect(kindOf(typed)).toEqual(reading);
  });

  test('a number that several countries may have is not guessed', () => {
    expect(() => readPerson('0171 2345678', ['DE', 'GB'])).toThrow(/country code/);
  });
});

test('one person is not taken for another', () => {
  const ann = readPerson('ann@example.com', []);
  for (const other of [
    'joann@example.com',
    'ann@example.com.evil.example',
    'ann@sub.example.com',
  ]) {
    expect([other, ann.is(other), ann.isNamedIn(`<${other}>`)]).toEqual([other, false, false]);
  }
  const number = readPerson('+14155552671', []);
  for (const other of ['+14155552672', '+141555526710', '+24155552671']) {
    expect([other, number.is(other)]).toEqual([other, false]);
  }
  expect(number.isNamedIn('order 914155552671')).toBe(false);
});

const local = fc.stringMatching(/^[a-z0-9]([a-z0-9._-]{0,10}[a-z0-9])?$/);
const domain = fc
  .tuple(
    fc.stringMatching(/^[a-z][a-z0-9-]{0,8}[a-z0-9]$/),
    fc.constantFrom('example', 'test', 'com'),
  )
  .map((labels) => labels.join('.'));
const anyCase = (text: string) =>
  fc
    .array(fc.boolean(), { minLength: text.length, maxLength: text.length })
    .map((upper) =>
      Array.from(text, (char, at) => (upper[at] ? char.toUpperCase() : char)).join(''),
    );

test('an address is his in any case, with any tag, in any text', () => {
  const written = fc
    .tuple(local, domain, fc.option(fc.stringMatching(/^[a-z0-9]{1,6}$/)))
    .chain(([name, host, tag]) =>
      fc.tuple(
        fc.constant(`${name}@${host}`),
        anyCase(`${name}${tag === null ? '' : `+${tag}`}@${host}`),
      ),
    );
  fc.assert(
    fc.property(written, ([address, form]) => {
      for (const typed of [address, form]) {
        const person = readPerson(typed, []);
        expect(person.is(form)).toBe(true);
        expect(person.isNamedIn(`Cc: "A" <${form}>, b@c.example`)).toBe(true);
        expect(person.isNamedIn(`?to=${form.replace('@', '%40')}&x`)).toBe(true);
      }
    }),
  );
});

test('a number is his however it is written', () => {
  const digits = fc.stringMatching(/^[2-9]\d{2}[2-9]\d{6}$/);
  const separator = fc.constantFrom('', ' ', '-', '.', ' - ');
  fc.assert(
    fc.property(digits, separator, separator, (national, one, two) => {
      const [area, exchange, line] = [
        national.slice(0, 3),
        national.slice(3, 6),
        national.slice(6),
      ];
      const rest = `${exchange}${two}${line}`;
      const forms = [
        `+1${one}${area}${one}${rest}`,
        `001${one}${area}${one}${rest}`,
        `(${area})${one}${rest}`,
        `${area}${one}${rest}`,
      ];
      for (const form of forms) {
        const person = readPerson(form, countriesOf(US));
        expect([form, person.reading]).toEqual([form, { kind: 'number', key: `+1${national}` }]);
        for (const other of forms) expect(person.isNamedIn(`at ${other}, please`)).toBe(true);
        expect(person.is(`whatsapp:+1${national}`)).toBe(true);
        expect(person.hasSmsLane(`AC0/sms/+15550001111/+1${national}`)).toBe(true);
      }
    }),
  );
});

test('both forms of a number that networks write in two ways are one person', () => {
  for (const [one, other] of [
    ['+5521987654321', '+552187654321'],
    ['+5491123456789', '+541123456789'],
    ['+5215512345678', '+525512345678'],
  ] as const) {
    for (const [typed, stored] of [
      [one, other],
      [other, one],
    ] as const) {
      const person = readPerson(typed, []);
      const named = person.isNamedIn(`from ${stored}.`);
      expect([typed, person.is(stored), named, person.countedAs]).toEqual([
        typed,
        true,
        true,
        [subscriberOf(stored)],
      ]);
    }
  }
});

test('a WhatsApp user without a number is found by the id, with and without its prefix', () => {
  const id = 'US.13491208655302741918';
  for (const typed of [id, `whatsapp:${id}`]) {
    const person = readPerson(typed, []);
    expect(person.is(`whatsapp:${id}`)).toBe(true);
    expect(person.hasSmsLane(`AC0/whatsapp/+15550001111/${id}`)).toBe(true);
    expect(person.hasSmsLane(`AC0/whatsapp/+15550001111/${id}0`)).toBe(false);
    expect(person.countedAs).toEqual([id]);
  }
});
