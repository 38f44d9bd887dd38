import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { KEPT_WORDS } from '../../../src/channels/email/fixture/kept-words.ts';
import { neutralCopy } from '../../../src/channels/email/fixture/neutral-copy.ts';
import { NeutralWords } from '../../../src/channels/email/fixture/neutral-words.ts';
import { explainEmail } from '../../../src/channels/email/normalize/explain-email.ts';
import { compileShop } from '../../../src/channels/email/shop.ts';
import { runCases } from '../../support/run-count.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { fixtureNames } from './normalize/fixture-messages.ts';
import { emailJob, shopSettings } from './normalize/jobs.ts';

const scratch = tempDir();
afterAll(() => scratch.remove());

const NAMES = new Map([
  ['support@acme.example', 'support@acme.example'],
  ['<m1@acme.example>', '<m1@acme.example>'],
]);
const copyOf = (message: Uint8Array) => neutralCopy(message, new NeutralWords(KEPT_WORDS, NAMES));

async function readingOf(bytes: Uint8Array) {
  const { reading } = await explainEmail(emailJob(bytes, scratch.path), {
    shop: compileShop(shopSettings),
    maxBufferBytes: Infinity,
    isKnown: (ids) => Promise.resolve(ids.includes('<m1@acme.example>')),
  });
  const { parts, body, quotes } = reading;
  return {
    parts: parts.map(({ type, use }) => `${type}: ${use}`),
    body,
    cut: quotes.cut.map(({ rule, lines }) => `${rule}: ${lines}`),
  };
}

const message = (lines: readonly string[]) => Buffer.from(lines.join('\r\n'));

describe('a neutral copy', () => {
  const secret = message([
    'From: "Grace Hopper" <grace.hopper@navy.example>',
    'To: Acme Support <support@acme.example>',
    'Subject: =?utf-8?Q?Caf=C3=A9_order?= 4711998',
    'Date: Mon, 5 Jan 2026 10:00:00 +0100',
    'In-Reply-To: <m1@acme.example>',
    'Content-Type: multipart/mixed; boundary="=_b"',
    ...['', '--=_b', 'Content-Type: text/plain; charset=iso-8859-2', ''],
    'My telephone is +1 415 555 2671, \xb9koda. See https://navy.example/grace?id=7788',
    ...['', 'On Mon, 5 Jan 2026 at 08:00, Acme <support@acme.example> wrote:', '> Hello Grace'],
    ...['', 'Sent from my iPhone', '--=_b'],
    'Content-Type: text/html; charset=utf-8',
    'Content-Transfer-Encoding: quoted-printable',
    ...['', '<p class=3D"MsoNormal" title=3D"Hopper">Z=C3=BCrich &amp; Grace<br></p>', '--=_b'],
    ...[
      'Content-Type: application/pdf; name="Hopper.pdf"',
      'Content-Transfer-Encoding: base64',
      '',
    ],
    ...[Buffer.from('%PDF-1.4 and much about Grace Hopper').toString('base64'), '--=_b--', ''],
  ]);
  const copy = Buffer.from(copyOf(Buffer.from(secret.toString('latin1'), 'latin1')));
  const text = copy.toString('latin1');

  test('keeps no word, name, address, number or file of the person', () => {
    for (const word of ['grace', 'hopper', 'navy', '4711998', '2671', '7788', 'koda', 'rich']) {
      expect(text.toLowerCase()).not.toContain(word);
    }
    expect(text).not.toContain(Buffer.from('about Grace').toString('base64').slice(0, 8));
  });

  test('keeps structure, dates, encodings, and the words that Sluice looks for', () => {
    expect(text).toContain('boundary="=_b"');
    expect(text).toContain('On Mon, 5 Jan 2026 at 08:00, ');
    expect(text).toMatch(/<support@acme\.example> wrote:\r\n> /);
    expect(text).toContain('Sent from my iPhone\r\n--=_b');
    expect(text).toContain('<p class=3D"MsoNormal" title=3D');
    expect(text).toContain('&amp;');
    expect(text).toMatch(/Subject: =\?utf-8\?Q\?[\w=]+\?= \d{7}\r\n/);
    expect(text).toContain(Buffer.from('%PDF-1.4 and much').toString('base64').slice(0, 8));
    expect(text.split('\r\n')).toHaveLength(secret.toString('latin1').split('\r\n').length);
  });

  test('writes the same for the same', () => {
    const name = /^From: "(\w+)/m.exec(text)?.[1];
    expect(name).toMatch(/^[A-Z][a-z]{4}$/);
    expect(text).toMatch(new RegExp(`^> \\w{5} ${name}\r$`, 'm'));
  });
});

test('the copy of nearly every fixture is read like its original', async () => {
  const names = runCases(fixtureNames());
  const different: string[] = [];
  for (const name of names) {
    const bytes = readFileSync(join(import.meta.dirname, `../../fixtures/email/${name}.eml`));
    const [before, after] = [await readingOf(bytes), await readingOf(copyOf(bytes))];
    if (JSON.stringify(before) !== JSON.stringify(after)) different.push(name);
  }
  expect(different.length / names.length).toBeLessThan(0.1);
});
