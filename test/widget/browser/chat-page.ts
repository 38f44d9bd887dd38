import type { Locator, Page } from 'playwright-core';
import { waitFor } from '../../support/wait-for.ts';

/** A line of the log as a visitor sees it. */
export interface ShownLine {
  readonly id: string;
  readonly from: string;
  readonly state: string;
  /** Everything that the line shows: its words, its files, its time. */
  readonly text: string;
}

/** Waiting is for another process: not every turn of the loop. */
const LOOK_EVERY_MS = 30;

/** The widget on a page, by the names that assistive technology and people know. */
export class ChatPage {
  readonly page: Page;
  readonly #title: string;

  /** @param title the panel's, when the shop has one of its own */
  constructor(page: Page, title = 'Chat with us') {
    this.page = page;
    this.#title = title;
  }

  get host(): Locator {
    return this.page.locator('sluice-chat');
  }

  get launcher(): Locator {
    return this.page.getByRole('button', { name: /^(Open|Close) chat/ });
  }

  get panel(): Locator {
    return this.page.getByRole('dialog', { name: this.#title, exact: true });
  }

  get log(): Locator {
    return this.page.getByRole('log', { name: 'Conversation' });
  }

  get input(): Locator {
    return this.page.getByRole('textbox', { name: 'Message', exact: true });
  }

  /** By its name, among the widget's buttons. */
  button(name: string): Locator {
    return this.host.getByRole('button', { name, exact: true });
  }

  /** Lines that show these words. */
  line(words: string): Locator {
    return this.log.locator('[data-line]').filter({ hasText: words });
  }

  /** Opens the panel and waits until one can write. */
  async open(): Promise<this> {
    // It opens by itself if it was open on the page before.
    const isOpen = await this.page.evaluate(() =>
      Object.entries(sessionStorage).some(([name, note]) => name.endsWith(':open') && note !== ''),
    );
    if (!isOpen) await this.launcher.click();
    await this.input.waitFor();
    return this;
  }

  async type(text: string): Promise<void> {
    await this.input.fill(text);
  }

  async send(text: string): Promise<void> {
    await this.type(text);
    await this.input.press('Enter');
    await this.line(text).first().waitFor();
  }

  /** Every line of the log, from the top. */
  lines(): Promise<ShownLine[]> {
    return this.log.locator('[data-line]').evaluateAll((elements) =>
      elements.map((element) => ({
        id: element.getAttribute('data-line') ?? '',
        from: element.getAttribute('data-from') ?? '',
        state: element.getAttribute('data-state') ?? '',
        text: element.textContent,
      })),
    );
  }

  /**
   * Waits until the log shows exactly these texts in this order; anything doubled, missing or
   * displaced is in the message of the failure.
   */
  async shows(texts: readonly string[]): Promise<ShownLine[]> {
    let lines: ShownLine[] = [];
    try {
      return await this.until('the lines', async () => {
        lines = await this.lines();
        const isAsTold =
          lines.length === texts.length &&
          texts.every((text, n) => lines[n]?.text.includes(text) === true);
        return isAsTold && lines;
      });
    } catch (error) {
      const shown = lines.map(({ from, state, text }) => `  ${from} ${state}: ${text}`);
      throw new Error(`not these lines: ${texts.join(' | ')}\n${shown.join('\n')}`, {
        cause: error,
      });
    }
  }

  /** Waits until the first line with these words is in one of these states. */
  async reaches(words: string, ...states: readonly string[]): Promise<void> {
    await this.log
      .locator(states.map((state) => `[data-line][data-state="${state}"]`).join(', '))
      .filter({ hasText: words })
      .first()
      .waitFor();
  }

  /** Waits until a file of the next message is whole at the gateway. */
  async uploaded(name: string): Promise<void> {
    await this.host
      .locator('[data-state="uploaded"]')
      .filter({ has: this.page.getByRole('button', { name: `Remove ${name}`, exact: true }) })
      .waitFor();
  }

  /** Waits until a picture is drawn there. */
  async drawn(place: Locator): Promise<void> {
    const canvas = place.locator('canvas').first();
    await canvas.waitFor();
    await this.until('a picture', () =>
      canvas.evaluate((drawing) => {
        const { width, height } = drawing as HTMLCanvasElement;
        const brush = (drawing as HTMLCanvasElement).getContext('2d');
        return (brush?.getImageData(width / 2, height / 2, 1, 1).data[3] ?? 0) > 0;
      }),
    );
  }

  /** Chooses from the panel's menu. */
  async choose(item: string): Promise<void> {
    await this.button('More').click();
    await this.host.getByRole('menuitem', { name: item, exact: true }).click();
  }

  /** Saves the transcript. @returns the file's path */
  async transcript(): Promise<string> {
    const downloading = this.page.waitForEvent('download');
    await this.choose('Save transcript');
    return (await downloading).path();
  }

  /** The visitor token that the widget keeps for the shop's site, as soon as it does. */
  storedToken(): Promise<string> {
    const stored = () =>
      this.page.evaluate(() => {
        const key = Object.keys(localStorage).find((name) => /^sluice:.*:session$/.test(name));
        const session: unknown = JSON.parse((key && localStorage.getItem(key)) ?? 'null');
        // As the widget wrote it.
        return (session as { token?: string } | null)?.token;
      });
    return this.until('a stored token', stored);
  }

  until<T>(what: string, probe: () => T | Promise<T>): Promise<Exclude<T, undefined | false>> {
    return waitFor(what, probe, LOOK_EVERY_MS);
  }
}
