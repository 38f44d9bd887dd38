// npm run fixtures: what the platform would get of each message in test/fixtures/email/, compared
// with what was accepted.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import './ts-loader.mjs';
import { installWhenNeeded } from './install.mjs';

const USAGE = `Usage: npm run fixtures [-- [--accept] [NAME...]]

Reads the messages test/fixtures/email/NAME.eml (all of them without a NAME) and shows how what
the platform would get differs from what NAME.json expects. Exits with 1 when something differs.

  --accept  write what comes out into NAME.json; read the difference before you commit it
  --help    show this`;

/** JSON with the lines of its texts on lines of their own. */
function readable(payload) {
  if (payload === undefined) return '';
  return JSON.stringify(payload, null, 2)
    .split('\n')
    .map((line) => line.replaceAll('\\n', `\n${' '.repeat(line.search(/\S/) + 4)}`))
    .join('\n');
}

async function main({ values, positionals }) {
  const fixtures = await import('../test/channels/email/normalize/fixture-messages.ts');
  const { lineDiff } = await import('../test/support/line-diff.ts');
  const known = new Set(fixtures.fixtureNames());
  const names = positionals.map((name) => name.replace(/^.*\/|\.(?:eml|json)$/g, ''));
  const unknown = names.filter((name) => !known.has(name));
  if (unknown.length > 0) {
    console.error(`There is no message ${unknown.join(', ')}.`);
    return 2;
  }
  const scratch = mkdtempSync(join(tmpdir(), 'sluice-fixtures-'));
  let different = 0;
  try {
    for (const name of names.length > 0 ? names : known) {
      const actual = await fixtures.actualPayload(name, join(scratch, name));
      const diff = lineDiff(readable(fixtures.expectedPayload(name)), readable(actual));
      if (diff.length === 0) continue;
      different += 1;
      console.log(`${name}\n${diff.map((line) => `  ${line}`).join('\n')}\n`);
      if (values.accept) fixtures.acceptPayload(name, actual);
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  const orphans = names.length > 0 ? [] : fixtures.orphanedExpectations();
  for (const name of orphans) console.log(`${name}.json has no message.\n`);
  const read = names.length > 0 ? names.length : known.size;
  console.log(`${read} messages, ${different} ${values.accept ? 'accepted' : 'different'}`);
  return (different > 0 && !values.accept) || orphans.length > 0 ? 1 : 0;
}

function readArguments() {
  const options = { accept: { type: 'boolean' }, help: { type: 'boolean' } };
  try {
    return parseArgs({ options, allowPositionals: true });
  } catch (error) {
    console.error(`${error.message}\n\n${USAGE}`);
    return undefined;
  }
}

const given = readArguments();
if (given?.values.help) {
  console.log(USAGE);
} else {
  await installWhenNeeded();
  process.exitCode = given === undefined ? 2 : await main(given);
}
