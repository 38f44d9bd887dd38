// Bundles src/widget/ to dist/widget/: widget.js, the loader that a page names, and main-<hash>.js,
// which the loader fetches when it is needed, one for each language. Fails when either is larger
// than it may be. The folder is swapped when all is done: a gateway that runs never serves half.
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';
import { DIST, ROOT, SRC, swapFolder } from './workspace.mjs';

const SOURCE = join(SRC, 'widget');
const KIB = 1024;
const LIMITS = { loader: 5 * KIB, main: 36 * KIB };
/** What main.tsx imports; the other languages stand in for it. */
const ENGLISH = join(SOURCE, 'texts/en.ts');

/** Bundles one entry with everything it needs to one file. */
export async function bundle({ entry, folder, format, fileName, define = {}, language = 'en' }) {
  await build({
    root: ROOT,
    configFile: false,
    publicDir: false,
    logLevel: 'warn',
    define: { 'process.env.NODE_ENV': '"production"', ...define },
    plugins: [inLanguage(language), slimPackages()],
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
      if (language === 'en' || !source.endsWith('texts/en.ts')) return null;
      const resolved = await this.resolve(source, importer, { ...options, skipSelf: true });
      return resolved?.id === ENGLISH ? join(dirname(ENGLISH), `${language}.ts`) : resolved;
    },
  };
}

const PACKAGES = join(ROOT, 'node_modules');
/**
 * What stands in for a package, or a part of it, within the bundle: without what the chat never
 * uses. Each line may be taken out, and the widget is the same, only larger.
 */
const SLIM = {
  'engine.io-parser/build/esm/index.js': 'packets.ts',
  'socket.io-parser/build/esm/index.js': 'events.ts',
  '@socket.io/component-emitter/lib/esm/index.js': 'emitter.ts',
  'engine.io-client/build/esm/contrib/parseuri.js': 'address.ts',
  'engine.io-client/build/esm/contrib/parseqs.js': 'query.ts',
  'engine.io-client/build/esm/transports/index.js': 'transports.ts',
  'engine.io-client/build/esm/transports/webtransport.js': 'transports.ts',
  'socket.io-client/build/esm/contrib/backo2.js': 'backoff.ts',
  'socket.io-client/build/esm/url.js': 'url.ts',
  '@preact/signals-core/dist/signals-core.module.js': 'signals.ts',
  'preact/dist/preact.mjs': 'preact.ts',
  'preact/jsx-runtime/dist/jsxRuntime.mjs': 'preact.ts',
};

function slimPackages() {
  const parts = new Map(
    Object.entries(SLIM).map(([part, ours]) => [join(PACKAGES, part), join(SOURCE, 'slim', ours)]),
  );
  return {
    name: 'slim-packages',
    enforce: 'pre',
    async resolveId(source, importer, options) {
      const resolved = await this.resolve(source, importer, { ...options, skipSelf: true });
      if (!resolved?.id.startsWith(PACKAGES)) return resolved;
      // Of a part that nothing uses, nothing stays: these declare no such thing themselves.
      return { id: parts.get(resolved.id) ?? resolved.id, moduleSideEffects: false };
    },
  };
}

/** Every language that has a file. */
export const languages = () =>
  readdirSync(join(SOURCE, 'texts'))
    .map((file) => /^([a-z]{2})\.ts$/.exec(file)?.[1])
    .filter((language) => language !== undefined);

/** Whether a file fits; says how large it is, as a visitor downloads it. */
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
  // In an image the gateway runs as somebody else than whoever built it.
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
