import type { Page } from 'playwright-core';

export interface ShownMessage {
  /** The tabs that were opened. */
  readonly tabs: readonly string[];
  /** Everything that the page showed, but for what is in a frame. */
  readonly text: string;
}

export interface ShownList {
  readonly ids: ReadonlySet<string>;
  readonly senders: readonly string[];
  readonly subjects: readonly string[];
}

/** Someone who opens everything, much faster than anybody could: one call for each thing opened. */
export interface ConsoleTour {
  /** From the top of the list to its end. */
  wholeList(): Promise<ShownList>;
  search(text: string): Promise<void>;
  /** With its content, in every tab. */
  openMessage(id: string): Promise<ShownMessage>;
  /** `tickets`, `conversations` or `contacts`, all pages of it. */
  platformView(view: string): Promise<void>;
  /** The whole transcript. @returns what was said */
  conversation(shop: string, id: string): Promise<string>;
}

/** @param page a console that is signed in; it is never loaded again */
export async function consoleTour(page: Page): Promise<ConsoleTour> {
  await page.evaluate(TOUR);
  const run = async <T>(call: string, ...values: readonly string[]): Promise<T> => {
    // As the functions below return it.
    const result = await page.evaluate(`tour.${call}(...${JSON.stringify(values)})`);
    return result as T;
  };
  return {
    wholeList: async () => {
      const rows = await run<readonly (readonly [string, string, string])[]>('wholeList');
      return {
        ids: new Set(rows.map(([id]) => id)),
        senders: rows.map(([, sender]) => sender),
        subjects: rows.map(([, , subject]) => subject),
      };
    },
    search: (text) => run('search', text),
    openMessage: (id) => run('openMessage', id),
    platformView: (view) => run('platformView', view),
    conversation: (shop, id) => run('conversation', shop, id),
  };
}

/** As source, since it runs in the page. */
const TOUR = `window.tour = (() => {
  const find = (selector) => document.querySelector(selector);
  const all = (selector) => [...document.querySelectorAll(selector)];
  const turn = () => new Promise((done) => setTimeout(done, 5));
  const until = async (what, probe) => {
    for (const end = Date.now() + 60000; ; await turn()) {
      const found = probe();
      if (found) return found;
      if (Date.now() > end) throw new Error('waited for ' + what + ' at ' + location.href);
    }
  };
  // As a click on a link of the page.
  const go = (address) => {
    const link = document.createElement('a');
    link.href = address;
    document.body.append(link);
    link.click();
    link.remove();
  };
  const isBusy = () => find('.skeleton, [aria-busy="true"]') !== null;
  const button = (words) => all('main button').find((each) => each.textContent.trim() === words);
  const more = async (words) => {
    for (;;) {
      await until('the page', () => !isBusy());
      const next = button(words);
      if (next === undefined) return;
      // A page may bring nothing that is new: what counts is that it has come.
      next.click();
      for (let turns = 0; turns < 4; turns += 1) await turn();
    }
  };
  // The document of the frame, whose sandbox nobody looks into from here: nothing that could act.
  const SHOWN = /^(html|body|head|h[1-6]|p|div|span|font|br|hr|wbr|img|table|caption|col|colgroup|t(head|body|foot|r|d|h)|[uod]l|li|d[dt]|pre|code|kbd|samp|var|blockquote|q|b|i|u|s|em|strong|small|sub|sup|mark|abbr|cite|dfn|time|data|bd[io]|ruby|r[btp]|rtc|address|article|aside|footer|header|hgroup|main|nav|section|figure|figcaption)$/;
  const QUIET = /^(class|alt|align|valign|bgcolor|color|dir|lang|charset|colspan|rowspan|width)$/;
  const ACTING = /url|image|expression|@|behavior|binding|\\\\/i;
  const sealed = async (address) => {
    const answer = await fetch(address);
    // Less its own head: the policy of this page would tell of the style sheet in it.
    const [head, ...rest] = (await answer.text()).split('</style></head>');
    if (rest.length !== 1 || !head.startsWith('<!doctype html>')) throw new Error('the head of ' + address);
    const parsed = new DOMParser().parseFromString(rest[0], 'text/html');
    for (const element of parsed.querySelectorAll('*')) {
      const isQuiet = [...element.attributes].every(({ name, value }) =>
        name === 'src' ? value.startsWith('data:image/') : name === 'style' ? !ACTING.test(value) : QUIET.test(name),
      );
      if (!SHOWN.test(element.localName) || !isQuiet) {
        throw new Error('in the frame: ' + element.outerHTML.slice(0, 200));
      }
    }
    return parsed.body.textContent;
  };
  return {
    wholeList: async () => {
      go('/messages');
      await until('the list', () => find('.entries-body .entry[data-id]'));
      const rows = new Map();
      const painted = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
      const isEnd = () => scrollY + innerHeight >= document.documentElement.scrollHeight - 2;
      let stayed = 0;
      for (window.scrollTo(0, 0); stayed < 20; ) {
        await painted();
        await painted();
        if (find('.entries-body .waiting') !== null) continue;
        const before = rows.size;
        for (const row of all('.entries-body .entry[data-id]')) {
          const words = (selector) => row.querySelector(selector).textContent;
          rows.set(row.dataset.id, [row.dataset.id, words('.from'), words('.subject')]);
        }
        stayed = rows.size > before || !isEnd() ? 0 : stayed + 1;
        window.scrollBy(0, innerHeight / 2);
      }
      return [...rows.values()];
    },
    search: async (text) => {
      go('/messages?text=' + encodeURIComponent(text));
      await until('an answer', () => !isBusy() && find('.entries-body .entry[data-id], main .empty, main [role="alert"]'));
    },
    openMessage: async (id) => {
      go('/messages/' + id);
      await until('the message', () => find('.command code')?.textContent.includes(id));
      (await until('the closed content', () => button('Show content'))).click();
      await until('the content', () => find('.content-parts'));
      const shown = [find('main').textContent];
      const opened = [];
      for (const key of all('.content-parts [role="tab"]').map((tab) => tab.id)) {
        const tab = document.getElementById(key);
        tab.click();
        await until('the tab', () => tab.getAttribute('aria-selected') === 'true');
        opened.push(tab.dataset.tab);
        const panel = await until('the panel', () => document.getElementById(tab.getAttribute('aria-controls')));
        if (tab.dataset.tab === 'html') {
          const frame = await until('the frame', () => panel.querySelector('iframe'));
          await new Promise((done, fail) => {
            frame.addEventListener('load', done, { once: true });
            setTimeout(() => fail(new Error('the frame of ' + id)), 60000);
          });
          shown.push(await sealed(frame.getAttribute('src')));
        }
        shown.push(panel.textContent);
      }
      return { tabs: opened, text: shown.join('\\n') };
    },
    platformView: async (view) => {
      go('/platform?view=' + view);
      await until(view, () => !isBusy() && find('main tbody tr') && location.search.includes(view));
      await more('Load more');
    },
    conversation: async (shop, id) => {
      go('/platform?shop=' + shop + '&view=conversations&id=' + id);
      await until('the conversation', () => all('.id-copy .mono').some((each) => each.textContent === id));
      await until('the transcript', () => find('.transcript > li'));
      await more('Load more messages');
      return find('.transcript').textContent;
    },
  };
})();`;
