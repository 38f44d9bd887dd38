import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { startBrowser, whyNoBrowser } from '../../../support/browser.ts';
import { MAILS, seenWords, WAYS, WORD, wordsIn } from './hidden-ways.ts';

/** As source, since it runs in the page: the texts that somebody can read. */
const READABLE = `(() => {
  const channels = (color) => color.match(/[\\d.]+/g).map(Number);
  const alpha = (color) => channels(color)[3] ?? 1;
  const isOnItsColor = (element) => {
    const { color, textShadow, backgroundClip } = getComputedStyle(element);
    if (textShadow !== 'none' || backgroundClip === 'text') return false;
    if (alpha(color) < 0.1) return true;
    for (let each = element; each !== null; each = each.parentElement) {
      const { backgroundColor, backgroundImage } = getComputedStyle(each);
      if (backgroundImage !== 'none') return false;
      if (alpha(backgroundColor) === 0) continue;
      return [0, 1, 2].every((at) => Math.abs(channels(backgroundColor)[at] - channels(color)[at]) < 3);
    }
    return [0, 1, 2].every((at) => channels(color)[at] > 252);
  };
  const isDimmed = (element) => {
    let opacity = 1;
    for (let each = element; each !== null; each = each.parentElement) {
      const style = getComputedStyle(each);
      opacity *= Number(style.opacity) * (style.filter === 'opacity(0)' ? 0 : 1);
    }
    return opacity < 0.1;
  };
  const isReadable = (node) => {
    const element = node.parentElement;
    if (!element.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: true })) return false;
    if (Number.parseFloat(getComputedStyle(element).fontSize) < 4) return false;
    if (isDimmed(element) || isOnItsColor(element)) return false;
    const range = document.createRange();
    range.selectNodeContents(node);
    return [...range.getClientRects()].some(({ left, top, width, height }) => {
      if (width < 1 || height < 2) return false;
      const [x, y] = [left + width / 2, top + height / 2];
      // A person scrolls the page, but not a box within that cuts off.
      scrollTo(x - innerWidth / 2, y - innerHeight / 2);
      const hit = document.elementFromPoint(x - scrollX, y - scrollY);
      scrollTo(0, 0);
      return hit !== null && (hit === element || element.contains(hit));
    });
  };
  const readable = [];
  const walker = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    if (node.data.trim() === '' || node.parentElement.closest('style,title,script') !== null) continue;
    if (isReadable(node)) readable.push(node.data);
  }
  return readable.join(' ');
})()`;

let browser: Browser | undefined;
let page: Page | undefined;

beforeAll(async () => {
  if (whyNoBrowser() !== undefined) return;
  browser = await startBrowser();
  page = await browser.newPage({ viewport: { width: 1200, height: 3000 } });
  await page.route('**/*', (route) => route.abort());
});
afterAll(() => browser?.close());

/** What can be read of a document in a mail program's page, which has a doctype. */
async function readableText(html: string): Promise<string> {
  if (page === undefined) throw new Error(whyNoBrowser());
  await page.setContent(/^<!doctype/i.test(html) ? html : `<!doctype html>${html}`);
  await page.evaluate('Promise.all(document.getAnimations().map((each) => each.finished))');
  return await page.evaluate<string>(READABLE);
}

const inBrowser = whyNoBrowser() === undefined ? test : test.skip;

inBrowser('each way hides the word from people, or shows it, as the table says', async () => {
  const wrong: string[] = [];
  for (const { title, html, isShown } of WAYS) {
    const readable = await readableText(html);
    if (readable.includes(WORD) !== isShown) wrong.push(title);
  }
  expect(wrong).toEqual([]);
});

inBrowser(
  'each harmless mail shows its words, and not those that are marked as unseen',
  async () => {
    for (const { name, html } of MAILS) {
      const readable = wordsIn(await readableText(html));
      expect({ name, words: readable }).toEqual({ name, words: seenWords(html) });
    }
  },
);
