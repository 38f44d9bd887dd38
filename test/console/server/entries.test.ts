import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { EntryContent, EntryDetail, EntryList } from '../../../src/console/contract.ts';
import { ACME_SHOP, shopNamed } from '../../support/gateway-config.ts';
import { sendSms, sidOf } from '../../support/sms-sender.ts';
import { waitFor } from '../../support/wait-for.ts';
import { ChatClient } from '../../support/chat-client.ts';
import { ends } from '../../support/ends.ts';
import type { ConsoleClient } from './console-client.ts';
import { auditOf, consoleScene, sharedConsole } from './console-scene.ts';
import { HOSTILE_HTML, sendMail, SMALL_GIF } from './samples.ts';

const list = async (operator: ConsoleClient, query = ''): Promise<EntryList> =>
  (await operator.get(`/api/entries?${query}`)).body as EntryList;
const detail = async (operator: ConsoleClient, id: string): Promise<EntryDetail> =>
  (await operator.get(`/api/entries/${id}`)).body as EntryDetail;
const content = async (operator: ConsoleClient, id: string): Promise<EntryContent> =>
  (await operator.get(`/api/entries/${id}/content`)).body as EntryContent;

/** Each with the messages of one test. */
const SHOPS = {
  found: shopNamed('found', 0),
  talk: shopNamed('talk', 1),
  gone: shopNamed('gone', 2),
  hostile: shopNamed('hostile', 3),
  hidden: shopNamed('hidden', 4),
};
const shared = sharedConsole({ shops: Object.values(SHOPS) });

/** The newest entry of a shop once it has come so far. */
async function entryIn(
  operator: ConsoleClient,
  state: string,
  channel = 'email',
  { name } = ACME_SHOP,
): Promise<string> {
  const entry = await waitFor(`an entry that is ${state}`, async () => {
    const { entries } = await list(operator, `state=${state}&channel=${channel}&shop=${name}`);
    return entries[0];
  });
  return entry.id;
}

