// node --import ./scripts/ts-loader.mjs FILE.ts: runs TypeScript as it stands, for tests and
// benchmarks. Node 20 cannot; the product itself is always compiled. Types become blanks, so that
// stack traces and coverage have the lines and columns of the source.
import { readFile } from 'node:fs/promises';
import { register } from 'node:module';
import { isMainThread } from 'node:worker_threads';

// The same file is the hook: Node loads it once more in a thread of its own.
if (isMainThread) register(import.meta.url);

export async function load(url, context, nextLoad) {
  const file = new URL(url);
  if (file.protocol !== 'file:' || !file.pathname.endsWith('.ts')) return nextLoad(url, context);
  const { transformSync } = await import('@swc/wasm-typescript');
  const { code } = transformSync(await readFile(file, 'utf8'), {
    filename: file.pathname,
    mode: 'strip-only',
    module: true,
  });
  return { format: 'module', source: code, shortCircuit: true };
}
