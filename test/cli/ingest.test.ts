import { buffer } from 'node:stream/consumers';
import { EventEmitter } from 'node:events';
import {
  createReadStream,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { mboxReader } from 'mbox-reader';
import { runCli } from '../../src/cli/run.ts';
import { completeConfig } from '../../src/config/complete.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { Entry } from '../../src/spool/entry.ts';
import type { Spool } from '../../src/spool/spool.ts';
import { openStore } from '../support/store.ts';
import type { ShopId } from '../../src/domain/ids.ts';
import { captureTerminal } from '../support/capture-terminal.ts';
import { ends } from '../support/ends.ts';
import { anEntry } from '../support/entries.ts';
import { tempDir } from '../support/temp-dir.ts';

let dir: string;
let spool: Spool;
let shopId: ShopId;
const events = Object.assign(new EventEmitter(), { exit: () => undefined });

/** A gateway's own spool stays open: the command works beside it. */
beforeEach(async () => {
  const made = tempDir();
  dir = made.path;
  ends(made.remove);
  spool = await openData('data');
});

async function openData(name: string): Promise<Spool> {
  const loaded = loadConfig({ env: env(name) });
  if (!loaded.ok) throw new Error('the defaults are not valid');
  const { shops } = await completeConfig(loaded.config);
  shopId = shops[0]?.shopId ?? shopId;
  const store = await openStore(join(dir, name));
  ends(() => store.spool.close());
  return store.spool;
}

const env = (name = 'data') => ({ SLUICE_DATA_DIR: join(dir, name) });

async function sluice(args: readonly string[], name = 'data') {
  const terminal = captureTerminal(env(name));
  const code = await runCli(args, terminal, events);
  const { stdout, stderr, bytes } = terminal;
  return { code, stdout: stdout(), stderr: stderr(), bytes: bytes() };
}
const ingest = (...args: string[]) => sluice(['ingest', ...args]);

function file(name: string, text: string | Buffer): string {
  const path = join(dir, name);
  writeFileSync(path, text);
  return path;
}

const message = (n: number, to = 'support@demo.example', more = ''): string =>
  `From: Ann <ann${n}@customer.example>\nTo: ${to}\nSubject: Lamp ${n}\n` +
  `Message-ID: <${n}@customer.example>\n${more}\nHello ${n}\n`;

const entries = async (): Promise<readonly Entry[]> =>
  (await spool.list({ limit: 1000 })).toReversed();

const rawOf = async ({ id }: Entry): Promise<string> => {
  const raw = await spool.raw(id);
  if (raw?.kind === 'inline') return Buffer.from(raw.bytes).toString('latin1');
  if (raw === undefined) return '';
  return (await buffer(spool.blobs.read(raw.blob))).toString('latin1');
};

test('an .eml file comes in by the door of SMTP: same dedup, CRLF, envelope from its headers', async () => {
  const eml = file(
    'a.eml',
    `Delivered-To: help@demo.example\nReturn-Path: <bounce@list.example>\n${message(1)}`,
  );
  expect(await ingest(eml)).toMatchObject({
    code: 0,
    stdout: 'ingested: 1, already present: 0, failed: 0\n',
  });
  expect(await ingest(eml)).toMatchObject({
    code: 0,
    stdout: 'ingested: 0, already present: 1, failed: 0\n',
  });
  const [entry, other] = await entries();
  if (entry === undefined) throw new Error('there is no entry');
  expect(other).toBeUndefined();
  expect(entry).toMatchObject({
    channel: 'email',
    state: 'queued',
    remoteId: '<1@customer.example>',
    meta: {
      envelopeFrom: 'bounce@list.example',
      envelopeTo: ['help@demo.example'],
      remoteAddress: 'ingest',
      receivedHeader: expect.stringContaining('with INGEST id'),
    },
  });
  expect(await rawOf(entry)).toContain('\r\n\r\nHello 1\r\n');
});

test('--to and --from are the envelope; --shop gives what is for nobody to its first inbox', async () => {
  const eml = file('a.eml', message(1, 'someone@elsewhere.example'));
  const refused = await ingest(eml);
  expect(refused).toMatchObject({
    code: 1,
    stdout: 'ingested: 0, already present: 0, failed: 1\n',
    stderr: expect.stringContaining(
      `${eml}: none of its recipients belongs to a shop (give --to or --shop)`,
    ),
  });
  expect((await ingest(eml, '--to', 'sales@demo.example', '--from', '')).code).toBe(0);
  expect((await entries())[0]?.meta).toMatchObject({
    envelopeFrom: '',
    envelopeTo: ['sales@demo.example'],
  });
  const second = file('b.eml', message(2, 'someone@elsewhere.example'));
  expect((await ingest(second, '--shop', 'demo')).code).toBe(0);
  expect((await entries())[1]?.meta).toMatchObject({ envelopeTo: ['support@demo.example'] });
  expect(await ingest(eml, '--to', 'nobody@elsewhere.example')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('the address given by --to belongs to no shop'),
  });
});