describe('a message', () => {
  test('is found, with its timeline, its content and its links', async () => {
    const { gateway, operator } = await shared();
    await sendMail(gateway.smtpPort, {
      to: SHOPS.found.inbox,
      subject: 'Where is order 4711?',
      text: 'Hello,\n\nwhere is it?\n\nAnn',
      attachments: [{ filename: 'Lämp "1".html', content: '<script>alert(1)</script>' }],
    });
    const id = await entryIn(operator, 'delivered', 'email', SHOPS.found);
    const found = await waitFor('the search', async () => {
      const { entries, searchIsComplete } = await list(operator, 'text=4711&shop=found&count=1');
      return searchIsComplete && entries[0];
    });
    expect(found).toMatchObject({
      id,
      kind: 'message',
      shop: 'found',
      channel: 'email',
      state: 'delivered',
      from: expect.stringContaining('ann@example.com'),
      to: expect.stringContaining(SHOPS.found.inbox),
      subject: 'Where is order 4711?',
    });

    const told = await detail(operator, id);
    expect(told).toMatchObject({
      rawKept: true,
      actions: [],
      classification: { verdict: 'deliver' },
      conversationId: expect.any(String),
      platformMessageId: expect.any(String),
      ticketId: expect.any(String),
    });
    expect(JSON.stringify(told)).not.toContain('where is it');
    const [first, ...later] = told.timeline;
    expect(first).toMatchObject({ step: 'accepted', tookMs: 0 });
    expect(first?.attempt).toBeUndefined();
    expect(later.length).toBeGreaterThan(2);
    for (const step of later) expect(step.attempt).toBeGreaterThan(0);
    expect(later.at(-1)?.step).toBe('delivered');

    const opened = await content(operator, id);
    expect(opened.raw).toMatchObject({ type: 'message/rfc822', truncated: false });
    expect(opened.raw?.text).toContain('Subject: Where is order 4711?');
    expect(opened.received).toEqual({
      text: expect.stringContaining('where is it?'),
      hasHtml: false,
    });
    expect(opened.payload).toMatchObject({ contact: { email: 'ann@example.com' } });
    const [attachment] = opened.attachments;
    expect(attachment).toMatchObject({ name: expect.stringContaining('Lämp'), bytes: 25 });

    const file = await operator.get(
      `/api/entries/${id}/attachments/${encodeURIComponent(attachment?.part ?? '')}`,
    );
    expect(file).toMatchObject({ status: 200, text: '<script>alert(1)</script>' });
    expect(file.headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': expect.stringMatching(/^attachment; /),
      'content-security-policy': expect.stringMatching(/^sandbox; default-src 'none'/),
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'content-length': '25',
    });

    const raw = await operator.get(`/api/entries/${id}/raw`);
    expect(raw.headers).toMatchObject({
      'content-type': 'message/rfc822',
      'content-disposition': `attachment; filename=${id}.eml`,
    });
    expect(raw.text).toContain('Subject: Where is order 4711?');

    expect((await operator.get(`/api/entries/${id}/html`)).status).toBe(404);
    expect((await operator.get(`/api/entries/${id}/attachments/none`)).status).toBe(404);

    const { lines } = await auditOf(operator);
    const actions = lines.filter(({ target }) => target === id).map(({ action }) => action);
    expect(actions.filter((action) => action === 'open').length).toBeGreaterThanOrEqual(1);
    expect(actions.filter((action) => action === 'download').length).toBeGreaterThanOrEqual(2);
    expect(JSON.stringify(lines)).not.toMatch(/\b4711\b|ann@example|Lämp/);
  });

  test('of a text and of a chat is shown as it came', async () => {
    const { gateway, operator } = await shared();
    const { number, chatKey } = SHOPS.talk;
    await sendSms(gateway.httpUrl, {
      ...{ MessageSid: sidOf('one'), To: number, Body: 'Open on Sunday? 🙂' },
    });
    const chat = new ChatClient({ url: gateway.httpUrl, auth: { key: chatKey } });
    ends(() => chat.close());
    await chat.open();
    await chat.send('Hi there <b>bold</b>');

    const sms = await entryIn(operator, 'delivered', 'sms', SHOPS.talk);
    const text = await content(operator, sms);
    expect(text.received).toEqual({ text: 'Open on Sunday? 🙂', hasHtml: false });
    expect(text.raw).toMatchObject({ type: 'application/x-www-form-urlencoded' });
    expect(text.raw?.text).toContain('Body: Open on Sunday?');
    const id = await entryIn(operator, 'delivered', 'web_chat', SHOPS.talk);
    const said = await content(operator, id);
    expect(said.received).toEqual({ text: 'Hi there <b>bold</b>', hasHtml: false });
    expect(said.payload).toMatchObject({ message: { content: 'Hi there <b>bold</b>' } });
    const raw = await operator.get(`/api/entries/${id}/raw`);
    expect(raw.headers['content-type']).toBe('text/plain; charset=utf-8');
  });

  test('that nothing has tried yet is shown as it would be submitted', async () => {
    const { gateway, operator } = await consoleScene({ paused: true });
    await sendMail(gateway.smtpPort, { subject: 'Waiting', text: 'I wait' });
    await sendSms(gateway.httpUrl, { MessageSid: sidOf('stop'), Body: 'STOP' });
    const mail = await content(operator, await entryIn(operator, 'queued'));
    expect(mail.payload).toMatchObject({ message: { content: 'I wait' } });
    const sms = await entryIn(operator, 'queued', 'sms');
    expect(await content(operator, sms)).toMatchObject({
      payload: { message: { content: 'STOP' } },
    });
    expect(await detail(operator, sms)).toMatchObject({
      state: 'queued',
      actions: ['retry', 'discard'],
      hasRecord: false,
    });
  });
});

test('a message whose file is gone is shown as far as it is known', async () => {
  const { gateway, operator, dataDir } = await shared();
  const text = 'word '.repeat(200_000);
  await sendMail(gateway.smtpPort, { to: SHOPS.gone.inbox, subject: 'Large', text });
  const id = await entryIn(operator, 'delivered', 'email', SHOPS.gone);
  const blobs = join(dataDir, 'blobs');
  const files = readdirSync(blobs, { recursive: true, withFileTypes: true });
  for (const file of files) if (file.isFile()) rmSync(join(file.parentPath, file.name));
  const opened = await content(operator, id);
  expect(opened.raw).toBeUndefined();
  expect(opened.payload).toMatchObject({ contact: { email: 'ann@example.com' } });
  const raw = await operator.get(`/api/entries/${id}/raw`);
  expect(raw).toMatchObject({ status: 404, body: { code: 'not_found' } });
  expect((await operator.get(`/api/entries/${id}/attachments/1`)).status).toBe(404);
});

