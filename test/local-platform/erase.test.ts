import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { readPerson } from '../../src/cli/erase-person.ts';
import { emailsTo } from '../../src/local-platform/erase.ts';
import { ends } from '../support/ends.ts';
import { tempDir } from '../support/temp-dir.ts';

test.each([
  ['ann@x.example', true],
  ['Ann Lee <ANN+orders@X.example>', true],
  ['"Lee, Ann" <ann@x.example>', true],
  ['"ann"@x.example', true],
  ["o'ann@x.example", false],
  ['üann@x.example', false],
  ['joann@x.example', false],
  ['ann@x.example.org', false],
  ['"ann@x.example" <bob@x.example>', false],
])('an email of the outbox to %s is hers: %s', async (to, isHers) => {
  const folder = tempDir();
  ends(() => folder.remove());
  const headers = `From: support@acme.example\r\nTo: ${to}\r\nSubject: ann@x.example`;
  writeFileSync(join(folder.path, 'one.eml'), `${headers}\r\n\r\nHello ann@x.example`);
  const { is, isNamedIn } = readPerson('ann@x.example', []);
  const found = await emailsTo(folder.path, { is, isNamedIn, replies: new Set() });
  expect(found).toEqual(isHers ? ['one.eml'] : []);
});
