// npm run check: every check:... script of package.json, as many at once as there are processors; all of
// them run, so that one mistake does not hide another.
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { ROOT, runInBackground } from './workspace.mjs';

const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const waiting = Object.keys(scripts).filter((name) => name.startsWith('check:'));

async function runWaiting() {
  let passed = true;
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    passed = (await runInBackground(name)) && passed;
  }
  return passed;
}

const lines = Array.from({ length: Math.max(1, availableParallelism()) }, runWaiting);
if ((await Promise.all(lines)).includes(false)) process.exitCode = 1;
