import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import Database from 'better-sqlite3';
import { ends } from '../support/ends.ts';
import {
  aGateway,
  ANN,
  annAndBob,
  annsMail,
  BOB,
  CANARY,
  command,
  outbox,
  send,
} from '../support/person-scene.ts';
import { type Cluster, startCluster } from '../support/postgres-cluster.ts';
import { sendSms, sidOf } from '../support/sms-sender.ts';
import { tempDir } from '../support/temp-dir.ts';
import { THEIR_NUMBER } from '../support/twilio-stand-in.ts';
import { waitFor } from '../support/wait-for.ts';
import { zipContents } from '../support/zip-contents.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster({ settings: ['fsync = off'] });
});
afterAll(() => cluster.stop());

interface Report {
  readonly output: string;
  readonly files: number;
  readonly missing: readonly string[];
  readonly found: object;
  readonly others: { readonly entries: readonly object[] };
  readonly notSearched: readonly string[];
}
type Contents = ReadonlyMap<string, Buffer>;

/** A new file, and how the command is called for it. */
function newFile(): string {
  const dir = tempDir();
  ends(() => dir.remove());
  return join(dir.path, 'person.zip');
}

async function exported(dataDir: string, address: string) {
  const file = newFile();
  const args = ['export', '--address', address, '--json', '--output', file];
  const { code, out, err } = await command(dataDir, ...args);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  // What the command promises to programs.
  return { file, report: JSON.parse(out) as Report, contents: await zipContents(file) };
}

const object = (contents: Contents, path: string) =>
  JSON.parse(contents.get(path)?.toString() ?? '{}') as Record<string, unknown>;
const records = (contents: Contents, path: string) =>
  JSON.parse(contents.get(path)?.toString() ?? '[]') as Record<string, unknown>[];
const idsIn = (contents: Contents, path: string) =>
  records(contents, path)
    .map(({ id }) => String(id))
    .sort();
const below = (contents: Contents, folder: RegExp) =>
  [...contents.keys()].filter((path) => folder.test(path));

/** What the stores have, by kind. */
async function stored(dataDir: string): Promise<Readonly<Record<string, string[]>>> {
  const { out } = await command(dataDir, 'queue', 'list', '--json');
  const entries = JSON.parse(out) as { id: string }[];
  const db = new Database(join(dataDir, 'platform', 'platform.sqlite'), { readonly: true });
  try {
    const ids = (table: string) =>
      db.prepare<[], { id: string }>(`SELECT id FROM ${table} ORDER BY id`).all();
    const media = join(dataDir, 'platform', 'media');
    return {
      entries: entries.map(({ id }) => id).sort(),
      contacts: ids('contacts').map(({ id }) => id),
      messages: ids('messages').map(({ id }) => id),
      conversations: ids('conversations').map(({ id }) => id),
      files: readdirSync(media).filter((name) => existsSync(join(media, name)) && name !== 'tmp'),
      emails: outbox(dataDir).filter((name) => name.endsWith('.eml')),
    };
  } finally {
    db.close();
  }
}

