import { expect } from '@jest/globals';
import type { ChatClient } from '../../support/chat-client.ts';
import { type ScriptWatch, watchScripts } from '../../support/script-watch.ts';
import { waitFor } from '../../support/wait-for.ts';
import { batches, vectorsToTry, XSS_VECTORS } from '../../support/xss-vectors.ts';
import type { ChatPage } from './chat-page.ts';
import { QUIET, type Reply } from './scripted-agent.ts';
import { describeInBrowser } from './setting.ts';

const FORMATS: readonly Reply['format'][] = ['TEXT', 'RICH_TEXT', 'MARKDOWN', 'HTML'];
/** A sample of what must be read as it was written; the others are on the page too. */
const LEGIBLE = [`<iframe src="javascript:alert(1)"></iframe>`, '<img src=x onerror=alert(1) alt='];
/** Vectors in one reply. */
const REPLY_SIZE = 10;
/** The agent answers one conversation no more often than this in ten minutes. */
const QUESTIONS_EACH = 9;
/** Files of one line, and with all lines fewer than a visitor may upload in ten minutes. */
const FILES_EACH = 10;
const WAIT_MS = 120_000;
const LOOK_EVERY_MS = 100;

const VECTORS = vectorsToTry(LEGIBLE);

/** What one visitor sends and asks for. */
interface Part {
  readonly vectors: readonly string[];
  readonly replies: readonly Reply[];
}

describeInBrowser(
  'Vectors of script injection',
  (test) => {
    for (const [n, { vectors, replies }] of parts().entries()) {
      test(
        `run nowhere in conversation ${n + 1}: sent, named, answered, live and read again`,
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
          let lines = 1;
          for (const [no, reply] of replies.entries()) {
            const words = `Answer ${n}.${no} as ${reply.format}`;
            setting.script(words, { ...reply, content: `${words}:\n\n${reply.content}` });
            expect(await other.send(words)).toMatchObject({ ok: true });
            lines += 2;
          }
          for (let at = 0; at < vectors.length; at += FILES_EACH) {
            const some = vectors.slice(at, at + FILES_EACH);
            const uploads: string[] = [];
            for (const vector of some) uploads.push(await upload(other, vector));
            const text = QUIET + some.join('\n');
            expect(await other.send(text, { uploads })).toMatchObject({ ok: true });
            lines += 1;
          }
          // By hand too: what is typed, and what is still a draft.
          const typed = vectors.find((vector) => !vector.includes('\n'));
          if (typed !== undefined) {
            await chat.type(QUIET + typed);
            await chat.input.press('Enter');
            lines += 1;
          }
          await chat.type('<img src=x onerror=alert(1)><script>alert(1)</script>');

          await reads(chat, lines, watch, vectors);
          await chat.page.reload();
          await chat.open();
          await reads(chat, lines, watch, vectors);
          expect(new URL(chat.page.url()).pathname).toBe('/');
        },
        2 * WAIT_MS,
      );
    }
  },
  {
    limits: {
      messagesPer10s: 10_000,
      newVisitorsPerHourPerIp: 1_000_000,
      socketsPerIp: 100_000,
      uploadBytesPerHourPerIp: 100_000_000_000,
    },
  },
);

/** All vectors in every format as replies, and once as lines and names of files, among several visitors. */
function parts(): readonly Part[] {
  const replies = FORMATS.flatMap((format) =>
    batches(REPLY_SIZE, VECTORS).map((content) => ({ content, format })),
  );
  const visitors = Math.ceil(replies.length / QUESTIONS_EACH);
  const share = Math.ceil(VECTORS.length / visitors);
  return Array.from({ length: visitors }, (_, n) => ({
    vectors: VECTORS.slice(n * share, (n + 1) * share),
    replies: replies.slice(n * QUESTIONS_EACH, (n + 1) * QUESTIONS_EACH),
  }));
}

/** What a name says it is may be refused: then it says something else at its end. */
async function upload(client: ChatClient, vector: string): Promise<string> {
  const bytes = Buffer.from('%PDF-1.4 a file');
  let answer = await client.upload({ name: vector, bytes });
  if (answer.status === 415) answer = await client.upload({ name: `${vector}.pdf`, bytes });
  const { id } = (await answer.json()) as { id?: string };
  if (id === undefined) throw new Error(`${answer.status} for ${vector}`);
  return id;
}

/** Waits for all lines, from the first one on, and looks at what they are made of. */
async function reads(
  chat: ChatPage,
  lines: number,
  watch: ScriptWatch,
  vectors: readonly string[],
): Promise<void> {
  const countAll = async (): Promise<boolean> => {
    // Older lines come when one looks for them.
    await chat.log.evaluate((log) => {
      for (const box of [log, log.parentElement]) box?.scrollTo(0, 0);
    });
    return (await chat.log.locator('[data-line]').count()) >= lines;
  };
  await waitFor(`${lines} lines`, countAll, LOOK_EVERY_MS);
  const shown = (await chat.lines()).map(({ text }) => text).join('\n');
  for (const legible of LEGIBLE.filter((each) => vectors.includes(each))) {
    expect(shown).toContain(legible);
  }
  const attributes = await chat.host.evaluate((host) =>
    [...(host.shadowRoot?.querySelectorAll('[data-from="agent"] .say *') ?? [])].flatMap(
      ({ attributes: all, tagName }) =>
        [...all].map(({ name, value }) => `${tagName} ${name}=${value}`),
    ),
  );
  for (const attribute of attributes) {
    expect(attribute).toMatch(
      /^A (?:href=(?:https?:|mailto:)|target=_blank$|rel=)|^\w+ (?:class|dir|start)=|^PRE tabindex=0$/,
    );
  }
  expect(watch.seen).toEqual([]);
  expect(watch.strangers).toEqual([]);
}
