import { statSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { describeWhenPossible, installAndUse, packed, plainUser, TIMEOUT_MS } from './installed.ts';
import type { PlainUser } from './plain-user.ts';

const MAX_PACKED_BYTES = 8 * 1024 * 1024;
/** Another one than this process has. */
const OTHER_NODE = process.versions.node.startsWith('22.') ? '24.9.0' : '22.23.3';

test('the package holds what runs, with its licences, and nothing else', () => {
  const { files, tarball } = packed;
  const unexpected = files.filter(
    (file) =>
      !/^(?:package\.json|README\.md|LICENSE|config\/.+|dist\/.+\.(?:js|css|svg|json|html|d\.ts|licenses\.md)|dist\/.+\/licenses\.md)$/.test(
        file,
      ),
  );
  expect(unexpected).toEqual([]);
  expect(files).toEqual(
    expect.arrayContaining([
      'dist/main.js',
      'dist/program/licenses.md',
      'dist/widget/licenses.md',
      'dist/console/page/licenses.md',
      'dist/declarations/index.d.ts',
    ]),
  );
  expect(files.length).toBeLessThan(300);
  expect(statSync(tarball).size).toBeLessThan(MAX_PACKED_BYTES);
});

describeWhenPossible('a plain user with nothing but Node and npm', () => {
  test(
    'installs the package, serves all three channels and stops it; under another Node they learn what to do',
    async () => {
      const user = plainUser();
      const app = await installAndUse(user);
      await expectAdviceUnderAnotherNode(user, app);
    },
    TIMEOUT_MS,
  );
});

/** No file of the data folder is blamed, which an operator would move away. */
async function expectAdviceUnderAnotherNode(user: PlainUser, app: string): Promise<void> {
  await user.useNode(OTHER_NODE);
  const { code, output } = await user.run('npx', ['sluice', 'serve'], app);
  expect(output).toContain(
    `the database driver (better-sqlite3) is not built for this Node, ${OTHER_NODE}. In the folder that Sluice is ` +
      'installed in, run: npm rebuild better-sqlite3.',
  );
  expect(output).not.toContain('Move it away');
  expect(code).toBe(2);
}