test('an mbox: quoted lines, dates, order, and each failure with its place', async () => {
  const first = `From ann@customer.example Sat Nov  1 10:00:00 2025\n${message(1)}>From me\n>>From you\nFrom here on\n\n`;
  const second = `From MAILER-DAEMON Sat Nov  1 11:00:00 2025 +0100\n${message(2, 'x@elsewhere.example')}\n`;
  const third = `From b@customer.example Sat Nov  1 12:00:00 2025\r\n${message(3).replaceAll('\n', '\r\n')}\r\n`;
  const box = file('a.mbox', first + second + third);
  const { code, stdout, stderr } = await ingest(box);
  expect({ code, stdout }).toEqual({
    code: 1,
    stdout: 'ingested: 2, already present: 0, failed: 1\n',
  });
  expect(stderr).toContain(`${box}:${first.length}: none of its recipients belongs to a shop`);
  const [a, b] = await entries();
  if (a === undefined || b === undefined) throw new Error('two entries were expected');
  expect(await rawOf(a)).toMatch(/Hello 1\r\nFrom me\r\n>From you\r\nFrom here on\r\n$/);
  expect(a.receivedAt).toBe(Date.UTC(2025, 10, 1, 10));
  expect(a.meta).toMatchObject({ envelopeFrom: 'ann@customer.example' });
  expect(await rawOf(b)).toMatch(/\r\n\r\nHello 3\r\n$/);
});

test('what is too large is passed over whole, and the next message is taken in', async () => {
  const config = join(dir, 'small.json');
  writeFileSync(config, JSON.stringify({ smtp: { maxMessageBytes: 70_000 } }));
  const line = `${'x'.repeat(70)}\n`;
  const box = file(
    'a.mbox',
    [line.repeat(2000), line.repeat(950), 'small\n', `${'y'.repeat(65_000)}\n`]
      .map((body, n) => `From a@b.example Sat Nov  1 10:00:00 2025\n${message(n)}${body}\n`)
      .join(''),
  );
  const { code, stdout } = await sluice(['ingest', '--json', '--config', config, box]);
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({
    accepted: 3,
    failed: 1,
    failures: [
      { file: box, offset: 0, reason: expect.stringContaining('larger than 70000 bytes') },
    ],
  });
  const [large] = await entries();
  expect(large).toMatchObject({ rawSize: expect.any(Number), remoteId: '<1@customer.example>' });
  expect(large?.rawSize).toBeGreaterThan(64 * 1024);
});

test('a Maildir: cur and new in the order of their names, tmp is left alone', async () => {
  const maildir = join(dir, 'Maildir');
  for (const part of ['cur', 'new', 'tmp']) mkdirSync(join(maildir, part), { recursive: true });
  file('Maildir/cur/1700000002.M1.host:2,S', message(2));
  file('Maildir/new/1700000001.M1.host', message(1));
  file('Maildir/tmp/1700000000.M1.host', message(9));
  expect((await ingest(maildir)).stdout).toBe('ingested: 2, already present: 0, failed: 0\n');
  expect((await entries()).map(({ remoteId }) => remoteId)).toEqual([
    '<1@customer.example>',
    '<2@customer.example>',
  ]);
  mkdirSync(join(dir, 'empty'));
  expect(await ingest(join(dir, 'empty'))).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('is not a Maildir'),
  });
  expect(await ingest(join(dir, 'nothing'))).toMatchObject({ code: 2 });
});

