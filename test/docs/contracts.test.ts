import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import {
  GRAPH_API,
  GRAPH_VERSIONS,
} from '../../src/channels/sms/providers/whatsapp-cloud/graph-versions.ts';

const page = readFileSync('docs/contracts.md', 'utf8');
const tables = page
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  );
const rows = tables.filter(
  ({ length, [0]: first }) => length === 6 && !/^(?:interface|-+)$/.test(first ?? ''),
);
const named = (text = '') => [...text.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
const PACKAGE = /^((?:@[\w-]+\/)?[\w.-]+)@(\d.*)$/;
const packages = z
  .object({
    dependencies: z.record(z.string(), z.string()),
    devDependencies: z.record(z.string(), z.string()),
  })
  .transform((each) => ({ ...each.dependencies, ...each.devDependencies }))
  .parse(JSON.parse(readFileSync('package.json', 'utf8')));

describe('docs/contracts.md', () => {
  test.each(rows)(
    '%s: its files have what it names',
    (_interface, reliedOn, version, _page, _read, file) => {
      const files = named(file).map((each) => join('src', each));
      expect(files.filter((each) => !existsSync(each))).toEqual([]);
      const source = files.map((each) => readFileSync(each, 'utf8')).join('\n');
      const names = named(`${reliedOn} ${version}`).filter((name) => !PACKAGE.test(name));
      expect(names.filter((name) => !source.includes(name))).toEqual([]);
      expect(files).not.toEqual([]);
    },
  );

  test.each(rows)('%s: has a page and the day on which it was read', (...[, , , at, read = '']) => {
    expect(at).toMatch(/^(?:https:\/\/|the (?:same|platform's) document\b)/);
    const [, day = ''] = /^(?:not since )?(\d{4}-\d\d-\d\d)$/.exec(read) ?? [];
    expect(Date.parse(day)).toBeLessThanOrEqual(Date.now());
  });

  test('has the versions of packages that are installed', () => {
    const versions = named(page).flatMap((name) => (PACKAGE.test(name) ? [name] : []));
    const installed = versions.map((name) => {
      const [, of = ''] = PACKAGE.exec(name) ?? [];
      return `${of}@${packages[of]}`;
    });
    expect(versions).toEqual(installed);
    expect(versions.length).toBeGreaterThan(8);
  });

  test('has the versions of the Graph API that doctor knows', () => {
    const listed = tables.filter(([first]) => /^v\d/.test(first ?? ''));
    expect(listed).toEqual(
      [...GRAPH_VERSIONS].map(([version, ends = 'not announced']) => [version, ends]),
    );
    expect(GRAPH_VERSIONS.has(GRAPH_API.split('/').at(-1) ?? '')).toBe(true);
  });
});

test.each(['src/config/shop-schema.ts', 'config/default.yaml'])(
  'the version of the Graph API in %s is the one that the code was written for',
  (file) => {
    const found = readFileSync(file, 'utf8').match(/https:\/\/graph\.facebook\.com[^\s']*/g);
    expect(new Set(found)).toEqual(new Set([GRAPH_API]));
  },
);
