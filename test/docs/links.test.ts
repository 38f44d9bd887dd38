import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from '@jest/globals';
import { pages } from './pages.ts';

const all = pages();
const byFile = new Map(all.map((page) => [page.file, page]));

test.each(all.map((page) => [page.file, page] as const))(
  'the links of %s lead somewhere',
  (_file, page) => {
    const broken = page.links.filter((link) => {
      if (/^(?:https?|mailto):/.test(link)) return !URL.canParse(link);
      const [path = '', anchor] = link.split('#', 2);
      const target = path === '' ? page.file : normalize(join(dirname(page.file), decodeURI(path)));
      if (!existsSync(target)) return true;
      if (anchor === undefined) return false;
      return byFile.get(target)?.anchors.includes(anchor) !== true;
    });
    expect(broken).toEqual([]);
  },
);

test('every page can be reached from the README', () => {
  const reached = new Set(['README.md']);
  for (const file of reached) {
    for (const link of byFile.get(file)?.links ?? []) {
      const target = normalize(join(dirname(file), link.split('#', 1)[0] ?? ''));
      if (byFile.has(target)) reached.add(target);
      // A link to a folder leads to all of its pages.
      for (const page of byFile.keys()) if (dirname(page) === target) reached.add(page);
    }
  }
  expect([...byFile.keys()].filter((file) => !reached.has(file))).toEqual([]);
});

// A heading that is there twice is a section that was pasted twice, and its links lead to the first.
// Each version of a changelog has the same ones.
test.each(
  all.filter(({ file }) => file !== 'CHANGELOG.md').map((page) => [page.file, page] as const),
)('no heading of %s is there twice', (_file, { anchors }) => {
  expect(anchors.filter((anchor, index) => anchors.indexOf(anchor) !== index)).toEqual([]);
});
