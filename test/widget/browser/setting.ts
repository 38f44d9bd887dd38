import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, test } from '@jest/globals';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import type { MessageRow } from '../../../src/local-platform/store/rows.ts';
import { ChatClient } from '../../support/chat-client.ts';
import { ends } from '../../support/ends.ts';
import { newVisitor, pictureFile, startBrowser, whyNoBrowser } from '../../support/browser.ts';
import { CHAT_KEY } from '../../support/gateway-config.ts';
import { type HostPage, type HostSite, startHostSite } from '../../support/host-site.ts';
import { PlatformFront } from '../../support/platform-front.ts';
import { type RunningGateway, startGateway } from '../../support/running-gateway.ts';
import { SwitchedProxy } from '../../support/switched-proxy.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { ChatPage } from './chat-page.ts';
import { type Reply, ScriptedAgent } from './scripted-agent.ts';

export const IDENTITY_SECRET = 'a secret of the shop that its own server keeps';

export interface VisitChoices extends Omit<Partial<HostPage>, 'gatewayUrl' | 'key'> {
  /** The browser's own. */
  readonly browser?: BrowserContextOptions;
}

/** One browser profile on the shop's site. */
export interface Visit {
  readonly chat: ChatPage;
  /** The same page in another tab. */
  anotherTab(): Promise<ChatPage>;
  goOffline(): Promise<void>;
  goOnline(): Promise<void>;
}

/** What the tests of one file share. */
export interface Setting {
  readonly platform: PlatformFront;
  readonly proxy: SwitchedProxy;
  /** Where the gateway listens now, past the proxy. */
  readonly gateway: RunningGateway;
  /** Another process in the same folder, as after an update. */
  restartGateway(): Promise<void>;
  visit(choices?: VisitChoices): Promise<Visit>;
  /** A client without a page, with the token that this visitor's browser keeps. */
  otherDevice(visit: Visit): Promise<ChatClient>;
  /** What customers' messages that begin so look like at the platform, in order. */
  arrived(beginning: string): readonly MessageRow[];
  /** What the agent will say to a message with these words; else it repeats them. */
  script(words: string, reply: Reply): void;
}

/** Longer than an action in the browser may take, so that a failure names the action. */
const TEST_TIMEOUT_MS = 120_000;

type Body = (setting: Setting) => Promise<void>;
/** @param timeoutMs for a test that lasts by its nature */
type Define = (title: string, body: Body, timeoutMs?: number) => void;

/**
 * Tests in a real browser, on a shop's page of another origin, before a whole gateway and a local
 * platform. They share all of it, and each has a visitor of its own.
 */
export function describeInBrowser(
  name: string,
  define: (test: Define) => void,
  chat: Readonly<Record<string, unknown>> = {},
): void {
  const missing = whyNoBrowser();
  if (missing !== undefined) {
    process.stderr.write(`\n!! SKIPPED: ${name}, in a browser, since ${missing}\n`);
  }
  const describeOrSkip = missing === undefined ? describe : describe.skip;
  describeOrSkip(name, () => {
    let setting: Promise<SharedSetting> | undefined;
    beforeAll(() => (setting = SharedSetting.start(chat)), TEST_TIMEOUT_MS);
    // Also what has started too late: it would keep the process.
    afterAll(async () => (await setting)?.stop(), TEST_TIMEOUT_MS);
    define((title, body, timeoutMs = TEST_TIMEOUT_MS) => {
      test(title, async () => (await setting)?.run(title, body), timeoutMs);
    });
  });
}

class SharedSetting {
  readonly #dir = tempDir();
  readonly #agent = new ScriptedAgent();
  readonly #platform = new PlatformFront({ dir: this.#dir.path, agent: this.#agent });
  readonly #chat: Readonly<Record<string, unknown>>;
  readonly #started: (() => unknown)[] = [];
  #site!: HostSite;
  #proxy!: SwitchedProxy;
  #gateway!: RunningGateway;
  #browser!: Browser;

  private constructor(chat: Readonly<Record<string, unknown>>) {
    this.#chat = chat;
  }