test('a Maildir with what is no message: links that lead nowhere are told, folders are passed over', async () => {
  const maildir = join(dir, 'Odd');
  mkdirSync(join(maildir, 'cur', '1.folder'), { recursive: true });
  symlinkSync('2.loop', join(maildir, 'cur', '2.loop'));
  writeFileSync(join(maildir, 'cur', '3.a\u001b[2J b:2,S'), message(1));
  const { code, stdout, stderr } = await ingest(maildir);
  expect({ code, stdout }).toEqual({
    code: 1,
    stdout: 'ingested: 1, already present: 0, failed: 1\n',
  });
  expect(stderr).toContain('2.loop: it cannot be read (ELOOP)');
});

test.each([
  ['an mbox', () => `From a@x.example Sat Nov 21 10:00:00 2026\n${message(1)}`],
  ['a message', () => message(1)],
])('- is what comes by a pipe: %s', async (_what, text) => {
  const input = new PassThrough();
  // In pieces, the first shorter than what tells its kind.
  for (const part of [text().slice(0, 3), text().slice(3)]) input.write(part);
  input.end();
  const terminal = Object.assign(captureTerminal(env()), { input });
  expect(await runCli(['ingest', '-'], terminal, events)).toBe(0);
  expect(terminal.stdout()).toBe('ingested: 1, already present: 0, failed: 0\n');
  expect((await ingest('-')).code).toBe(2);
});

test('what begins like an mbox and is none is told, and not passed over as empty', async () => {
  const odd = file('odd.mbox', `From ann@customer.example\n${message(1)}`);
  const { code, stderr } = await ingest(odd);
  expect(code).toBe(1);
  expect(stderr).toContain(`${odd}:0: it does not begin with a "From " line`);
});

test('what is no file and no folder is refused', async () => {
  expect(await ingest('/dev/null')).toMatchObject({
    code: 2,
    stderr: '/dev/null is neither a file nor a folder\n',
  });
});

test('--dry-run tells what would come of it, and changes nothing', async () => {
  await ingest(file('a.eml', message(1)));
  const b = file('b.eml', message(2));
  const c = file('c.eml', message(3, 'x@elsewhere.example'));
  const { code, stdout } = await ingest('--dry-run', join(dir, 'a.eml'), b, c);
  expect({ code, stdout }).toEqual({
    code: 1,
    stdout: 'would be ingested: 1, already present: 1, failed: 1\n',
  });
  expect(await entries()).toHaveLength(1);
});

