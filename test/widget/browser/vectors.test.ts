import { expect } from '@jest/globals';
import { watchScripts } from '../../support/script-watch.ts';
import { batches, XSS_VECTORS } from '../../support/xss-vectors.ts';
import type { Reply } from './scripted-agent.ts';
import { QUIET } from './scripted-agent.ts';
import { describeInBrowser, type Setting } from './setting.ts';

const FORMATS: readonly Reply['format'][] = ['TEXT', 'RICH_TEXT', 'MARKDOWN', 'HTML'];
/** Vectors of one line, and files of one line: the most that one may have. */
const SIZE = 10;
const TIMEOUT_MS = 240_000;

describeInBrowser(
  'vectors of script injection',
  (test) => {
    test(
      'run nowhere in a conversation: sent, named, answered, live and read again',
      async (setting) => {
        expect(XSS_VECTORS.length).toBeGreaterThanOrEqual(250);
        const visit = await setting.visit();
        const { chat } = visit;
        const watch = await watchScripts(chat.page.context(), [
          new URL(chat.page.url()).origin,
          new URL(setting.proxy.url).origin,
          setting.gateway.httpUrl,
        ]);
        await chat.page.reload();
        await chat.open();
        await chat.send(`${QUIET}hello`);

        const other = await setting.otherDevice(visit);
        const questions = script(setting);
        let lines = 1;
        for (const words of questions) {
          expect(await other.send(words)).toMatchObject({ ok: true });
          lines += 2;
        }
        for (let at = 0; at < XSS_VECTORS.length; at += SIZE) {
          const some = XSS_VECTORS.slice(at, at + SIZE);
          const uploads: string[] = [];
          for (const vector of some) {
            const bytes = Buffer.from('%PDF-1.4 a file');
            let answer = await other.upload({ name: vector, bytes });
            if (answer.status === 415) {
              answer = await other.upload({ name: `${vector}.pdf`, bytes });
            }
            const { id } = (await answer.json()) as { id?: string };
            if (id === undefined) throw new Error(`${answer.status} for ${vector}`);
            uploads.push(id);
          }
          const text = (QUIET + batches(SIZE, some).join('\n')).slice(0, 8000);
          const taken = await other.send(text, { uploads });
          if (!taken.ok) throw new Error(`${taken.error}: ${uploads.join()} ${text}`);
          lines += 1;
        }
        // By hand too: what is typed, and what is still a draft.
        const typed = XSS_VECTORS.filter((vector, n) => n % 25 === 0 && !vector.includes('\n'));
        for (const vector of typed) {
          await chat.send(QUIET + vector);
          lines += 1;
        }
        await chat.type('<img src=x onerror=alert(1)><script>alert(1)</script>');

        // As it came, and as it comes when it is read again from the top.
        for (const how of ['live', 'again'] as const) {
          if (how === 'again') {
            await chat.page.reload();
            await chat.launcher.waitFor();
            if (!(await chat.panel.isVisible())) await chat.launcher.click();
            await chat.input.waitFor();
          }
          await chat.until(`${lines} lines ${how}`, async () => {
            await chat.log.evaluate((log) => {
              for (const box of [log, log.parentElement]) box?.scrollTo(0, 0);
            });
            return (await chat.log.locator('[data-line]').count()) >= lines;
          });
          const shown = (await chat.lines()).map(({ text }) => text).join('\n');
          for (const vector of [`<iframe src="javascript:alert(1)"></iframe>`, 'alert(1) alt=']) {
            expect(shown).toContain(vector);
          }
          const addresses = await chat.host.evaluate((host) =>
            [...(host.shadowRoot?.querySelectorAll('[data-from="agent"] .say *') ?? [])].flatMap(
              ({ attributes, tagName }) =>
                [...attributes].map(({ name, value }) => `${tagName} ${name}=${value}`),
            ),
          );
          for (const attribute of addresses) {
            expect(attribute).toMatch(
              /^A (?:href=(?:https?:|mailto:)|target=_blank$|rel=)|^\w+ (?:class|dir|start)=/,
            );
          }
          expect(watch.seen).toEqual([]);
          expect(watch.strangers).toEqual([]);
        }
        expect(new URL(chat.page.url()).pathname).toBe('/');
      },
      TIMEOUT_MS,
    );
  },
  { limits: { messagesPer10s: 10_000, newVisitorsPerHourPerIp: 1e6, socketsPerIp: 1e5, uploadBytesPerHourPerIp: 1e11 } },
);

/** Has the agent say all vectors in every format. @returns what to ask for it */
function script(setting: Setting): readonly string[] {
  return FORMATS.flatMap((format) =>
    batches(SIZE).map((batch, n) => {
      const words = `Answer ${n} as ${format}`;
      setting.script(words, { content: `${words}:\n\n${batch}`, format });
      return words;
    }),
  );
}