  static async start(chat: Readonly<Record<string, unknown>>): Promise<SharedSetting> {
    const setting = new SharedSetting(chat);
    try {
      await setting.#start();
    } catch (error) {
      await setting.stop();
      throw error;
    }
    return setting;
  }

  async stop(): Promise<void> {
    for (const stop of this.#started.splice(0).reverse()) await stop();
    this.#dir.remove();
  }

  async #start(): Promise<void> {
    this.#platform.rewriteMessages = (list) => this.#agent.inItsFormat(list);
    await this.#platform.start();
    this.#started.push(() => this.#platform.stop());
    this.#site = await startHostSite();
    this.#started.push(() => this.#site.stop());
    this.#gateway = await this.#newGateway();
    this.#started.push(() => this.#gateway.stop());
    this.#proxy = await SwitchedProxy.start(this.#gateway.httpUrl);
    this.#started.push(() => this.#proxy.stop());
    this.#browser = await startBrowser();
    this.#started.push(() => this.#browser.close());
  }

  #newGateway(): Promise<RunningGateway> {
    return startGateway({
      dataDir: this.#dir.path,
      platformUrl: this.#platform.url,
      chat: {
        origins: [this.#site.origin],
        allowNoOrigin: false,
        identitySecrets: [IDENTITY_SECRET],
        ...this.#chat,
      },
    });
  }

  /** Runs one test; a failure leaves pictures, and its message says where. */
  async run(title: string, body: Body): Promise<void> {
    const pages: ChatPage[] = [];
    const checks: (() => void)[] = [];
    this.#proxy.up();
    try {
      await body({
        platform: this.#platform,
        proxy: this.#proxy,
        gateway: this.#gateway,
        restartGateway: async () => {
          await this.#gateway.stop();
          this.#gateway = await this.#newGateway();
          this.#proxy.leadTo(this.#gateway.httpUrl);
        },
        visit: (choices) => this.#visit(pages, checks, choices),
        otherDevice: (visit) => this.#otherDevice(visit),
        arrived: (beginning) =>
          this.#platform.messages.filter(({ content }) => content.startsWith(beginning)),
        script: (words, reply) => this.#agent.script(words, reply),
      });
      for (const check of checks) check();
    } catch (error) {
      throw await withPictures(error, title, pages);
    }
  }

  async #otherDevice({ chat }: Visit): Promise<ChatClient> {
    const token = await chat.storedToken();
    const client = await ChatClient.connect({
      url: this.#gateway.httpUrl,
      origin: this.#site.origin,
      auth: { key: CHAT_KEY, token },
    });
    ends(() => client.close());
    return client;
  }

  async #visit(
    pages: ChatPage[],
    checks: (() => void)[],
    { browser = {}, ...page }: VisitChoices = {},
  ): Promise<Visit> {
    const { context, strangers, faults } = await newVisitor(this.#browser, browser);
    checks.push(() => {
      if (strangers.length + faults.length > 0) {
        throw new Error(`the page misbehaved: ${[...faults, ...strangers].join(', ')}`);
      }
    });
    const url = this.#site.pageUrl({ gatewayUrl: this.#proxy.url, key: CHAT_KEY, ...page });
    const open = async (): Promise<ChatPage> => {
      const tab = await context.newPage();
      const chat = new ChatPage(tab);
      pages.push(chat);
      await tab.goto(url);
      return chat;
    };
    return {
      chat: await open(),
      anotherTab: open,
      // The browser says that it is offline, but keeps a WebSocket open: the line is cut as well.
      goOffline: async () => {
        await context.setOffline(true);
        this.#proxy.down();
      },
      goOnline: async () => {
        this.#proxy.up();
        await context.setOffline(false);
      },
    };
  }
}

async function withPictures(
  error: unknown,
  title: string,
  pages: readonly ChatPage[],
): Promise<unknown> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-browser-'));
  for (const [n, { page }] of pages.entries()) {
    if (page.isClosed()) continue;
    await page
      .screenshot({ path: pictureFile(folder, `${title}-${n + 1}`), timeout: 5_000 })
      .catch(() => undefined);
  }
  if (error instanceof Error) error.message += `\nPictures of the pages: ${folder}`;
  return error;
}
