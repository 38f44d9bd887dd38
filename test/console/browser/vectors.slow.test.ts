import { expect } from '@jest/globals';
import { ChatClient } from '../../support/chat-client.ts';
import { CHAT_KEY, INBOX } from '../../support/gateway-config.ts';
import { type ScriptWatch, watchScripts } from '../../support/script-watch.ts';
import { SmtpClient } from '../../support/smtp-client.ts';
import { waitFor } from '../../support/wait-for.ts';
import { batches, EVIL, vectorsToTry, XSS_VECTORS } from '../../support/xss-vectors.ts';
import { type Reply, ScriptedAgent } from '../../widget/browser/scripted-agent.ts';
import type { EntryContent, EntryList, EntryRow } from '../../../src/console/contract.ts';
import { type Desk, describeDesk, type Operator } from './desk.ts';
import { consoleTour, type ShownMessage } from './tour.ts';

/** Everything of a thousand messages, on a machine that others use too. */
const WAIT_MS = 400_000;
const AT_ONCE = 8;
const FORMATS: readonly Reply['format'][] = ['TEXT', 'RICH_TEXT', 'MARKDOWN', 'HTML'];
const REPLY_SIZE = 10;

/** A sample of what must be read as it was written; the others are in what is opened too. */
const LEGIBLE = [
  `<iframe src="javascript:alert(1)"></iframe>`,
  `<img src="x" alt="unclosed onerror=alert(1)>`,
  `"; filename="x.html"; x="<img src=x onerror=alert(1)>`,
];

const VECTORS = vectorsToTry(LEGIBLE);

const agent = new ScriptedAgent();

