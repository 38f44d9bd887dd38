import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import express from 'express';
import { expect, test } from '@jest/globals';
import type { LocalPlatform } from '../../../src/local-platform/local-platform.ts';
import type { Message } from '../../../src/platform-api/resources.ts';
import { ends } from '../../support/ends.ts';
import { create, messagesOf, OTHER, SHOP, startPlatform } from '../harness.ts';

/** The platform with its files on another port, as the gateway serves them. */
async function withFiles() {
  let publicUrl = '';
  const platform = await startPlatform({ publicUrl: () => publicUrl });
  const app = express();
  app.use(platform.replyFiles.handler);
  const server = createServer(app).listen(0, '127.0.0.1');
  await new Promise<void>((resolve) => server.once('listening', () => resolve()));
  ends(() => new Promise<void>((resolve) => void server.close(() => resolve())));
  // An address always has a port here.
  publicUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return platform;
}

const upload = (platform: LocalPlatform, name: string, type: string, content: string) =>
  platform.desk.upload(SHOP.shopId, {
    ...{ name, type, content: Readable.from([Buffer.from(content)]) },
  });

async function post(
  platform: LocalPlatform,
  question: Message,
  kind: 'reply' | 'note',
  files: readonly string[],
): Promise<string> {
  const ticket = platform.desk.ticket(SHOP.shopId, String(question.ticket_id));
  const seen = { shopId: SHOP.shopId, id: ticket.id, version: ticket.version, who: 'ann' };
  await platform.desk[kind](seen, { text: 'See there', format: 'TEXT', files });
  const [newest] = await messagesOf(platform, question.conversation_id);
  return String(newest?.id);
}

const aQuestion = async (platform: LocalPlatform) =>
  (
    await create(platform, {
      contact: { name: 'Visitor' },
      conversation: { direction: 'inbound', type: 'web_chat' },
      message: { content: 'Have you a picture?' },
    })
  ).body;

test('a file of a reply is fetched by its link, and by nothing else', async () => {
  const platform = await withFiles();
  const question = await aQuestion(platform);
  const picture = await upload(platform, 'lamp.svg', 'image/svg+xml', '<svg onload="alert(1)"/>');
  const other = await upload(platform, 'note.txt', 'text/plain', 'Not for customers');
  const reply = await post(platform, question, 'reply', [picture.id]);
  const note = await post(platform, question, 'note', [other.id]);

  const [file, ...more] = platform.replyFiles.of(SHOP.shopId.toUpperCase(), reply);
  expect(more).toEqual([]);
  expect(file).toMatchObject({ name: 'lamp.svg', size: 24 });
  const answer = await fetch(file?.url ?? '');
  expect(await answer.text()).toBe('<svg onload="alert(1)"/>');
  // Markup is never shown by a browser.
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'content-disposition': 'attachment; filename=lamp.svg',
    'content-security-policy': "sandbox; default-src 'none'",
    'x-content-type-options': 'nosniff',
    'access-control-allow-origin': '*',
  });

  expect(platform.replyFiles.of(SHOP.shopId, note)).toEqual([]);
  expect(platform.replyFiles.of(SHOP.shopId, question.id)).toEqual([]);
  expect(platform.replyFiles.of(OTHER.shopId, reply)).toEqual([]);
  const link = new URL(file?.url ?? '');
  const [, , id = '', key = ''] = link.pathname.split('/');
  for (const path of [
    `/reply-files/${other.id}/${key}`,
    `/reply-files/${id}/${key}x`,
    `/reply-files/${id}/`,
    `/reply-files/..%2F..%2Fplatform.sqlite/${key}`,
    `/media-files/${id}`,
  ]) {
    expect([path, (await fetch(link.origin + path)).status]).toEqual([path, 404]);
  }
});

test('a part of it can be requested', async () => {
  const platform = await withFiles();
  const question = await aQuestion(platform);
  const file = await upload(platform, 'a.txt', 'text/plain', '0123456789');
  const reply = await post(platform, question, 'reply', [file.id]);
  const url = platform.replyFiles.of(SHOP.shopId, reply)[0]?.url ?? '';
  const part = await fetch(url, { headers: { range: 'bytes=2-4' } });
  expect([part.status, await part.text()]).toEqual([206, '234']);
  expect((await fetch(url, { headers: { range: 'bytes=50-' } })).status).toBe(416);
});
