import { EventEmitter } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, afterAll, expect, test } from '@jest/globals';
import type { Command } from 'commander';
import { createProgram } from '../../src/cli/program.ts';
import { runCli } from '../../src/cli/run.ts';
import { completeConfig } from '../../src/config/complete.ts';
import { loadConfig } from '../../src/config/load.ts';
import { openStore } from '../support/store.ts';
import { asEntryId } from '../../src/domain/ids.ts';
import { captureTerminal } from '../support/capture-terminal.ts';
import { anEntry } from '../support/entries.ts';
import { tempDir } from '../support/temp-dir.ts';

const PAGE = readFileSync('docs/json.md', 'utf8');
const dir = tempDir();
afterAll(() => dir.remove());
const env = { SLUICE_DATA_DIR: join(dir.path, 'data') };
const id = asEntryId('the-one-entry');

beforeAll(async () => {
  writeFileSync(join(dir.path, 'one.eml'), 'From: a@x.example\nTo: b@x.example\n\nHello\n');
  const loaded = loadConfig({ env });
  if (!loaded.ok) throw new Error('the defaults are not valid');
  const { shops } = await completeConfig(loaded.config);
  const shopId = shops[0]?.shopId;
  const store = await openStore(join(dir.path, 'data'));
  await store.spool.accept([anEntry({ ...(shopId && { shopId }), id, hold: { code: 'dmarc' } })]);
  await store.operator.audit({ who: 'terminal:me', action: 'a', target: 't', outcome: 'o' });
  await store.spool.close();
});

/** The fields that the section's tables name in their first column. */
function documented(section: string): string[] {
  const [, after = ''] = PAGE.split(`\n## ${section}\n`);
  const rows = after.split('\n## ')[0]?.match(/^\| `[^|]*/gm) ?? [];
  return rows.flatMap((row) => [...row.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name));
}

async function printed(...args: string[]): Promise<string[]> {
  const terminal = captureTerminal(env);
  const events = Object.assign(new EventEmitter(), { exit: () => undefined });
  await runCli([...args, '--json'], terminal, events);
  const value = JSON.parse(terminal.stdout()) as object | object[];
  return Object.keys(Array.isArray(value) ? (value[0] as object) : value);
}

/** The commands with --json, as their sections name them. */
function withJson(command: Command, names: readonly string[] = []): string[] {
  const own = command.options.some(({ long }) => long === '--json') ? [names.join(' ')] : [];
  return [
    ...own,
    ...command.commands.flatMap((child) => withJson(child, [...names, child.name()])),
  ];
}

test('each command with --json has a section', () => {
  const sections = [...PAGE.matchAll(/^## (.*)$/gm)].flatMap(([, heading = '']) => {
    const [first = '', ...others] = heading.split(', ');
    const group = first.split(' ')[0] ?? '';
    return [first, ...others.map((name) => `${group} ${name}`)];
  });
  const events = Object.assign(new EventEmitter(), { exit: () => undefined });
  const named = withJson(createProgram(captureTerminal(), events));
  expect(named.length).toBeGreaterThan(20);
  // Those of `platform` print the platform's own objects.
  const missing = named.filter((name) => !name.startsWith('platform ') && !sections.includes(name));
  expect(missing).toEqual([]);
});

// `audit` comes first: others add lines to it.
test.each([
  ['audit', ['audit'], []],
  ['queue list', ['queue', 'list'], []],
  ['queue show', ['queue', 'show', id], ['queue list']],
  ['queue stats', ['queue', 'stats'], []],
  ['queue export', ['queue', 'export', '--output', join(dir.path, 'out.jsonl')], []],
  ['queue retry, release, discard, restore, undo', ['queue', 'release', '--all', '--yes'], []],
  ['config check', ['config', 'check'], []],
  ['shops', ['shops'], []],
  ['shops try', ['shops', 'try', 'demo'], []],
  ['doctor', ['doctor', '--only', 'clock'], []],
  ['token create', ['token', 'create', 'ci'], ['token list']],
  ['token list', ['token', 'list'], []],
  ['token revoke', ['token', 'revoke', 'ci'], []],
  ['ingest', ['ingest', join(dir.path, 'one.eml'), '--dry-run'], []],
  ['backup', ['backup', join(dir.path, 'copy')], []],
  ['erase', ['erase', '--address', 'nobody@x.example', '--yes'], []],
  ['export', ['export', '--address', 'nobody@x.example'], []],
])('the fields of %s are those of the page', async (section, args, more) => {
  const fields = await printed(...args);
  expect(fields.length).toBeGreaterThan(1);
  const known = [section, ...more].flatMap(documented);
  expect(fields.filter((field) => !known.includes(field))).toEqual([]);
});