describe('the HTML of a message', () => {
  test('is a document that runs nothing, loads nothing and leads nowhere', async () => {
    const { gateway, operator } = await shared();
    await sendMail(gateway.smtpPort, {
      to: SHOPS.hostile.inbox,
      subject: 'Hostile',
      html: HOSTILE_HTML,
      attachments: [
        { filename: 'p.gif', content: SMALL_GIF, cid: 'picture@acme', contentType: 'image/gif' },
      ],
    });
    const id = await entryIn(operator, 'delivered', 'email', SHOPS.hostile);
    expect((await content(operator, id)).received.hasHtml).toBe(true);
    const { status, text, headers } = await operator.get(`/api/entries/${id}/html`);
    expect(status).toBe(200);
    const policy = String(headers['content-security-policy']).split('; ');
    expect(policy.slice(0, 4)).toEqual([
      'sandbox',
      "default-src 'none'",
      "style-src 'unsafe-inline'",
      'img-src data:',
    ]);
    expect(policy).toContain("frame-ancestors 'self'");
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'x-frame-options': 'SAMEORIGIN',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    });

    const body = text.slice(text.indexOf('<body>'));
    expect(body).toContain('Hello <b>Ann</b>');
    expect(body).toContain('picture from tracker.example not loaded: logo');
    expect(body).toContain('https://evil.example/phish');
    expect(body).toMatch(/<img src="data:image\/gif;base64,R0lGOD[^"]*" alt="inside"/);
    expect(body).not.toContain('hidden words');
    // What stands in tags, not in the text that people read.
    const tags = (body.match(/<[^>]*>/g) ?? []).join('\n');
    expect(tags).not.toMatch(
      /<(?:script|style|svg|math|iframe|object|embed|form|input|button|link|meta|base|video|a)\b/i,
    );
    expect(tags).not.toMatch(/\son\w+\s*=|javascript:|url\(|https?:|svg\+xml|position|href/i);
    for (const [, src] of body.matchAll(/\ssrc="([^"]*)"/g)) {
      expect(src).toMatch(/^data:image\/(?:png|jpeg|gif|webp);base64,/);
    }
  });
});

test('pages follow one another, without a gap and without an overlap', async () => {
  const { gateway, operator } = await consoleScene({ paused: true });
  for (let index = 0; index < 7; index += 1) {
    await sendSms(gateway.httpUrl, { MessageSid: sidOf(`page ${index}`), Body: `n ${index}` });
  }
  const ids: string[] = [];
  let next: string | undefined = '';
  while (next !== undefined) {
    const page: EntryList = await list(operator, `limit=3&count=1&before=${next}`);
    expect(page.total).toEqual({ count: 7, exact: true });
    ids.push(...page.entries.map(({ id }) => id));
    next = page.next;
  }
  expect(ids).toHaveLength(7);
  expect(new Set(ids).size).toBe(7);
  const [newest = '', second = '', third] = ids;
  expect(await detail(operator, second)).toMatchObject({ previous: third, following: newest });
  expect((await detail(operator, newest)).following).toBeUndefined();
  expect((await detail(operator, ids.at(-1) ?? '')).previous).toBeUndefined();
});

test('the beginning of texts and chats is listed if the configuration says so', async () => {
  const { gateway, operator } = await consoleScene({ admin: { snippets: true } });
  await sendSms(gateway.httpUrl, { MessageSid: sidOf('snippet'), Body: 'Where is\nmy order?' });
  await sendMail(gateway.smtpPort, { subject: 'A mail', text: 'Its text' });
  const entries = await waitFor('both', async () => {
    const found = await list(operator);
    return found.entries.length === 2 && found.entries;
  });
  const ofChannel = (channel: string) => entries.find((each) => each.channel === channel);
  expect(ofChannel('sms')?.snippet).toBe('Where is my order?');
  expect(ofChannel('email')).not.toHaveProperty('snippet');
});

test('without that, no list has what people wrote', async () => {
  const { gateway, operator } = await shared();
  const { number } = SHOPS.hidden;
  await sendSms(gateway.httpUrl, {
    ...{ MessageSid: sidOf('hidden'), To: number, Body: 'A secret of mine' },
  });
  await entryIn(operator, 'delivered', 'sms', SHOPS.hidden);
  expect((await operator.get('/api/entries')).text).not.toContain('secret');
});
