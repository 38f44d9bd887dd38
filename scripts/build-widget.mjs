// Bundles src/widget/ to dist/widget/: widget.js, the loader that a page embeds; main-<hash>.js, which
// the loader fetches when it is needed, with the texts of its language from texts/; and part-<hash>.js,
// which the main part fetches when it needs them. Fails when a file is larger than its limit. The
// folder is replaced at the end, so that a running gateway never serves a half-finished build.
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { build } from 'vite';
import { DIST, ROOT, SRC, swapFolder } from './workspace.mjs';

const SOURCE = join(SRC, 'widget');
const KIB = 1024;
/** Of the main part in gzip; in Brotli, which browsers get over https, it is smaller. */
const LIMITS = { loader: 6 * KIB, main: 50 * KIB, brotli: 48 * KIB, parts: 30 * KIB };
/** What is loaded on use, in every language. */
const PARTS = {
  advice: 'ui/advice/advice.ts',
  away: 'ui/away/away.tsx',
  chime: 'ui/chime/chime.ts',
  emoji: 'ui/emoji/emoji.tsx',
  files: 'ui/files/part.ts',
  menu: 'ui/menu/part.ts',
  preChat: 'ui/pre-chat/pre-chat.tsx',
  preview: 'ui/preview/preview.tsx',
  rich: 'ui/rich/rich.ts',
  viewer: 'ui/viewer/viewer.ts',
};
/** The parts have from the main part what both need once. */
const LENT = {
  find: /^(?:preact\/(?:hooks|jsx-runtime)|\.\.\/(?:avatar\.tsx|icon\.tsx|thumbnail\.tsx|ui\.ts))$/,
  replacement: join(SOURCE, 'ui/part/lent.ts'),
};
const WORDS = join(SOURCE, 'ui/emoji/words');
const TEXTS = join(SOURCE, 'texts');

/** Bundles an entry and everything that it imports into one file. */
export async function bundle({
  entry,
  folder,
  format,
  fileName,
  define = {},
  alias = [],
  licences,
}) {
  await build({
    root: ROOT,
    configFile: false,
    publicDir: false,
    logLevel: 'warn',
    define: { 'process.env.NODE_ENV': '"production"', ...define },
    resolve: { alias },
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
        optimization: { inlineConst: { mode: 'all' } },
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

/** Bundles what is loaded on use. @returns the constants for the main part, and the files by part */
export async function bundleParts(folder) {
  const words = writeWords(folder);
  const define = { WORD_FILES: JSON.stringify(words) };
  const files = {};
  for (const [part, source] of Object.entries(PARTS)) {
    const before = namesIn(folder);
    const entry = join(SOURCE, source);
    const fileName = 'part-[hash:6].js';
    await bundle({ entry, folder, format: 'es', fileName, define, alias: [LENT] });
    files[part] = readdirSync(folder).find((name) => !before.has(name));
  }
  return { define: { PART_FILES: JSON.stringify(files) }, files, words };
}

/** The words of the emoji, a file for each language. @returns the files' names by language */
function writeWords(folder) {
  const files = {};
  for (const file of readdirSync(WORDS)) {
    const words = readFileSync(join(WORDS, file), 'utf8').trimEnd();
    // Smaller than with an escape at each end of a line and word.
    const content = `export default String.raw\`${words}\`;\n`;
    const hash = createHash('sha256').update(content).digest('base64url').slice(0, 6);
    const name = `part-${hash}.js`;
    writeFileSync(join(folder, name), content);
    files[file.replace('.txt', '')] = name;
  }
  return files;
}

const gzipped = (file) => gzipSync(asServed(file), { level: 9 }).length;
/** As browsers get it over https; texts are served with gzip only. */
const inBrotli = (file) =>
  file.endsWith('.json') ? gzipped(file) : brotliCompressSync(asServed(file)).length;

const sizes = [];
/** Measures the files' compressed size. @returns whether it is within `limit` */
function fits(what, language, files, limit, sizeOf = gzipped) {
  const bytes = files.map(sizeOf).reduce((sum, size) => sum + size, 0);
  sizes.push({ what, language, bytes, limit });
  return bytes <= limit;
}

/** The largest of each kind, in one line. */
function printSizes() {
  const largest = new Map();
  for (const each of sizes.toSorted((a, b) => a.bytes - b.bytes)) largest.set(each.what, each);
  const told = [...largest.values()].map(
    ({ what, language, bytes, limit }) =>
      `${what}${language && ` (${language})`} ${bytes} of ${limit}`,
  );
  console.error(`Compressed bytes at most: ${told.join(', ')}`);
}

/** Texts are served without indentation. */
function asServed(file) {
  const content = readFileSync(file, 'utf8');
  return file.endsWith('.json') ? JSON.stringify(JSON.parse(content)) : content;
}

async function buildInto(folder) {
  const { define, files, words } = await bundleParts(folder);
  const inFolder = (names) => names.map((name) => join(folder, name));
  // The first line needs `rich`, so it counts to the main part.
  const { rich, ...onUse } = files;
  let areSmall = true;
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
  const unicode = readFileSync(join(WORDS, '../unicode-license.txt'), 'utf8');
  const notice = `\n## Unicode CLDR, for the words that emoji are found by\n\n${unicode}`;
  appendFileSync(join(folder, licences), notice);
  for (const file of readdirSync(TEXTS)) {
    const language = file.replace('.json', '');
    const first = [main, rich, join('texts', file)];
    const later = [...Object.values(onUse), words[language]];
    const withForm = [...first, files.preChat, files.away];
    areSmall = fits('main', language, inFolder(first), LIMITS.main) && areSmall;
    areSmall =
      fits(
        'main with form and hours in Brotli',
        language,
        inFolder(withForm),
        LIMITS.brotli,
        inBrotli,
      ) && areSmall;
    areSmall = fits('parts', language, inFolder(later), LIMITS.parts) && areSmall;
  }
  await bundle({
    entry: join(SOURCE, 'loader/loader.ts'),
    folder,
    format: 'iife',
    fileName: 'widget.js',
    define: { MAIN_FILE: JSON.stringify(`widget/${main}`), ...launcherTexts() },
  });
  areSmall = fits('loader', '', [join(folder, 'widget.js')], LIMITS.loader) && areSmall;
  if (!areSmall || process.argv.includes('--sizes')) printSizes();
  return areSmall;
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
