import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { domainOf } from '../../../src/domain/email-addresses.ts';
import { createFormSenders, FORM_SERVICES } from '../../../src/channels/email/known-senders.ts';
import { isSharedDomain } from '../../../src/domain/shared-domains.ts';

const page = readFileSync('docs/connect-email.md', 'utf8');

test.each(FORM_SERVICES)('the page for operators names $service', ({ service, senders }) => {
  const [line = ''] = page.split('\n').filter((each) => each.startsWith(`| ${service} `));
  const [first = ''] = senders;
  expect(line).toContain(`\`${first}\``);
  for (const sender of senders) {
    const [, country = ''] = /^\*@(?:marketplace\.amazon|members\.ebay)(.+)$/.exec(sender) ?? [];
    expect(line).toContain(country === '.com' || country === '' ? sender : `\`${country}\``);
  }
});

test('no known service is at a domain where strangers have addresses', () => {
  const domains = FORM_SERVICES.flatMap(({ senders }) => senders).map(domainOf);
  expect(domains.filter(isSharedDomain)).toEqual([]);
});

test('form senders are the known ones and the configured, with any tag', () => {
  const forms = createFormSenders(['forms@site.example']);
  expect(forms.has('Forms+7@site.example')).toBe(true);
  expect(forms.has('notify+0a1b@web3forms.com')).toBe(true);
  expect(forms.has('x1@members.ebay.de')).toBe(true);
  expect(forms.has('mailer@shopify.com.attack.example')).toBe(false);
  expect(forms.has('mallory@shopify.com')).toBe(false);
  expect(createFormSenders([]).has('forms@site.example')).toBe(false);
});

test.each([
  ['gmail.com', true],
  ['yahoo.co.uk', true],
  ['hotmail.fr', true],
  ['gmx.at', true],
  ['web.de', true],
  ['acme.example', false],
  ['mail.yahoo.example', false],
  ['outlook.acme.com', false],
])('strangers share %s: %s', (domain, expected) => {
  expect(isSharedDomain(domain)).toBe(expected);
});
