import { EventEmitter } from 'node:events';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { runCli } from '../../src/cli/run.ts';
import type { Entry } from '../../src/spool/entry.ts';
import { captureTerminal } from '../support/capture-terminal.ts';
import { ACME, INBOX } from '../support/gateway-config.ts';
import { SmtpClient } from '../support/smtp-client.ts';
import { waitForEntries } from '../support/spool-beside.ts';
import { waitFor } from '../support/wait-for.ts';
import { scene, type Scene } from './scene.ts';

async function sendRaw(
  { gateway }: Scene,
  lines: readonly string[],
  envelope: { readonly from?: string; readonly to?: string } = {},
): Promise<void> {
  const { from = 'ann@example.com', to = INBOX } = envelope;
  const client = await SmtpClient.connect(gateway.smtpPort);
  try {
    await client.reply();
    await client.envelope([to], from);
    await client.say('DATA');
    client.send(lines.join('\r\n'));
    expect(await client.say('\r\n.')).toMatch(/^250 /);
  } finally {
    client.destroy();
  }
}

const letter = (id: string, headers: readonly string[] = []) => [
  'From: Ann <ann@example.com>',
  `To: ${INBOX}`,
  `Message-ID: <${id}@example.com>`,
  'Subject: Order',
  ...headers,
  '',
  `This is ${id}.`,
];

const bounce = (id: string, recipient: string) => [
  'From: Mail Delivery System <MAILER-DAEMON@mx.example.com>',
  `To: ${INBOX}`,
  `Message-ID: <${id}@mx.example.com>`,
  'Subject: Undelivered Mail Returned to Sender',
  'Content-Type: multipart/report; report-type=delivery-status; boundary=b',
  '',
  '--b',
  '',
  'It could not be delivered.',
  '--b',
  'Content-Type: message/delivery-status',
  '',
  'Reporting-MTA: dns; mx.example.com',
  '',
  `Final-Recipient: rfc822; ${recipient}`,
  'Action: failed',
  'Status: 5.2.2',
  'Diagnostic-Code: smtp; 552 mailbox full',
  '--b',
  'Content-Type: text/rfc822-headers',
  '',
  `From: ${INBOX}`,
  'Message-ID: <reply-1@acme.example>',
  '--b--',
];

/** Waits until nothing is on its way, and answers all entries, oldest first. */
function settled({ dataDir }: Scene, count: number): Promise<readonly Entry[]> {
  return waitForEntries(dataDir, 'all entries to be settled', (entries) => {
    const open = entries.some(({ state }) => state === 'queued' || state === 'delivering');
    return entries.length === count && !open && entries.toReversed();
  });
}

async function contactsOf({ platform }: Scene): Promise<readonly (string | null)[]> {
  const response = await fetch(`${platform.url}/v2026-04/contacts/`, {
    headers: { authorization: `Bearer ${ACME.apiKey}`, 'x-shop-id': ACME.shopId },
  });
  // The local platform's own list, which its tests hold to the schema.
  const page = (await response.json()) as { results: { email: string | null }[] };
  return page.results.map(({ email }) => email);
}

test('a bounce is a line on the timeline of the contact that was not reached, and no message', async () => {
  const stage = await scene();
  await sendRaw(stage, letter('one'));
  await settled(stage, 1);
  await sendRaw(stage, bounce('b1', 'Ann@example.com'), { from: '' });
  const [, message, event] = await settled(stage, 3);
  expect(message).toMatchObject({
    kind: 'message',
    state: 'suppressed',
    reason: { code: 'bounce' },
  });
  expect(event).toMatchObject({ kind: 'event', state: 'delivered' });

  const { platform } = stage;
  expect(platform.messages).toHaveLength(1);
  expect(platform.inspect.events(ACME.shopId)).toMatchObject([
    {
      name: 'Email not delivered',
      description: '5.2.2 smtp; 552 mailbox full\nMessage-ID: <reply-1@acme.example>',
      contact_id: platform.messages[0]?.contact_id,
    },
  ]);
  expect(await contactsOf(stage)).toEqual(['ann@example.com']);
});

test('a forged bounce about a stranger makes neither a contact nor an event', async () => {
  const stage = await scene();
  await sendRaw(stage, bounce('b1', 'stranger@example.net'), { from: '' });
  const [message, event] = await settled(stage, 2);
  expect(message).toMatchObject({
    kind: 'message',
    state: 'suppressed',
    reason: { code: 'bounce' },
  });
  expect(event).toMatchObject({
    kind: 'event',
    state: 'suppressed',
    reason: { code: 'no_such_contact' },
  });
  expect(stage.platform.inspect.events(ACME.shopId)).toEqual([]);
  expect(await contactsOf(stage)).toEqual([]);
});

