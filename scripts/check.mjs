// npm run check: every check:... script of package.json, as many at once as there are processors. What
// one prints is shown when it is done; all of them run, so that one mistake does not hide another.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { ROOT } from './workspace.mjs';

const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const waiting = Object.keys(scripts).filter((name) => name.startsWith('check:'));

/** Resolves with whether it passed. */
function runScript(name) {
  const started = performance.now();
  const child = spawn('npm', ['run', '--silent', name], { cwd: ROOT });
  const output = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => output.push(part));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      const seconds = Math.round((performance.now() - started) / 1000);
      console.error(`${name}: ${code === 0 ? 'passed' : 'FAILED'}, ${seconds} s`);
      process.stderr.write(Buffer.concat(output));
      resolve(code === 0);
    });
  });
}

async function runWaiting() {
  let passed = true;
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    passed = (await runScript(name)) && passed;
  }
  return passed;
}

const lines = Array.from({ length: Math.max(1, availableParallelism()) }, runWaiting);
if ((await Promise.all(lines)).includes(false)) process.exitCode = 1;
