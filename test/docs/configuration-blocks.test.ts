import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { loadConfig } from '../../src/config/load.ts';
import type { Mistake } from '../../src/config/mistakes.ts';
import { configSchema } from '../../src/config/schema.ts';
import { tempDir } from '../support/temp-dir.ts';
import { pages } from './pages.ts';

/** Blocks of YAML whose keys are the configuration's: other programs' files stand in pages too. */
const blocks = pages().flatMap(({ file, blocks }) =>
  blocks
    .filter(({ language, text }) => language === 'yaml' && isConfiguration(text))
    .map(({ text, line }) => [`${file}:${line}`, text] as const),
);

function isConfiguration(text: string): boolean {
  const value: unknown = parse(text);
  const keys = typeof value === 'object' && value !== null ? Object.keys(value) : [];
  return keys.length > 0 && keys.every((key) => key in configSchema.shape);
}

/** What a page leaves out, it says by an ellipsis; and the files that it names are not here. */
const isOnPurpose = ({ found, expected }: Mistake, text: string): boolean =>
  (found === 'nothing' && text.includes('…')) || /^a readable (?:file|folder)$/.test(expected);

/** What might stand in a variable of this name. */
function valueOf(name: string): string {
  if (name.includes('WEBHOOK_URL')) return 'https://hooks.example/a-token';
  if (name.includes('URL')) return 'smtp://relay.example:587';
  return `${name}-of-32-characters-or-more-0000`;
}

test('there are some', () => expect(blocks.length).toBeGreaterThan(0));

test.each(blocks)('the configuration in %s has no mistakes', (_where, text) => {
  const folder = tempDir();
  try {
    const file = join(folder.path, 'sluice.yaml');
    writeFileSync(file, text);
    const names = [...text.matchAll(/\$\{(\w+)\}/g)].map(([, name]) => name ?? '');
    const env = Object.fromEntries(names.map((name) => [name, valueOf(name)]));
    const loaded = loadConfig({ file, env });
    const mistakes = loaded.ok ? [] : loaded.mistakes;
    expect(mistakes.filter((mistake) => !isOnPurpose(mistake, text))).toEqual([]);
  } finally {
    folder.remove();
  }
});