test('a suppressed automatic reply is a line on its sender’s timeline', async () => {
  const stage = await scene();
  await sendRaw(stage, letter('one'));
  await settled(stage, 1);
  await sendRaw(stage, letter('two', ['Auto-Submitted: auto-replied']));
  await settled(stage, 3);
  const { platform } = stage;
  expect(platform.messages).toHaveLength(1);
  expect(platform.inspect.events(ACME.shopId)).toMatchObject([
    { name: 'Automatic reply', contact_id: platform.messages[0]?.contact_id },
  ]);
});

test('an event that the platform does not take is tried again', async () => {
  const stage = await scene();
  const { platform } = stage;
  await sendRaw(stage, letter('one'));
  await settled(stage, 1);
  let failures = 0;
  platform.gate = (call, response) => {
    if (call !== 'POST /events/' || failures === 3) return undefined;
    failures += 1;
    response.writeHead(503).end();
    return Promise.resolve('taken');
  };
  await sendRaw(stage, bounce('b1', 'ann@example.com'), { from: '' });
  await settled(stage, 3);
  expect(failures).toBe(3);
  expect(platform.inspect.events(ACME.shopId)).toHaveLength(1);
});

test('an entry that is tried again counts once toward the loop limits', async () => {
  const stage = await scene({
    loop: { per10min: 1, perHour: 1, perThreadPer10min: 1, sameBodyPerHour: 2 },
  });
  const { platform } = stage;
  let failures = 0;
  platform.faults = () => {
    failures += 1;
    return failures <= 3 ? { kind: 'status', status: 500 } : undefined;
  };
  await sendRaw(stage, letter('one'));
  expect(await settled(stage, 1)).toMatchObject([{ state: 'delivered' }]);
  expect(failures).toBeGreaterThan(3);
});

const two = { per10min: 2, perHour: 100, perThreadPer10min: 100, sameBodyPerHour: 100 };

test.each<[string, string, readonly string[], object]>([
  ['a bounce', 'suppressed bounce', ['X-Failed-Recipients: nobody@example.net'], {}],
  ['an automatic reply', 'suppressed auto_reply', ['Auto-Submitted: auto-replied'], {}],
  ['bulk mail', 'suppressed bulk', ['List-Id: <news.example.com>'], {}],
  ['our own mail', 'suppressed loop', [`Sender: ${INBOX}`], {}],
  ['auto-generated mail', 'held auto_generated', ['Auto-Submitted: auto-generated'], {}],
  ['two From lines', 'held several_from', ['From: eve@example.net'], {}],
  ["the postmaster's mail", 'held postmaster', [], { to: 'postmaster@acme.example' }],
  ['a fast sender', 'held rate_limit', [], {}],
])('queue release: %s goes out as usual', async (name, expected, headers, envelope) => {
  const isFast = name === 'a fast sender';
  const stage = await scene({ ...(isFast && { loop: two }) });
  const before = isFast ? ['one', 'two'] : [];
  for (const id of before) await sendRaw(stage, letter(id));
  await sendRaw(stage, letter('waiting', headers), envelope);
  const events = expected.startsWith('suppressed bounce') || expected.endsWith('reply') ? 1 : 0;
  const entries = await settled(stage, before.length + 1 + events);
  const entry = entries.find(({ remoteId }) => remoteId === '<waiting@example.com>');
  expect(`${entry?.state ?? ''} ${entry?.reason?.code ?? ''}`).toBe(expected);
  expect(stage.platform.messages).toHaveLength(before.length);

  const terminal = captureTerminal();
  const config = join(stage.dataDir, 'gateway.json');
  const id = entry?.id ?? '';
  const process = Object.assign(new EventEmitter(), { exit: () => undefined });
  expect(await runCli(['queue', 'release', id, '--config', config], terminal, process)).toBe(0);
  expect(terminal.stdout()).toBe(`${id}: released\n`);

  await waitFor('the message', () => stage.platform.messages.length === before.length + 1);
  expect(stage.platform.payloads.at(-1)?.message).toMatchObject({
    content: 'This is waiting.',
    remote_id: '<waiting@example.com>',
  });
  const after = await settled(stage, before.length + 1 + events);
  expect(after.find((each) => each.id === id)?.state).toBe('delivered');
});