describe('an export', () => {
  /** An email, a text, a chat message, and one that is swept. */
  async function filled(): Promise<void> {
    await ingest(file('a.eml', `${message(1)}>From a\nFrom b\n`));
    await spool.accept([
      anEntry({
        shopId,
        channel: 'sms',
        remoteId: 'SM1',
        dedupKey: 'SM1',
        meta: { messageSid: 'SM1' },
        raw: { kind: 'inline', bytes: Buffer.from('[["Body","Hi"]]') },
      }),
      anEntry({
        shopId,
        channel: 'web_chat',
        remoteId: 'chat:v:m',
        dedupKey: 'v:m',
        meta: { visitorId: 'v', messageId: 'm', verified: false },
        raw: { kind: 'inline', bytes: Buffer.from('{"text":"Hi","uploads":[]}') },
      }),
    ]);
  }

  test('as JSON lines is taken in again: here nothing twice, elsewhere everything once', async () => {
    await filled();
    const out = join(dir, 'all.jsonl');
    const exported = await sluice(['queue', 'export', '-o', out]);
    expect(exported).toMatchObject({
      code: 0,
      stdout: '',
      stderr: `3 entries written to ${out}\n`,
    });
    expect(statSync(out).mode & 0o777).toBe(0o600);
    const lines = readFileSync(out, 'utf8').trim().split('\n');
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { version: 1, channel: 'email', subject: 'Lamp 1', timeline: [{ step: 'accepted' }] },
      { channel: 'sms' },
      { channel: 'web_chat' },
    ]);
    expect((await ingest(out)).stdout).toBe('ingested: 0, already present: 3, failed: 0\n');

    const before = await entries();
    const other = await openData('other');
    // The demo shop of another folder has another id, and the same name.
    expect((await sluice(['ingest', out], 'other')).stdout).toBe(
      'ingested: 3, already present: 0, failed: 0\n',
    );
    const after = (await other.list({ limit: 10 })).toReversed();
    expect(after.map(({ channel }) => channel)).toEqual(['email', 'sms', 'web_chat']);
    expect(after.map(({ receivedAt }) => receivedAt)).toEqual(
      before.map((each) => each.receivedAt),
    );
    const [email] = before;
    spool = other;
    const [again] = after;
    expect(again && (await rawOf(again))).toContain('Hello 1\r\n>From a\r\nFrom b\r\n');
    expect(again?.remoteId).toBe(email?.remoteId);
  });

  test('as mbox has the emails, quoted; another reader and ingest find the same messages', async () => {
    await filled();
    // Its last line has no end, which an mbox cannot tell from one that has.
    await ingest(file('b.eml', message(2).trimEnd()));
    const out = join(dir, 'all.mbox');
    const exported = await sluice(['queue', 'export', '--format', 'mbox', '--output', out]);
    expect(exported.stderr).toBe(`2 entries written to ${out}; left out: 1 sms, 1 web_chat\n`);
    expect(readFileSync(out, 'latin1')).toContain('\nHello 1\n>>From a\n>From b\n\nFrom ann2@');
    const found: string[] = [];
    for await (const { content, returnPath } of mboxReader(createReadStream(out))) {
      found.push(`${returnPath} ${content.toString().split('\n\n')[1] ?? ''}`);
    }
    expect(found).toEqual([
      'ann1@customer.example Hello 1\n>From a\nFrom b',
      'ann2@customer.example Hello 2',
    ]);
    expect((await ingest(out)).stdout).toBe('ingested: 0, already present: 2, failed: 0\n');
  });

  test('to the output, filtered, without raw forms', async () => {
    await filled();
    const { bytes, stderr } = await sluice(['queue', 'export', '--channel', 'sms', '--no-raw']);
    expect(JSON.parse(bytes.toString())).toMatchObject({ channel: 'sms' });
    expect(bytes.toString()).not.toContain('"raw":');
    expect(stderr).toBe('1 entry\n');
  });

  test('that cannot be written leaves nothing behind, and says why', async () => {
    const told = await sluice(['queue', 'export', '-o', join(dir, 'no', 'folder.jsonl')]);
    expect(told).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the folder does not exist'),
    });
  });

  test('never takes the place of a device, and never writes an mbox to a screen', async () => {
    const told = await sluice(['queue', 'export', '-o', '/dev/null']);
    expect(told).toMatchObject({ code: 2, stderr: expect.stringContaining('is not a file') });
    expect(statSync('/dev/null').isCharacterDevice()).toBe(true);
    const terminal = Object.assign(captureTerminal(env()), { columns: 80 });
    expect(await runCli(['queue', 'export', '--format', 'mbox'], terminal, events)).toBe(2);
  });

  test('with lines that are none tells where they stand', async () => {
    const out = file('bad.jsonl', '{"version":1}\n{"version":1}\n');
    const { code, stderr } = await ingest(out);
    expect(code).toBe(1);
    expect(stderr).toContain(`${out}:0: it is not a line of queue export`);
    expect(stderr).toContain(`${out}:14: it is not a line of queue export`);
  });
});
