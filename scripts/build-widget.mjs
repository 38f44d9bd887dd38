// Bundles src/widget/ to dist/widget/: widget.js, the loader that a page names, and main-<hash>.js,
// which the loader fetches when it is needed. Fails when either is larger than it may be.
import { readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';
import { DIST, ROOT, SRC } from './workspace.mjs';

const SOURCE = join(SRC, 'widget');
const OUTPUT = join(DIST, 'widget');
const KIB = 1024;
const LIMITS = { loader: 5 * KIB, main: 35 * KIB };

const common = {
  root: ROOT,
  configFile: false,
  publicDir: false,
  logLevel: 'warn',
  define: { 'process.env.NODE_ENV': '"production"' },
};

async function bundle(entry, format, fileName, define = {}) {
  await build({
    ...common,
    define: { ...common.define, ...define },
    build: {
      outDir: OUTPUT,
      emptyOutDir: false,
      target: 'es2022',
      minify: true,
      modulePreload: false,
      rolldownOptions: {
        input: join(SOURCE, entry),
        preserveEntrySignatures: 'strict',
        output: { format, entryFileNames: fileName, codeSplitting: false },
      },
    },
  });
}

function sizeOf(name, file, limit) {
  const bytes = gzipSync(readFileSync(join(OUTPUT, file)), { level: 9 }).length;
  const figure = `${(bytes / KIB).toFixed(1)} KiB gzipped, of ${limit / KIB} KiB`;
  console.error(`widget ${name}: ${file}, ${figure}`);
  return bytes <= limit;
}

rmSync(OUTPUT, { recursive: true, force: true });
await bundle('main.tsx', 'es', 'main-[hash].js');
const main = readdirSync(OUTPUT).find((file) => file.startsWith('main-'));
await bundle('loader/loader.ts', 'iife', 'widget.js', {
  MAIN_FILE: JSON.stringify(`widget/${main}`),
});
const fits = [sizeOf('loader', 'widget.js', LIMITS.loader), sizeOf('main', main, LIMITS.main)];
if (fits.includes(false)) {
  console.error('The widget is larger than it may be.');
  process.exit(1);
}
