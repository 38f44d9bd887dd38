import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { LocalPlatform } from '../../src/local-platform/local-platform.ts';
import { anEmail, call, create, SHOP, startPlatform } from '../local-platform/harness.ts';
import { tempDir } from '../support/temp-dir.ts';
import { install, NAME, type Ran, ROOT, run } from './packed-project.ts';

/** Packing, compiling and three processes, on a machine that may be busy. */
const TIMEOUT_MS = 240_000;

/** Compiles some files of the project, as strictly as possible, and all declarations with them. */
async function compile(
  dir: string,
  files: readonly string[],
  { skipLibCheck = false } = {},
): Promise<Ran> {
  const compilerOptions = {
    target: 'es2022',
    module: 'nodenext',
    moduleResolution: 'nodenext',
    types: ['node'],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noPropertyAccessFromIndexSignature: true,
    skipLibCheck,
  };
  writeFileSync(join(dir, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  return run(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', '.'], dir);
}

/** The TypeScript of the documentation, as it stands there. */
const examples = () =>
  [...readFileSync(join(ROOT, 'docs/client.md'), 'utf8').matchAll(/```ts\n(.*?)```/gs)].map(
    ([, code = '']) => code,
  );

describe('a project that has installed the package', () => {
  const { path: dir, remove } = tempDir();
  beforeAll(() => install(dir, ['@types/node']), TIMEOUT_MS);
  afterAll(remove);

  const node = (file: string, platform?: LocalPlatform) =>
    run(process.execPath, [file], dir, {
      PLATFORM_URL: platform?.url,
      PLATFORM_API_KEY: SHOP.apiKey,
      PLATFORM_SHOP_ID: SHOP.shopId,
    });

  test(
    'compiles and runs the examples of the documentation',
    async () => {
      const platform = await startPlatform();
      await create(platform, anEmail({ message: { content: 'Hello' } }));
      const names = examples().map((code, index) => {
        writeFileSync(join(dir, `example-${index}.ts`), code);
        return `example-${index}`;
      });
      expect(names).toHaveLength(3);
      const compiled = await compile(
        dir,
        names.map((name) => `${name}.ts`),
      );
      expect(compiled).toEqual({ code: 0, output: '' });
      // One after the other: the first counts, the second adds.
      const ran: Ran[] = [];
      for (const name of names) ran.push(await node(`${name}.js`, platform));
      const [read, written, refused] = ran;
      expect(read).toEqual({ code: 0, output: '1 tickets this week\n1 New Hello\n' });
      expect(written?.output).toMatch(/^201 [0-9a-f-]{36} [0-9a-f-]{36}\n$/);
      expect(written?.code).toBe(0);
      expect(refused?.output).toMatch(/^http 400 false undefined\ncreated_at__range \S.*\n$/);
      expect(refused?.code).toBe(0);
      const { body } = await call<{ count: number }>(platform, 'GET', '/tickets/count/');
      expect(body.count).toBe(2);
    },
    TIMEOUT_MS,
  );

  test(
    'is told by its compiler what the API does not take',
    async () => {
      const wrong = [
        `import { PlatformClient } from '${NAME}';`,
        "const client = new PlatformClient({ baseUrl: '', apiKey: '', shopId: '' });",
        "await client.listTickets({ status: 'Open' });",
        "await client.listMessages({ limit: '5' });",
        'const name: number = (await client.getTicket("")).name;',
        'await client.createEvent({ description: String(name) });',
      ];
      writeFileSync(join(dir, 'wrong.ts'), wrong.join('\n'));
      const { code, output } = await compile(dir, ['wrong.ts'], { skipLibCheck: true });
      expect(code).not.toBe(0);
      const lines = [...output.matchAll(/^wrong\.ts\((\d+),/gm)].map(([, line]) => Number(line));
      expect(lines).toEqual([3, 4, 5, 6]);
    },
    TIMEOUT_MS,
  );

  test(
    'gets the client alone, and no way into the rest',
    async () => {
      writeFileSync(
        join(dir, 'inside.js'),
        `import * as sluice from '${NAME}';
         console.log(Object.keys(sluice).sort().join());
         await import('${NAME}/dist/gateway/gateway.js').catch(({ code }) => console.log(code));`,
      );
      expect(await node('inside.js')).toEqual({
        code: 0,
        output:
          'ConnectionPool,MediaSourceError,PlatformClient,PlatformError,cursorOf,items\n' +
          'ERR_PACKAGE_PATH_NOT_EXPORTED\n',
      });
    },
    TIMEOUT_MS,
  );
});
