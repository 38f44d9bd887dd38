import { cpSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import express from 'express';
import { newVisitor, startBrowser, whyNoBrowser } from '../../support/browser.ts';
import { ends } from '../../support/ends.ts';
import { CHAT_KEY } from '../../support/gateway-config.ts';
import { PlatformFront } from '../../support/platform-front.ts';
import { startGateway } from '../../support/running-gateway.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { ScriptedAgent } from './scripted-agent.ts';
import { ChatPage } from './chat-page.ts';
import { install, ROOT, run } from '../../package/packed-project.ts';

const TIMEOUT_MS = 240_000;
const PACKAGES = ['react', 'react-dom', '@types/react', '@types/react-dom', 'vite'];
const describeOrSkip = whyNoBrowser() === undefined ? describe : describe.skip;

/** A server of the built page, which is made with the gateway's address. */
async function serve(folder: string): Promise<string> {
  const server = createServer(express().use(express.static(folder))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describeOrSkip('the React example', () => {
  const { path: dir, remove } = tempDir();
  beforeAll(async () => {
    cpSync(join(ROOT, 'docs/examples/react'), dir, { recursive: true });
    await install(dir, PACKAGES);
  }, TIMEOUT_MS);
  afterAll(remove);

  test(
    'builds in a new vite project, and its page has the chat, in strict mode too',
    async () => {
      const data = tempDir();
      const platform = new PlatformFront({ dir: data.path, agent: new ScriptedAgent() });
      await platform.start();
      ends(async () => {
        await platform.stop();
        data.remove();
      });
      const dist = join(dir, 'dist');
      const origin = await serve(dist);
      const gateway = await startGateway({
        dataDir: data.path,
        platformUrl: platform.url,
        chat: { origins: [origin], allowNoOrigin: false },
      });
      ends(() => gateway.stop());

      const types = await run(
        process.execPath,
        [join(ROOT, 'node_modules/typescript/bin/tsc')],
        dir,
      );
      expect(types).toEqual({ code: 0, output: '' });
      const vite = join(ROOT, 'node_modules/vite/bin/vite.js');
      const env = { VITE_GATEWAY: gateway.httpUrl, VITE_KEY: CHAT_KEY };
      const built = await run(process.execPath, [vite, 'build'], dir, env);
      expect(built).toMatchObject({ code: 0 });

      const browser = await startBrowser();
      ends(() => browser.close());
      const { context, faults } = await newVisitor(browser);
      const page = await context.newPage();
      const chat = new ChatPage(page);
      await page.goto(origin);
      await page.getByRole('button', { name: 'Help' }).click();
      await chat.input.waitFor();
      await chat.send('Words from a React page');
      const host = await chat.host.elementHandle();
      await page.getByRole('button', { name: 'Buy shoes' }).click();
      await page.locator('script[data-cart="shoes: 1"]').waitFor({ state: 'attached' });
      // It is the same widget.
      expect(await host.evaluate(({ isConnected }) => isConnected)).toBe(true);
      await page.getByRole('button', { name: 'Remove the chat' }).click();
      await chat.host.waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Add the chat' }).click();
      await chat.line('Words from a React page').first().waitFor();
      await page.getByRole('button', { name: 'Where is my order?' }).click();
      await chat.line('Where is my order?').first().waitFor();
      expect(await chat.host.count()).toBe(1);
      expect(faults).toEqual([]);
    },
    TIMEOUT_MS,
  );
});
