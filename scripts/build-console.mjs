// Bundles src/console/page/ to dist/console/page/: index.html, and one script and one style sheet
// with a hash in their names. Nothing is inline, so that the page works under
// `script-src 'self'; style-src 'self'`. Fails when the scripts are larger than they may be.
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';
import { DIST, filesBelow, SRC, swapFolder } from './workspace.mjs';

const LIMIT = 96 * 1024;

const bundle = (folder) =>
  build({
    root: join(SRC, 'console/page'),
    base: '/',
    configFile: false,
    publicDir: false,
    logLevel: 'warn',
    define: { 'process.env.NODE_ENV': '"production"' },
    plugins: [paintsAfterScript],
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    build: {
      outDir: folder,
      emptyOutDir: false,
      target: 'es2022',
      cssTarget: ['chrome123', 'safari17.5', 'firefox120'],
      assetsInlineLimit: 0,
      modulePreload: false,
      license: { fileName: 'licenses.md' },
      // One script: a page that stays open over an upgrade never asks for a part that is gone.
      rolldownOptions: { output: { codeSplitting: false } },
    },
  });

/** The script sets the colours that were chosen; without this, others would flash first. */
const paintsAfterScript = {
  name: 'paints-after-script',
  transformIndexHtml: {
    order: 'post',
    handler: (html) =>
      html.replace('<script type="module"', '<script type="module" blocking="render"'),
  },
};

/** Of all scripts, as a browser downloads them. */
function scriptBytes(folder) {
  const scripts = filesBelow(folder).filter((file) => file.endsWith('.js'));
  const sizes = scripts.map(
    (file) => gzipSync(readFileSync(join(folder, file)), { level: 9 }).length,
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

mkdirSync(join(DIST, 'console'), { recursive: true });
const folder = mkdtempSync(join(DIST, '.console-page-'));
// In an image the gateway runs as somebody else than whoever built it.
chmodSync(folder, 0o755);
try {
  await bundle(folder);
  const bytes = scriptBytes(folder);
  if (bytes > LIMIT) {
    console.error(`The console is larger than it may be: ${bytes} of ${LIMIT} bytes gzipped.`);
    process.exitCode = 1;
  } else {
    swapFolder(folder, join(DIST, 'console/page'));
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
