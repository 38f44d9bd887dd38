import { EventEmitter } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { runCli } from '../../src/cli/run.ts';
import { captureTerminal } from '../support/capture-terminal.ts';
import { ends } from '../support/ends.ts';
import { tempDir } from '../support/temp-dir.ts';

const events = Object.assign(new EventEmitter(), { exit: () => undefined });
const dir = tempDir();
const file = join(dir.path, 'complaint.eml');
const dataDir = join(dir.path, 'data');
const MESSAGE = [
  'Received: from mx.customer.example by mx.acme.example; Mon, 5 Jan 2026 09:00:00 +0000',
  'From: No Reply <no-reply@forms.example>',
  'Reply-To: Ann <ann@customer.example>',
  'To: support@demo.example',
  'Subject: The lamp is broken',
  'Message-ID: <one@forms.example>',
  'In-Reply-To: <m1@acme.example>',
  'Content-Type: multipart/mixed; boundary=a',
  ...['', '--a', 'Content-Type: multipart/alternative; boundary=b', '', '--b', ''],
  ...['It broke.', '', 'On Mon, 5 Jan 2026 at 08:00 Acme <support@demo.example> wrote:', '> Hello'],
  ...['--b', 'Content-Type: text/html; charset=utf-8', '', '<p>It broke.</p>', '--b--'],
  ...['--a', 'Content-Type: application/pdf; name="bill.pdf"', '', '%PDF-1.4', '--a--', ''],
].join('\r\n');

beforeAll(() => writeFileSync(file, MESSAGE));
afterAll(() => dir.remove());

async function explain(args: readonly string[], input?: string) {
  const terminal = captureTerminal({ SLUICE_DATA_DIR: dataDir });
  const stdin = input === undefined ? undefined : Readable.from([Buffer.from(input)]);
  const code = await runCli(
    ['explain', ...args],
    { ...terminal, ...(stdin && { input: stdin }) },
    events,
  );
  return { code, stdout: terminal.stdout(), stderr: terminal.stderr() };
}

test('shows what was read from which part, of whom, and what was cut by which rule', async () => {
  const { code, stdout } = await explain([file, '--known']);
  expect(code).toBe(0);
  const lines = stdout.split('\n');
  expect(lines).toEqual(
    expect.arrayContaining([
      'shop       demo, support@demo.example',
      'decision   delivered',
      'sender     ann@customer.example: From is a no-reply address, so the person is the one in Reply-To',
      '           not checked (--check-sender asks DNS)',
      'content    the plain text is what was written',
      'quotes     looked for, because it answers a message of the shop',
      '           cut 2 lines: the line before it says who wrote the quoted message, from “On Mon, 5 Jan 2026 at 08:00 Acme <support@demo.example> wrot”',
      '  0    multipart/mixed: contains the parts below',
      '  1    multipart/alternative: contains the parts below',
      '  1.1  text/plain, 84 bytes: the content',
      '  1.2  text/html, utf-8, 16 bytes: another form of the content',
      '  2    application/pdf, bill.pdf, 8 bytes: attachment',
      '    "content": "(It could not be verified who sent this message.)\\n\\nIt broke.",',
      '  bill.pdf  application/pdf  8 bytes',
    ]),
  );
});

test('for programs: codes, their words, and the request', async () => {
  const { code, stdout } = await explain([file, '--json']);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    shop: 'demo',
    decision: { kind: 'deliver' },
    sender: { address: 'ann@customer.example', because: 'no-reply', verified: false },
    body: { why: 'plain_text' },
    quotes: { why: 'unknown_reply', cut: [] },
    request: {
      message: { remote_id: '<one@forms.example>', timestamp: '2026-01-05T09:00:00.000Z' },
    },
    attachments: [{ name: 'bill.pdf', type: 'application/pdf', size: 8 }],
  });
});

test('reads a pipe, says that the shop is a guess, and why a message is held back', async () => {
  const { code, stdout } = await explain(
    ['-'],
    'From: robot@x.example\nTo: other@x.example\nAuto-Submitted: auto-replied\n\nAway\n',
  );
  expect(code).toBe(0);
  expect(stdout).toContain('no recipient of the message is configured (see --to, --shop)');
  expect(stdout).toMatch(/^decision {3}suppressed: /m);
});

test.each([
  [['nowhere.eml'], /nowhere\.eml cannot be read/],
  [['FILE', '--shop', 'dem'], /there is no shop dem/],
  [
    ['FILE', '--to', 'x@elsewhere.example'],
    /x@elsewhere\.example is not an address of a configured shop/,
  ],
  [['FILE', '--check-sender', 'mx.example'], /mx\.example is not an IP address/],
])('%j is a mistake that is named', async (args, message) => {
  const { code, stderr } = await explain(args.map((arg) => (arg === 'FILE' ? file : arg)));
  expect(code).toBe(2);
  expect(stderr).toMatch(message);
});

test('stores nothing', () => {
  expect(readdirSync(dir.path)).toEqual(['complaint.eml']);
});

describe('--fixture', () => {
  const folder = () => {
    const made = tempDir();
    ends(made.remove);
    return made.path;
  };

  test('writes a copy without the words of the person, which is read the same', async () => {
    const into = folder();
    const { code, stdout, stderr } = await explain([file, '--known', '--fixture', into]);
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: `${join(into, 'complaint.eml')}\n`,
      stderr: '',
    });
    const copy = readFileSync(join(into, 'complaint.eml'), 'utf8');
    expect(copy).toContain('To: support@acme.example');
    expect(copy).not.toMatch(/lamp|broke|customer/);
  });

  test('does not overwrite a file', async () => {
    const into = folder();
    writeFileSync(join(into, 'complaint.eml'), 'mine');
    const { code, stderr } = await explain([file, '--fixture', into]);
    expect(code).toBe(2);
    expect(stderr).toContain('complaint.eml cannot be written (EEXIST)');
  });

  test('says when the copy is read differently', async () => {
    const name = 'part-winmail-files.eml';
    const mail = join(import.meta.dirname, '../fixtures/email', name);
    const { code, stderr } = await explain([mail, '--fixture', folder()]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/the copy is read differently \(parts/);
  });
});
