import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { ChatClient } from '../support/chat-client.ts';
import { ends } from '../support/ends.ts';
import { CHAT_KEY, INBOX } from '../support/gateway-config.ts';
import { anEmail, gatewaySetting, sendEmail } from '../support/gateway-setting.ts';
import { sendSms, sidOf } from '../support/sms-sender.ts';
import { countUndelivered, entriesOf, withSpool } from '../support/spool-beside.ts';
import { waitFor } from '../support/wait-for.ts';

test('a kill while the platform is down keeps every message, its order and its conversation', async () => {
  const { platform, start, greeted, chat, httpUrl, dataDir } = await gatewaySetting();
  const gateway = await start();
  const visitor = await chat();
  const text = (name: string) => sendSms(httpUrl, { MessageSid: sidOf(name), Body: name });
  await Promise.all([text('text 0'), visitor.send('chat 0')]);
  await waitFor('the first ones', () => platform.messages.length === 2);

  platform.faults = () => ({ kind: 'status', status: 503 });
  const smtp = await greeted();
  for (const n of [1, 2, 3]) {
    expect(await sendEmail(smtp, `mail ${n}`.replace(' ', '-'), `mail ${n}`)).toMatch(/^250/);
    expect((await text(`text ${n}`)).status).toBe(200);
    expect(await visitor.send(`chat ${n}`)).toMatchObject({ ok: true });
  }
  expect(await sendEmail(smtp, 'large', `large\r\n${'x'.repeat(900)}\r\n`.repeat(100))).toMatch(
    /^250/,
  );
  await gateway.kill();
  platform.faults = () => undefined;
  await start();

  await waitFor('everything', () => platform.messages.length >= 12, 20);
  const contents = platform.messages.map(({ content }) => content.split('\n', 1)[0] ?? '');
  expect(contents).toHaveLength(12);
  for (const kind of ['mail', 'text', 'chat']) {
    const own = platform.messages.filter(({ content }) => content.startsWith(kind));
    const from = kind === 'mail' ? 1 : 0;
    expect(own.map(({ content }) => content)).toEqual(
      Array.from({ length: own.length }, (_, n) => `${kind} ${n + from}`),
    );
    if (kind !== 'mail') {
      expect(new Set(own.map(({ conversation_id }) => conversation_id)).size).toBe(1);
    }
  }
  expect(contents.filter((content) => content === 'large')).toHaveLength(1);
  // The visitor's tab came back by itself, and a tab that was not there has the whole record.
  await waitFor('the tab to be back', () => visitor.socket.connected, 20);
  const other = await ChatClient.connect({
    url: httpUrl,
    auth: { key: CHAT_KEY, token: visitor.session.token },
  });
  ends(() => other.close());
  const record = ['chat 0', 'chat 1', 'chat 2', 'chat 3'];
  await waitFor('the record', () => other.messages.length === record.length);
  expect(other.texts).toEqual(record);
  expect(visitor.texts).toEqual(record);
  await withSpool(dataDir, async (spool) => {
    await waitFor('the queue to be empty', async () => (await countUndelivered(spool)).open === 0);
    expect(await countUndelivered(spool)).toEqual({ open: 0 });
    expect(await spool.list({ limit: 100 })).toHaveLength(12);
  });
});

test('a message sent again after the restart is still a duplicate, on each channel', async () => {
  const { platform, start, greeted, chat, httpUrl } = await gatewaySetting();
  const gateway = await start();
  const id = randomUUID();
  const visitor = await chat();
  const sendAll = async () => ({
    email: await sendEmail(await greeted(), 'same'),
    sms: (await sendSms(httpUrl, { MessageSid: sidOf('same') })).body,
    chat: await visitor.send('same', { id }),
  });
  const first = await sendAll();
  await gateway.kill();
  await start();
  await waitFor('the tab to be back', () => visitor.socket.connected, 20);
  expect(await sendAll()).toEqual(first);
  await visitor.send('next');
  await waitFor('the last one', () => platform.messages.some(({ content }) => content === 'next'));
  await waitFor('all', () => platform.messages.length >= 4, 20);
  expect(platform.messages).toHaveLength(4);
});

test('SIGTERM: what is in flight is finished on every side, and nothing is sent twice', async () => {
  const { platform, start, greeted, chat, httpUrl, dataDir } = await gatewaySetting();
  const gateway = await start();
  const visitor = await chat();
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  platform.gate = (call) =>
    call === 'POST /messages/' ? released.then(() => 'pass' as const) : undefined;
  await sendSms(httpUrl, { MessageSid: sidOf('on its way'), Body: 'on its way' });
  await waitFor('a delivery in flight', () => platform.payloads.length === 1, 20);
  const smtp = await greeted();
  await smtp.envelope([INBOX]);
  await smtp.say('DATA');
  smtp.send(anEmail('half', 'the first half\r\n'));
  const idle = await greeted();

  const exit = gateway.terminate();
  // The door is closed for others by now, and the one in the middle may finish.
  expect(await idle.reply()).toMatch(/^421 4\.3\.2/);
  smtp.send('the second half\r\n');
  expect(await smtp.say('.')).toMatch(/^250 2\.0\.0/);
  expect(await smtp.reply()).toMatch(/^421 4\.3\.2/);
  release();
  expect(await exit).toEqual({ code: 0, signal: null });
  expect(platform.messages.map(({ content }) => content)).toContain('on its way');
  const entries = await entriesOf(dataDir);
  expect(entries).toHaveLength(2);
  const delivered = entries.filter(({ state }) => state === 'delivered');
  expect(delivered.map(({ remoteId }) => remoteId).toSorted()).toEqual(
    platform.messages.map((message) => message.remote_id).toSorted(),
  );

  await start();
  await waitFor('the email', () => platform.messages.length === 2, 20);
  expect(platform.payloads.map(({ message }) => message.remote_id).toSorted()).toEqual(
    ['<half@example.com>', sidOf('on its way')].toSorted(),
  );
  expect(platform.messages[1]?.content).toContain('the first half');
  expect(platform.messages[1]?.content).toContain('the second half');
  await waitFor('the tab to be back', () => visitor.socket.connected, 20);
});

test('SIGTERM with a delay: it says at once that it is not ready, and takes messages meanwhile', async () => {
  const { start, greeted, chat, httpUrl } = await gatewaySetting({ stopDelay: '10m' });
  const gateway = await start();
  const visitor = await chat();
  gateway.signal('SIGTERM');
  await waitFor('the end of its readiness', async () => !(await fetch(`${httpUrl}/readyz`)).ok, 20);

  expect(await sendEmail(await greeted(), 'late')).toMatch(/^250/);
  const { status, headers } = await sendSms(httpUrl, { MessageSid: sidOf('late') });
  expect(status).toBe(200);
  // The next request of this client goes to another gateway.
  expect(headers.connection).toBe('close');
  expect(await visitor.send('late')).toMatchObject({ ok: true });
  expect(visitor.disconnects).toEqual([]);
});

test('when the delay is over, the visitors are gone and the process ends', async () => {
  const { start, chat } = await gatewaySetting({ stopDelay: '200ms' });
  const gateway = await start();
  const visitor = await chat();
  expect(await gateway.terminate()).toEqual({ code: 0, signal: null });
  await waitFor('the end of the connection', () => visitor.disconnects.length > 0);
  // It may have come back once, because there is no other gateway.
  expect(new Set(visitor.disconnects)).toEqual(new Set(['transport close']));
});
