import { readFileSync } from 'node:fs';
import { expect } from '@jest/globals';
import { QUIET } from './scripted-agent.ts';
import { describeInBrowser } from './setting.ts';

const LINES = 300;
const words = (n: number): string => `${QUIET}line ${n} of many`;

describeInBrowser(
  'a long conversation',
  (test) => {
    test('draws its end, and the rest where the visitor scrolls, without a jump', async (setting) => {
      const visit = await setting.visit();
      const { chat } = visit;
      await chat.open();
      const device = await setting.otherDevice(visit);
      for (let n = 1; n <= LINES; n += 1) await device.send(words(n));
      await chat.line(words(LINES)).waitFor();
      const drawn = chat.log.locator('[data-line]');
      expect(await drawn.count()).toBeLessThan(150);
      await chat.log.hover();
      // What is read stays in place while the lines above it are drawn.
      const jumps = await chat.log.evaluate(async (log) => {
        const found: number[] = [];
        const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
        for (let turn = 0; turn < 400 && log.scrollTop > 0; turn += 1) {
          const seen = [...log.querySelectorAll('[data-line]')].find(
            (line) => line.getBoundingClientRect().top >= log.getBoundingClientRect().top,
          );
          const before = seen?.getBoundingClientRect().top ?? 0;
          const from = log.scrollTop;
          log.scrollBy(0, -200);
          const by = from - log.scrollTop;
          await frame();
          await frame();
          found.push(Math.abs((seen?.getBoundingClientRect().top ?? 0) - before - by));
        }
        return found;
      });
      expect(Math.max(...jumps)).toBeLessThan(2);
      const lines = await chat.lines();
      expect(lines.map(({ text }) => Number(/line (\d+)/.exec(text)?.[1]))).toEqual(
        Array.from({ length: LINES }, (_, n) => n + 1),
      );
      await chat.send(words(LINES + 1));
      await chat.until('the end only', async () => (await drawn.count()) < 150);
      await chat.until('the view to be down', () =>
        chat.log.evaluate((log) => log.scrollHeight - log.scrollTop - log.clientHeight < 5),
      );
      // Once more, as far as the first line.
      await chat.until('the first line', async () => {
        await chat.log.evaluate((log) => log.scrollTo(0, 0));
        return (await chat.line('line 1 of many').count()) > 0;
      });
    });

    test('is whole in the transcript, which says so when it is not', async (setting) => {
      const visit = await setting.visit();
      const { chat } = visit;
      await chat.open();
      const device = await setting.otherDevice(visit);
      for (let n = 1; n <= LINES; n += 1) await device.send(words(n));
      await chat.line(words(LINES)).waitFor();
      await chat.page.reload();
      await chat.line(words(LINES)).waitFor();
      const numbersIn = (text: string): number[] =>
        [...text.matchAll(/line (\d+) of many/g)].map(([, n]) => Number(n));
      // The part that makes it has been loaded before.
      await chat.choose('End conversation');
      await chat.button('Skip').click();
      await visit.goOffline();
      await chat.page.getByRole('status').filter({ hasText: 'You’re offline.' }).waitFor();
      const less = readFileSync(await chat.transcript(), 'utf8');
      expect(less).toMatch(/^\(Earlier messages are missing\)\n/);
      expect(numbersIn(less).at(-1)).toBe(LINES);
      expect(numbersIn(less).length).toBeLessThan(LINES);
      await visit.goOnline();
      await chat.page
        .getByRole('status')
        .filter({ hasText: 'You’re offline.' })
        .waitFor({ state: 'detached' });
      const all = readFileSync(await chat.transcript(), 'utf8');
      expect(numbersIn(all)).toEqual(Array.from({ length: LINES }, (_, n) => n + 1));
      expect(all).not.toContain('Earlier messages');
    });
  },
  { limits: { messagesPer10s: 1_000 } },
);
