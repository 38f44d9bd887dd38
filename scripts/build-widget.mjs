// Bundles src/widget/ to dist/widget/: widget.js, the loader that a page embeds, one main-<hash>.js
// for each language, which the loader fetches when it is needed, and part-<hash>.js, which the main
// part fetches when it needs them. Fails when a file is larger than its limit. The folder is replaced at the end, so that a running gateway never serves a
// half-finished build.
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';
import { DIST, ROOT, SRC, swapFolder } from './workspace.mjs';

const SOURCE = join(SRC, 'widget');
const KIB = 1024;
const LIMITS = { loader: 6 * KIB, main: 48 * KIB, parts: 30 * KIB };
/** What is loaded on use, in every language. */
const PARTS = { rich: 'ui/rich/rich.ts' };
/** The texts that main.tsx imports; each language's bundle has that language's file instead. */
const ENGLISH = join(SOURCE, 'texts/en.json');

/** Bundles an entry and everything that it imports into one file. */
export async function bundle({
  entry,
  folder,
  format,
  fileName,
  define = {},
  language = 'en',
  licences,
}) {
  await build({
    root: ROOT,
    configFile: false,
    publicDir: false,
    logLevel: 'warn',
    define: { 'process.env.NODE_ENV': '"production"', ...define },
    plugins: [inLanguage(language)],
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

function inLanguage(language) {
  return {
    name: 'language',
    enforce: 'pre',
    async resolveId(source, importer, options) {
      if (language === 'en' || !source.endsWith('texts/en.json')) return null;
      const resolved = await this.resolve(source, importer, { ...options, skipSelf: true });
      return resolved?.id === ENGLISH ? join(dirname(ENGLISH), `${language}.json`) : resolved;
    },
  };
}

/** The languages that have a file of texts. */
export const languages = () =>
  readdirSync(join(SOURCE, 'texts'))
    .map((file) => /^([a-z]{2})\.json$/.exec(file)?.[1])
    .filter((language) => language !== undefined);

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
  const mains = {};
  const define = await bundleParts(folder);
  const parts = readdirSync(folder).map((file) => join(folder, file));
  let areSmall = fits('parts', parts, LIMITS.parts);
  for (const language of languages()) {
    const before = namesIn(folder);
    const entry = join(SOURCE, 'main.tsx');
    const fileName = 'main-[hash:6].js';
    const licences = 'licenses.md';
    await bundle({ entry, folder, format: 'es', fileName, define, language, licences });
    const file = readdirSync(folder).find((name) => name.endsWith('.js') && !before.has(name));
    mains[language] = `widget/${file}`;
    areSmall = fits(`main ${language}`, [join(folder, file)], LIMITS.main) && areSmall;
  }
  await bundle({
    entry: join(SOURCE, 'loader/loader.ts'),
    folder,
    format: 'iife',
    fileName: 'widget.js',
    define: { MAIN_FILES: JSON.stringify(mains) },
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
