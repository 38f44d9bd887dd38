// Bundles src/widget/ to dist/widget/: widget.js, the loader that a page embeds, and one
// main-<hash>.js for each language, which the loader fetches when it is needed. Fails when a file is
// larger than its limit. The folder is replaced at the end, so that a running gateway never serves a
// half-finished build.
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';
import { DIST, ROOT, SRC, swapFolder } from './workspace.mjs';

const SOURCE = join(SRC, 'widget');
const KIB = 1024;
const LIMITS = { loader: 6 * KIB, main: 48 * KIB };
/** The texts that main.tsx imports; each language's bundle has that language's file instead. */
const ENGLISH = join(SOURCE, 'texts/en.json');

/** Bundles an entry and everything that it imports into one file. */
export async function bundle({ entry, folder, format, fileName, define = {}, language = 'en' }) {
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

/** Prints a file's compressed size. @returns whether it is within `limit` */
function fits(name, file, limit) {
  const bytes = gzipSync(readFileSync(file), { level: 9 }).length;
  const figure = `${bytes} of ${limit} bytes gzipped`;
  console.error(`widget ${name}: ${figure}`);
  return bytes <= limit;
}

async function buildInto(folder) {
  const mains = {};
  let areSmall = true;
  for (const language of languages()) {
    const before = new Set(readdirSync(folder));
    const entry = join(SOURCE, 'main.tsx');
    await bundle({ entry, folder, format: 'es', fileName: 'main-[hash:6].js', language });
    const file = readdirSync(folder).find((name) => !before.has(name));
    mains[language] = `widget/${file}`;
    areSmall = fits(`main ${language}`, join(folder, file), LIMITS.main) && areSmall;
  }
  await bundle({
    entry: join(SOURCE, 'loader/loader.ts'),
    folder,
    format: 'iife',
    fileName: 'widget.js',
    define: { MAIN_FILES: JSON.stringify(mains) },
  });
  return fits('loader', join(folder, 'widget.js'), LIMITS.loader) && areSmall;
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