describeDesk(
  'Vectors of script injection',
  (test) => {
    test('are seen when one runs', async (desk) => {
      const { page, context } = await desk.operator();
      const watch = await watchScripts(context, [desk.gateway.adminUrl]);
      await page.goto(`${desk.gateway.adminUrl}/platform`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      expect(watch).toEqual({ seen: [], strangers: [] });
      // As a page would that believes what it is sent; its policy stops what it can.
      await page.evaluate(`(() => {
        const place = document.body.appendChild(document.createElement('div'));
        place.innerHTML = '<img src="${EVIL}/x.png" onerror="alert(1)"><iframe srcdoc="x"></iframe>';
        alert('called');
      })()`);
      const words = ['called alert(called)', 'a handler: <img', 'an element: <iframe', 'stopped'];
      for (const word of words) {
        await waitFor(word, () => watch.seen.some((each) => each.startsWith(word)));
      }
      const control = await context.newPage();
      await control.route('**/control', (route) =>
        route.fulfill({
          contentType: 'text/html',
          body: `<img src="${EVIL}/y.png" onerror="alert('ran')"><iframe sandbox="" srcdoc="<script>alert(2)</script>"></iframe>`,
        }),
      );
      await control.goto(`${desk.gateway.adminUrl}/control`);
      await waitFor('the handler', () => watch.seen.some((each) => each.includes('alert(ran)')));
      await waitFor('the frame', () => watch.seen.some((each) => each.includes('Blocked script')));
      expect(watch.strangers.some((each) => each.includes(`${EVIL}/y.png`))).toBe(true);
      expect(watch.seen.some((each) => each.startsWith('another page'))).toBe(true);
    });

    test('run nowhere in the console, through whatever door they came', async (desk) => {
      expect(XSS_VECTORS.length).toBeGreaterThanOrEqual(250);
      const replies = scriptReplies();
      desk.platform.rewriteMessages = (list) => agent.inItsFormat(list);
      await sendAll(desk, [...replies.keys()]);
      const operator = await desk.operator();
      const { adminUrl } = desk.gateway;
      const watch = await watchScripts(operator.context, [adminUrl]);
      await operator.open('/messages');
      const tour = await consoleTour(operator.page);

      const rows = await allRows(operator, adminUrl);
      const listed = await tour.wholeList();
      expect(listed.ids).toEqual(new Set(rows.map(({ id }) => id)));
      for (const legible of LEGIBLE) {
        expect(listed.subjects).toContain(legible);
        expect(listed.senders.some((sender) => sender.includes(legible))).toBe(true);
      }
      nothing(watch, 'the list');

      for (const vector of VECTORS.filter((_, n) => n % 12 === 0)) {
        await tour.search(vector.slice(0, 150));
      }
      nothing(watch, 'the search');

      const texts = new Map<string, string>();
      for (const row of rows) {
        const shown = await tour.openMessage(row.id);
        checkMessage(row, shown);
        texts.set(row.id, shown.text);
        nothing(watch, `${row.channel} ${JSON.stringify(row.subject)} of ${row.from}`);
      }
      const everything = [...texts.values()].join('\n');
      for (const legible of LEGIBLE) expect(everything).toContain(legible);

      await downloads(operator, adminUrl, rows);

      // What was said in a chat stands there as it was typed; of the others a part is enough.
      const conversations = new Set(
        desk.platform.messages
          .filter(({ remote_id: id }, n) => id?.startsWith('chat:') === true || n % 5 === 0)
          .map((each) => each.conversation_id),
      );
      for (const view of ['tickets', 'conversations', 'contacts']) await tour.platformView(view);
      nothing(watch, 'the platform’s lists');
      const said: string[] = [];
      for (const id of conversations) said.push(await tour.conversation('acme', id));
      for (const legible of LEGIBLE) expect(said.join('\n')).toContain(legible);
      // Less line breaks and control characters, which nobody shows as they came.
      for (const words of replies.keys()) expect(said.join('\n')).toContain(`${words}:`);
      nothing(watch, 'the transcripts');

      await operator.open('/audit');
      await operator.page.getByRole('row').nth(5).waitFor();
      await operator.open('/');
      nothing(watch, 'audit and overview');
      expect(operator.faults).toEqual([]);
    });
  },
  { agent, timeoutMs: 900_000 },
);

function nothing(watch: ScriptWatch, where: string): void {
  const { seen, strangers } = watch;
  if (seen.length + strangers.length > 0) {
    throw new Error(`in ${where}: ${[...seen, ...strangers].join('\n')}`);
  }
}

/** Which words the agent answers with which vectors, in every format. */
function scriptReplies(): ReadonlyMap<string, string> {
  const replies = FORMATS.flatMap((format) =>
    batches(REPLY_SIZE, VECTORS).map((batch, n) => {
      const words = `Answer ${n} as ${format}`;
      const content = `${words}:\n\n${batch}`;
      agent.script(words, { content, format });
      return [words, content] as const;
    }),
  );
  return new Map(replies);
}

/** Each vector through each channel, in every field that a stranger fills in. */
async function sendAll(desk: Desk, questions: readonly string[]): Promise<void> {
  const others = VECTORS.map((vector, n) => async () => {
    await desk.sms(`vector ${n}`, {
      From: `+1415555${String(n).padStart(4, '0')}`,
      Body: vector,
      ProfileName: vector,
    });
    const visitor = await ChatClient.connect({
      url: desk.gateway.httpUrl,
      auth: { key: CHAT_KEY },
    });
    try {
      expect(await visitor.profile({ name: nameOf(vector) })).toEqual({ ok: true });
      const id = await upload(visitor, vector);
      expect(await visitor.send(vector, { uploads: [id] })).toMatchObject({ ok: true });
    } finally {
      visitor.close();
    }
  });
  const mails = VECTORS.map(mailOf);
  await Promise.all([
    ...Array.from({ length: 3 }, (_, n) => sendMails(desk, mails, n, 3)),
    (async () => {
      for (let at = 0; at < others.length; at += AT_ONCE) {
        await Promise.all(others.slice(at, at + AT_ONCE).map((send) => send()));
      }
    })(),
  ]);
  // The agent answers nobody more often than a person would ask: each question is somebody else's.
  const askers: ChatClient[] = [];
  for (const words of questions) {
    const asker = await desk.chat();
    askers.push(asker);
    expect(await asker.send(words)).toMatchObject({ ok: true });
  }
  const isAnswered = ({ messages }: ChatClient): boolean =>
    messages.some(({ from, text }) => from === 'agent' && text.startsWith('Answer '));
  await waitFor(
    'everything at the platform, and every answer',
    () =>
      desk.platform.messages.length >= 3 * VECTORS.length + questions.length &&
      askers.every(isAnswered),
    100,
    WAIT_MS,
  );
  for (const asker of askers) asker.close();
}

/** Every `step`th mail from the `first` on, over one connection. */
async function sendMails(
  desk: Desk,
  mails: readonly Buffer[],
  first: number,
  step: number,
): Promise<void> {
  const client = await SmtpClient.connect(desk.gateway.smtpPort);
  try {
    await client.reply();
    for (let n = first; n < mails.length; n += step) {
      await client.envelope([INBOX], `v${n}@example.com`);
      await client.say('DATA');
      client.send(mails[n] ?? '');
      expect(await client.say('\r\n.')).toMatch(/^250/);
    }
  } finally {
    client.destroy();
  }
}

/** What a name says it is may be refused: then it says something else at its end. */
async function upload(visitor: ChatClient, vector: string): Promise<string> {
  const bytes = Buffer.from('%PDF-1.4 a file');
  let answer = await visitor.upload({ name: vector, bytes });
  if (answer.status === 415) answer = await visitor.upload({ name: `${vector}.pdf`, bytes });
  const { id } = (await answer.json()) as { id?: string };
  if (id === undefined) throw new Error(`${answer.status} for ${vector}`);
  return id;
}

const base64 = (text: string | Buffer): string =>
  Buffer.from(text).toString('base64').replace(/.{76}/g, '$&\r\n');

/** A header's value as RFC 2047 has it, in words of at most 75 characters. */
function encodedWords(text: string): string {
  const words: string[] = [];
  let word = '';
  for (const character of text) {
    if (Buffer.byteLength(word + character) > 42) {
      words.push(word);
      word = '';
    }
    word += character;
  }
  return [...words, word]
    .map((each) => `=?utf-8?B?${Buffer.from(each).toString('base64')}?=`)
    .join('\r\n ');
}

/** The name of an attachment as RFC 2231 has it. */
const encodedName = (text: string): string =>
  [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');

/** One mail with the vector in every place of it; the attachment is what a browser would run. */
function mailOf(vector: string, n: number): Buffer {
  const part = (type: string, body: string | Buffer, more: readonly string[] = []): string =>
    [
      ...['--b', `Content-Type: ${type}`, 'Content-Transfer-Encoding: base64', ...more, ''],
      base64(body),
    ].join('\r\n');
  const type = n % 2 === 0 ? 'text/html' : 'image/svg+xml';
  return Buffer.from(
    [
      `From: ${encodedWords(vector)} <v${n}@example.com>`,
      `To: ${INBOX}`,
      `Message-ID: <vector-${n}@example.com>`,
      `Subject: ${encodedWords(vector)}`,
      'MIME-Version: 1.0',
      'Content-Type: multipart/mixed; boundary=b',
      '',
      '--b',
      'Content-Type: multipart/alternative; boundary=a',
      '',
      part('text/plain; charset=utf-8', vector).replace('--b', '--a'),
      part('text/html; charset=utf-8', vector).replace('--b', '--a'),
      '--a--',
      part(type, `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)">${vector}</svg>`, [
        `Content-Disposition: attachment;\r\n filename*=utf-8''${encodedName(vector)}`,
      ]),
      '--b--',
    ].join('\r\n'),
  );
}

/** As long as a visitor's name may be, on one line. */
const nameOf = (vector: string): string =>
  Array.from(vector.replace(/\p{Cc}/gu, ' '))
    .slice(0, 190)
    .join('')
    .slice(0, 200)
    .trim() || 'nobody';

async function allRows({ context }: Operator, adminUrl: string): Promise<readonly EntryRow[]> {
  const rows: EntryRow[] = [];
  let before: string | undefined;
  do {
    const query = `limit=200${before === undefined ? '' : `&before=${before}`}`;
    const answer = await context.request.get(`${adminUrl}/api/entries?${query}`);
    const list = (await answer.json()) as EntryList;
    rows.push(...list.entries);
    before = list.next;
  } while (before !== undefined);
  return rows;
}

function checkMessage({ channel, id }: EntryRow, { tabs, text }: ShownMessage): void {
  const where = `${channel} ${id}: ${tabs.join()}`;
  if (!tabs.includes('raw') || !tabs.includes('json') || !tabs.includes('fields')) {
    throw new Error(`not all was shown of ${where}`);
  }
  const hasFile = channel !== 'sms' && !/Answer \d+ as/.test(text);
  if (hasFile && !text.includes('Attachments')) throw new Error(`no file of ${where}`);
}

/** What a browser is told about every file: to keep it, and to show nothing of it. */
async function downloads(
  { context }: Operator,
  adminUrl: string,
  rows: readonly EntryRow[],
): Promise<void> {
  for (const { id, channel } of rows) {
    if (channel === 'sms') continue;
    const url = `${adminUrl}/api/entries/${id}`;
    const content = (await (await context.request.get(`${url}/content`)).json()) as EntryContent;
    for (const { part } of content.attachments) {
      const file = await context.request.get(`${url}/attachments/${encodeURIComponent(part)}`);
      expect(file.status()).toBe(200);
      const headers = file.headers();
      expect(headers['content-type']).toBe('application/octet-stream');
      expect(headers['content-disposition']).toMatch(/^attachment\b/);
      expect(headers['content-disposition']).not.toMatch(/[/\\]\.\.|\.\.[/\\]/);
      expect(headers['content-security-policy']).toMatch(/^sandbox; default-src 'none'/);
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect(headers['set-cookie']).toBeUndefined();
    }
  }
}
