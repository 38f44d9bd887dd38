import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';

const FOLDER = new URL('../../src/widget/texts/', import.meta.url);

const textsOf = (file: string): Readonly<Record<string, unknown>> =>
  JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8')) as Record<string, unknown>;

const english = textsOf('en.json');
const placeholders = (text: unknown) => JSON.stringify(text).split('#').length - 1;

test.each(readdirSync(FOLDER))('%s has the texts that English has', (file) => {
  const { unread, ...texts } = textsOf(file);
  const { unread: _unread, ...expected } = english;
  expect(Object.keys(texts).toSorted()).toEqual(Object.keys(expected).toSorted());
  for (const [key, text] of Object.entries(texts)) {
    expect({ key, type: typeof text }).toEqual({ key, type: 'string' });
    const [has, needs] = [text, expected[key]].map(placeholders);
    expect({ key, placeholders: has }).toEqual({ key, placeholders: needs });
  }
  const { pluralCategories } = new Intl.PluralRules(file.slice(0, 2)).resolvedOptions();
  const forms = Object.entries(unread as Record<string, unknown>);
  expect(pluralCategories).toEqual(expect.arrayContaining(forms.map(([category]) => category)));
  expect(forms).toContainEqual(['other', expect.stringContaining('#')]);
});