/** The same of an archive. */
const archived = (contents: Contents): Readonly<Record<string, string[]>> => ({
  entries: below(contents, /^entries\/[^/]+\/entry[.]json$/)
    .map((path) => object(contents, path)['id'])
    .map(String)
    .sort(),
  contacts: idsIn(contents, 'platform/contacts.json'),
  messages: idsIn(contents, 'platform/messages.json'),
  conversations: idsIn(contents, 'platform/conversations.json'),
  files: below(contents, /^platform\/files\//).map((path) => path.split('/')[2] ?? ''),
  emails: below(contents, /^platform\/emails\//).map((path) => path.split('/')[2] ?? ''),
});

describe.each(['SQLite', 'PostgreSQL'])('the export of a person from %s', (store) => {
  const scene = async () => {
    const spoolUrl = store === 'SQLite' ? undefined : await cluster.createDatabase();
    return aGateway(spoolUrl === undefined ? {} : { spoolUrl });
  };

  test('has what their erasure removes, and nothing of the mail of others', async () => {
    const { dataDir, running } = await scene();
    const { visitor, say } = await annAndBob(running.gateway, dataDir);
    const before = await stored(dataDir);
    const { file, report, contents } = await exported(dataDir, ANN.toUpperCase());

    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(report).toMatchObject({ output: file, files: contents.size, missing: [] });
    expect(report.notSearched).toEqual([]);
    const [mail = ''] = below(contents, /-email-[^/]+\/message[.]eml$/);
    expect(contents.get(mail)?.toString()).toBe(annsMail());
    const [list = ''] = below(contents, /-email-[^/]+\/files\/1-list[.]txt$/);
    expect(contents.get(list)?.toString()).toBe(`${CANARY} ${ANN}\n`.repeat(4000));
    const [chat = ''] = below(contents, /-web_chat-[^/]+\/message[.]json$/);
    expect(JSON.parse(contents.get(chat)?.toString() ?? '')).toMatchObject({ text: say });
    const [upload = ''] = below(contents, /-web_chat-[^/]+\/files\//);
    expect(contents.get(upload)?.toString()).toBe(`${CANARY} ${ANN}`);
    const [lines = ''] = below(contents, /^chat\/[^/]+\/lines[.]json$/);
    expect(records(contents, lines)).toMatchObject([
      { from: 'visitor', text: say },
      { from: 'agent' },
    ]);
    expect(records(contents, 'conversations.json')).toMatchObject([{ channel: 'web_chat' }]);
    expect(contents.get('README.txt')?.toString()).toContain('platform/files');
    const texts = [...contents.values()].map((bytes) => bytes.toString()).join('\n');
    expect(texts).not.toContain('What Ann wrote');
    expect(report.others.entries).toHaveLength(1);

    visitor.close();
    const erased = await command(dataDir, 'erase', '--address', ANN, '--yes', '--json');
    expect((JSON.parse(erased.out) as Report).found).toEqual(report.found);
    const after = await stored(dataDir);
    const gone = Object.entries(before).map(([kind, ids]) => [
      kind,
      ids.filter((id) => !after[kind]?.includes(id)),
    ]);
    const sorted = Object.entries(archived(contents)).map(([kind, ids]) => [kind, ids.sort()]);
    expect(Object.fromEntries(sorted)).toEqual(
      Object.fromEntries(gone.map(([kind, ids]) => [kind, ids])),
    );
    expect(gone.every(([, ids]) => (ids?.length ?? 0) > 0)).toBe(true);
  });

  test('without a gateway the same; twice into one file is refused, and nobody gets no file', async () => {
    const { dataDir, running } = await scene();
    await send(running.gateway, BOB, annsMail().replaceAll(ANN, BOB));
    await waitFor('the answer', () => outbox(dataDir).length > 0, 50);
    await running.gateway.stop();
    const { file, contents } = await exported(dataDir, BOB);
    expect(archived(contents)['entries']).toHaveLength(1);

    const again = await command(dataDir, 'export', '--address', BOB, '--output', file);
    expect(again).toMatchObject({ code: 2, err: expect.stringMatching(/exists already/) });
    const none = newFile();
    const nobody = ['export', '--address', 'nobody@x.example', '--output', none];
    expect(await command(dataDir, ...nobody)).toMatchObject({
      ...{ code: 1, out: '', err: expect.stringMatching(/nothing is stored about this person/) },
    });
    expect(existsSync(none)).toBe(false);
    const { out } = await command(dataDir, 'audit', '--jsonl');
    expect(JSON.parse(out.split('\n')[0] ?? '')).toMatchObject({
      ...{ action: 'export', target: expect.stringMatching(/^person [0-9a-f]{32}/) },
      outcome: expect.stringMatching(/^done: 1 entry/),
    });
    expect(out).not.toContain(BOB);
  });

  test('a number has its texts, the answers to them and its opt-out', async () => {
    const { dataDir, running } = await scene();
    await sendSms(running.gateway.httpUrl, { MessageSid: sidOf('one'), Body: `Hello ${CANARY}` });
    await waitFor('the answer', () => outbox(dataDir).includes('sms.log'), 50);
    await sendSms(running.gateway.httpUrl, { MessageSid: sidOf('stop'), Body: 'STOP' });
    await waitFor(
      'the line on the timeline',
      async () => {
        const { out } = await command(dataDir, 'queue', 'list', '--json');
        return (
          (JSON.parse(out) as { settledAt?: string }[]).filter((each) => each.settledAt).length ===
          3
        );
      },
      100,
    );
    const { contents } = await exported(dataDir, THEIR_NUMBER);
    expect(archived(contents)['entries']).toHaveLength(3);
    expect(records(contents, 'opt-outs.json')).toMatchObject([{ shop: 'acme', channel: 'sms' }]);
    expect(records(contents, 'platform/texts.json')).toMatchObject([{ to: THEIR_NUMBER }]);
    expect(records(contents, 'platform/events.json').length).toBeGreaterThan(0);
    const raws = below(contents, /-sms-[^/]+\/message[.]json$/).map((path) => contents.get(path));
    expect(raws.filter((raw) => raw?.includes(CANARY))).toHaveLength(1);
  });
});
