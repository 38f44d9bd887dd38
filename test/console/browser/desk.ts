import { afterAll, beforeAll, describe, test } from '@jest/globals';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { newVisitor, startBrowser, type Visitor, whyNoBrowser } from '../../support/browser.ts';
import { ChatClient } from '../../support/chat-client.ts';
import { ends } from '../../support/ends.ts';
import { CHAT_KEY, INBOX } from '../../support/gateway-config.ts';
import { PlatformFront, type PlatformFrontOptions } from '../../support/platform-front.ts';
import { type RunningGateway, startGateway } from '../../support/running-gateway.ts';
import { sendSms, sidOf } from '../../support/sms-sender.ts';
import { SmtpClient } from '../../support/smtp-client.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { PASSWORD } from '../server/console-scene.ts';

/** More than any test takes on an idle machine, by far. */
const TEST_TIMEOUT_MS = 240_000;

export interface Mail {
  /** Of its Message-ID. */
  readonly id: string;
  readonly subject?: string;
  readonly from?: string;
  /** Header lines besides. */
  readonly headers?: readonly string[];
  readonly body?: string;
}

/** An operator's browser that is signed in. */
export interface Operator extends Visitor {
  readonly page: Page;
  /** Opens a page of the console. */
  readonly open: (path: string) => Promise<void>;
  /** Rows of the message list that have this text. */
  readonly row: (text: string) => Locator;
}

/** A whole gateway with its doors open before a platform, and a browser. */
export class Desk {
  readonly platform: PlatformFront;
  readonly gateway: RunningGateway;
  readonly #browser: Browser;

  constructor(platform: PlatformFront, gateway: RunningGateway, browser: Browser) {
    this.platform = platform;
    this.gateway = gateway;
    this.#browser = browser;
  }

  async operator(options: BrowserContextOptions = {}): Promise<Operator> {
    const visitor = await newVisitor(this.#browser, {
      viewport: { width: 1280, height: 800 },
      ...options,
    });
    const url = this.gateway.adminUrl;
    const answer = await visitor.context.request.post(`${url}/api/login`, {
      headers: { 'x-sluice-console': '1', origin: url },
      data: { password: PASSWORD },
    });
    if (!answer.ok()) throw new Error(`not signed in: ${answer.status()} ${await answer.text()}`);
    const page = await visitor.context.newPage();
    return {
      ...visitor,
      page,
      open: async (path) => {
        await page.goto(url + path);
        await page.getByRole('heading', { level: 1 }).waitFor();
      },
      row: (text) => page.locator('.entries-body .entry').filter({ hasText: text }),
    };
  }

  /** Several mails over one connection. */
  async mail(...mails: readonly Mail[]): Promise<void> {
    const client = await SmtpClient.connect(this.gateway.smtpPort);
    try {
      await client.reply();
      for (const {
        id,
        subject = 'Order',
        from = 'Ann <ann@example.com>',
        headers = [],
        body,
      } of mails) {
        await client.envelope([INBOX]);
        await client.say('DATA');
        const lines = [
          `From: ${from}`,
          `To: ${INBOX}`,
          `Message-ID: <${id}@example.com>`,
          `Subject: ${subject}`,
          ...headers,
          '',
          body ?? `This is ${id}.`,
        ];
        client.send(Buffer.from(lines.join('\r\n')));
        const reply = await client.say('\r\n.');
        if (!reply.startsWith('250')) throw new Error(reply);
      }
    } finally {
      client.destroy();
    }
  }

  /** Prints the text of the open pages, for the report of a failure. */
  async printPages(): Promise<void> {
    for (const page of this.#browser.contexts().flatMap((context) => context.pages())) {
      const shown = await page.evaluate('document.body.innerText').catch(String);
      process.stderr.write(`\n${page.url()} shows:\n${String(shown).slice(0, 3000)}\n`);
    }
  }

  async sms(name: string, parameters: Readonly<Record<string, string>>): Promise<void> {
    const { status } = await sendSms(this.gateway.httpUrl, {
      MessageSid: sidOf(name),
      ...parameters,
    });
    if (status !== 200) throw new Error(`the webhook answered ${status}`);
  }

  async chat(): Promise<ChatClient> {
    const client = await ChatClient.connect({
      url: this.gateway.httpUrl,
      auth: { key: CHAT_KEY },
    });
    ends(() => client.close());
    return client;
  }
}

type Body = (desk: Desk) => Promise<void>;
type Define = (title: string, body: Body) => void;

export interface DeskOptions extends Pick<PlatformFrontOptions, 'agent'> {
  /** Of each test, when it lasts by its nature. */
  readonly timeoutMs?: number;
}

/** Tests of the console's page in a real browser; they share one gateway, which begins empty. */
export function describeDesk(
  name: string,
  define: (test: Define) => void,
  { timeoutMs = TEST_TIMEOUT_MS, ...options }: DeskOptions = {},
): void {
  const missing = whyNoBrowser();
  if (missing !== undefined) {
    process.stderr.write(`\n!! SKIPPED: ${name}, in a browser, since ${missing}\n`);
  }
  const describeOrSkip = missing === undefined ? describe : describe.skip;
  describeOrSkip(name, () => {
    const started: (() => unknown)[] = [];
    let desk: Desk | undefined;
    beforeAll(async () => {
      const dir = tempDir();
      started.push(() => dir.remove());
      const platform = new PlatformFront({ dir: dir.path, ...options });
      started.push(() => platform.stop());
      await platform.start();
      const gateway = await startGateway({ dataDir: dir.path, platformUrl: platform.url });
      started.push(() => gateway.stop());
      const browser = await startBrowser();
      started.push(() => browser.close());
      desk = new Desk(platform, gateway, browser);
    }, TEST_TIMEOUT_MS);
    afterAll(async () => {
      for (const stop of started.splice(0).reverse()) await stop();
    }, TEST_TIMEOUT_MS);
    define((title, body) => {
      test(
        title,
        async () => {
          if (desk === undefined) throw new Error('the desk was not set up');
          try {
            await body(desk);
          } catch (error) {
            await desk.printPages();
            throw error;
          }
        },
        timeoutMs,
      );
    });
  });
}
