import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { ACTIVE_FILES, type OfferedFile, RAN } from '../../../support/active-files.ts';
import { startBrowser, whyNoBrowser } from '../../../support/browser.ts';
import type { ChatClient } from '../../../support/chat-client.ts';
import { ends } from '../../../support/ends.ts';
import { HARMLESS_FILES } from '../../../support/harmless-files.ts';
import { aShop, ChatGateway, ROOMY } from '../chat-gateway.ts';

/** Fewer than may wait to be used. */
const FILES_PER_VISITOR = 8;
const UNKNOWN = 'application/octet-stream';

/** The type under which each file is stored; undefined for one that is refused. */
async function storedTypes(files: readonly OfferedFile[]): Promise<(string | undefined)[]> {
  const chat = await ChatGateway.start({ shops: [aShop({ limits: ROOMY })] });
  ends(() => chat.stop());
  const types: (string | undefined)[] = [];
  let client: ChatClient | undefined;
  for (const [nth, file] of files.entries()) {
    if (nth % FILES_PER_VISITOR === 0 || client === undefined) {
      client?.close();
      client = await chat.connect();
    }
    const answer = await client.upload(file);
    expect([file.what, [201, 415].includes(answer.status)]).toEqual([file.what, true]);
    const { type } = (await answer.json()) as { type?: string };
    types.push(type);
  }
  return types;
}

test('200 harmless files are taken, each under a type that fits', async () => {
  expect(HARMLESS_FILES).toHaveLength(200);
  const types = await storedTypes(HARMLESS_FILES);
  expect(HARMLESS_FILES.map(({ what }, nth) => [what, types[nth]])).toEqual(
    HARMLESS_FILES.map(({ what, stored }) => [what, stored]),
  );
});

const inBrowser = whyNoBrowser() === undefined ? test : test.skip;

inBrowser(
  'files that browsers run are refused or downloads of no type, and none of them runs',
  async () => {
    expect(ACTIVE_FILES.length).toBeGreaterThanOrEqual(60);
    const types = await storedTypes(ACTIVE_FILES);
    const wrong = ACTIVE_FILES.flatMap(({ what }, nth) =>
      [undefined, UNKNOWN].includes(types[nth]) ? [] : [`${what}: ${types[nth]}`],
    );
    expect(wrong).toEqual([]);

    const { openAll } = await servedToBrowser();
    // Under the types that careless servers send most of them run: the test would see it.
    const page = (nth: number): string => (nth % 2 === 0 ? 'text/html' : 'application/xml');
    expect(await openAll(page)).toBeGreaterThan(ACTIVE_FILES.length / 4);
    expect(await openAll((nth) => types[nth])).toBe(0);
  },
);

/** A server that sends each active file under a type that the test says, and a browser. */
async function servedToBrowser() {
  let typeOf: (nth: number) => string | undefined = () => undefined;
  let ran = 0;
  const server = createServer((request, response) => {
    const { url = '' } = request;
    const file = ACTIVE_FILES[Number(/^\/file\/(\d+)/.exec(url)?.[1])];
    if (url === RAN) ran += 1;
    if (file === undefined) {
      response.writeHead(200, { 'Content-Type': 'text/html' }).end();
      return;
    }
    const type = typeOf(ACTIVE_FILES.indexOf(file));
    response
      .writeHead(200, { ...(type !== undefined && { 'Content-Type': type }) })
      .end(file.bytes);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends(() => void server.close());
  ends(() => server.closeAllConnections());
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const browser = await startBrowser();
  ends(() => browser.close());
  const openAll = async (as: (nth: number) => string | undefined): Promise<number> => {
    [typeOf, ran] = [as, 0];
    const page = await browser.newPage();
    for (const nth of ACTIVE_FILES.keys()) {
      // A refused file is nowhere.
      if (as(nth) === undefined) continue;
      // A download ends the navigation.
      await page.goto(`${origin}/file/${nth}`, { waitUntil: 'load' }).catch(() => undefined);
    }
    await page.goto(`${origin}/`, { waitUntil: 'networkidle' });
    await page.close();
    return ran;
  };
  return { openAll };
}
