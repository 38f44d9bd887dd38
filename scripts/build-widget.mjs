// Bundles src/widget/ to dist/widget/: widget.js, the loader that a page embeds; main-<hash>.js, which
// the loader fetches when it is needed, with the texts of its language from texts/; and part-<hash>.js,
// which the main part fetches when it needs them. Fails when a file is larger than its limit. The folder is replaced at the end, so that a running gateway never serves a
// half-finished build.
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';
import { DIST, ROOT, SRC, swapFolder } from './workspace.mjs';

const SOURCE = join(SRC, 'widget');
const KIB = 1024;
const LIMITS = { loader: 6 * KIB, main: 48 * KIB, parts: 30 * KIB };
/** What is loaded on use, in every language. */
const PARTS = {
  rich: 'ui/rich/rich.ts',
  hours: 'ui/away/hours.ts',
  viewer: 'ui/viewer/viewer.ts',
};
const TEXTS = join(SOURCE, 'texts');

/** Bundles an entry and everything that it imports into one file. */
export async function bundle({ entry, folder, format, fileName, define = {}, licences }) {
  await build({
    root: ROOT,
    configFile: false,
    publicDir: false,
    logLevel: 'warn',
    define: { 'process.env.NODE_ENV': '"production"', ...define },
    json: { namedExports: false },
    build: {
      outDir: folder,
      emptyOutDir: false,
      target: 'es2022',
      cssTarget: ['chrome123', 'safari17.5', 'firefox120'],
      minify: true,
      modulePreload: false,
      // The files contain packages, whose licences ask to be passed on with them.
      license: licences !== undefined && { fileName: licences },
      rolldownOptions: {
        input: entry,
        preserveEntrySignatures: 'strict',
        output: { format, entryFileNames: fileName, codeSplitting: false },
      },
    },
  });
}

/** For the loader: the launcher's texts by language. */
export function launcherTexts() {
  const texts = {};
  for (const file of readdirSync(TEXTS)) {
    const { openChat, dismiss, loadFailed } = JSON.parse(readFileSync(join(TEXTS, file), 'utf8'));
    texts[file.replace('.json', '')] = [openChat, dismiss, loadFailed];
  }
  return { LAUNCHER_TEXTS: JSON.stringify(texts) };
}

const namesIn = (folder) => new Set(readdirSync(folder));

/** Bundles what is loaded on use. @returns the constants for the main part */
export async function bundleParts(folder) {
  const files = {};
  for (const [part, source] of Object.entries(PARTS)) {
    const before = namesIn(folder);
    const entry = join(SOURCE, source);
    await bundle({ entry, folder, format: 'es', fileName: 'part-[hash:6].js' });
    files[part] = readdirSync(folder).find((name) => !before.has(name));
  }
  return { PART_FILES: JSON.stringify(files) };
}

/** Prints the files' compressed size. @returns whether it is within `limit` */
function fits(name, files, limit) {
  const sizes = files.map((file) => gzipSync(readFileSync(file), { level: 9 }).length);
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  const figure = `${bytes} of ${limit} bytes gzipped`;
  console.error(`widget ${name}: ${figure}`);
  return bytes <= limit;
}

async function buildInto(folder) {
  const define = await bundleParts(folder);
  const parts = readdirSync(folder).map((file) => join(folder, file));
  let areSmall = fits('parts', parts, LIMITS.parts);
  cpSync(TEXTS, join(folder, 'texts'), { recursive: true });
  const before = namesIn(folder);
  const fileName = 'main-[hash:6].js';
  const licences = 'licenses.md';
  await bundle({
    entry: join(SOURCE, 'main.tsx'),
    folder,
    format: 'es',
    fileName,
    define,
    licences,
  });
  const main = readdirSync(folder).find((name) => name.endsWith('.js') && !before.has(name));
  for (const file of readdirSync(TEXTS)) {
    const files = [join(folder, main), join(folder, 'texts', file)];
    areSmall = fits(`main and ${file}`, files, LIMITS.main) && areSmall;
  }
  await bundle({
    entry: join(SOURCE, 'loader/loader.ts'),
    folder,
    format: 'iife',
    fileName: 'widget.js',
    define: { MAIN_FILE: JSON.stringify(`widget/${main}`), ...launcherTexts() },
  });
  return fits('loader', [join(folder, 'widget.js')], LIMITS.loader) && areSmall;
}

if (process.argv[1] === import.meta.filename) {
  mkdirSync(DIST, { recursive: true });
  const folder = mkdtempSync(join(DIST, '.widget-'));
  // In a container image the gateway runs as another user than the one that built it.
  chmodSync(folder, 0o755);
  try {
    if (!(await buildInto(folder))) {
      console.error('The widget is larger than it may be.');
      process.exitCode = 1;
    } else {
      swapFolder(folder, join(DIST, 'widget'));
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
