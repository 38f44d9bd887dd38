import { expect, test } from '@jest/globals';
import { SmtpClient } from '../support/smtp-client.ts';
import { waitFor } from '../support/wait-for.ts';
import { sharedGateway, type ShopScene } from './shared-gateway.ts';

/** A shop for each test. */
const scene = sharedGateway({ shown: {}, refused: {} }, () => ({ mediaPermission: 'public' }));
const privately = sharedGateway({ named: {} });

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const image = (id: string, name: string) => [
  '--b',
  `Content-Type: image/png; name="${name}"`,
  `Content-ID: <${id}>`,
  'Content-Transfer-Encoding: base64',
  '',
  // Pictures of different bytes.
  Buffer.concat([PNG, Buffer.from(id)]).toString('base64'),
];

const letterTo = (inbox: string) => [
  'From: Ann <ann@example.com>',
  `To: ${inbox}`,
  'Message-ID: <pictures@example.com>',
  'Subject: Broken',
  'MIME-Version: 1.0',
  'Content-Type: multipart/related; boundary=b',
  '',
  '--b',
  'Content-Type: text/html; charset=utf-8',
  '',
  '<p>The lamp <img src="cid:one@x" alt="one">, and once more <img src="cid:one@x">.</p>' +
    '<p>The box <img src="cid:two@x">. ![stolen](https://base.invalid/0/)</p>',
  ...image('one@x', 'lamp.png'),
  ...image('two@x', 'box.png'),
  '--b--',
  '',
];

async function send({ gateway, shop }: ShopScene): Promise<void> {
  const client = await SmtpClient.connect(gateway.smtpPort);
  try {
    await client.reply();
    await client.envelope([shop.inbox], 'ann@example.com');
    await client.say('DATA');
    client.send(letterTo(shop.inbox).join('\r\n'));
    expect(await client.say('\r\n.')).toMatch(/^250 /);
  } finally {
    client.destroy();
  }
}

const uploads = ({ platform }: ShopScene) =>
  platform.calls.filter(({ call }) => call === 'POST /media/').length;
const contents = ({ platform }: ShopScene) =>
  platform.payloads.map(({ message }) => message.content);

test('where media is public the content shows the images, each uploaded once', async () => {
  const here = scene('shown');
  // The first answer is lost after the platform has taken the message's files.
  let failures = 1;
  here.platform.gate = (call, response) => {
    if (call !== 'POST /messages/' || failures === 0) return undefined;
    failures -= 1;
    response.writeHead(503).end();
    return Promise.resolve('taken');
  };
  await send(here);
  await waitFor('the message', () => here.platform.messages.length === 1);
  const [first, again] = contents(here);
  const [, lamp, lampAgain, box] =
    /^The lamp !\[lamp\.png\]\((http\S+)\), and once more !\[lamp\.png\]\((http\S+)\)\.\n\nThe box !\[box\.png\]\((http\S+)\)\. /.exec(
      first ?? '',
    ) ?? [];
  expect(lamp).toBe(lampAgain);
  expect(box).not.toBe(lamp);
  // What a sender writes himself stays text.
  expect(first).toContain('https://base.invalid/0/');
  expect(again).toBe(first);
  expect(uploads(here)).toBe(2);
  const shown = await fetch(lamp ?? '');
  expect(
    Buffer.from(await shown.arrayBuffer())
      .subarray(0, PNG.length)
      .equals(PNG),
  ).toBe(true);
});

test('where it is private they are named', async () => {
  const here = privately('named');
  await send(here);
  await waitFor('the message', () => here.platform.messages.length === 1);
  expect(contents(here)[0]).toMatch(
    /^The lamp \[image: lamp\.png\], and once more \[image: lamp\.png\]\.\n\nThe box \[image: box\.png\]\. /,
  );
  expect(uploads(here)).toBe(2);
});

test('an image that cannot be uploaded is named', async () => {
  const here = scene('refused');
  here.platform.gate = (call, response) => {
    if (call !== 'POST /media/') return undefined;
    response.writeHead(415).end();
    return Promise.resolve('taken');
  };
  await send(here);
  await waitFor('the message', () => here.platform.messages.length === 1);
  expect(contents(here)[0]).toMatch(/^The lamp \[image: lamp\.png\], and once more /);
});
