// Bundles the program and its threads with the packages that they use; see docs/decisions/0033-bundles.md.
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { build } from 'vite';
import { BUNDLED_THREADS, DIST, LIBRARY, PROGRAM, ROOT, SRC } from './workspace.mjs';

/** Large packages that the program loads for single commands or configurations only. */
const LOADED_FOR_FEW = ['@aws-sdk/client-s3', 'openai', 'twilio'];
/** Native code. */
const NATIVE = ['better-sqlite3'];

/** In a bundle, a module still finds the files beside its own: other threads that it starts. */
const ownUrls = (folder) => ({
  name: 'own-urls',
  transform(code, id) {
    if (!id.startsWith(SRC) || !code.includes('import.meta.url')) return undefined;
    const own = relative(folder, join(DIST, relative(SRC, id))).replace(/\.ts$/, '.js');
    return {
      code: code.replaceAll(
        'import.meta.url',
        `new URL(${JSON.stringify(own)}, import.meta.url).href`,
      ),
      // Lines stay, which is all that a stack trace needs.
      map: null,
    };
  },
});

/** V8 keeps a source with one character outside of Latin-1 in two bytes a character: 13 MB more for a gateway. */
const ascii = {
  name: 'ascii',
  generateBundle(_options, bundle) {
    for (const file of Object.values(bundle)) {
      if (file.type !== 'chunk') continue;
      file.code = file.code.replace(/(\\*)([^\0-\x7f])/g, (_all, before, unit) => {
        if (before.length % 2 === 1) throw new Error(`an escaped ${unit} in ${file.fileName}`);
        return `${before}\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
      });
    }
  },
};

/** @param output of rolldown */
const bundle = (entry, folder, { licences, external = [], emptied = false, output }) =>
  build({
    plugins: [ownUrls(folder), ascii],
    root: ROOT,
    configFile: false,
    publicDir: false,
    logLevel: 'warn',
    ssr: { noExternal: true },
    build: {
      ssr: join(SRC, `${entry}.ts`),
      outDir: folder,
      emptyOutDir: emptied,
      target: 'es2023',
      sourcemap: true,
      // The files contain the packages, whose licences ask to be passed on with them.
      license: licences !== undefined && { fileName: licences },
      rolldownOptions: {
        external,
        output: {
          entryFileNames: '[name].js',
          comments: false,
          sourcemapExcludeSources: true,
          ...output,
        },
      },
    },
  });

const bundleThread = (thread) =>
  bundle(thread, dirname(join(DIST, thread)), {
    licences: `${basename(thread)}.licenses.md`,
    external: NATIVE,
    output: { codeSplitting: false },
  });

async function bundleProgram() {
  await bundle(PROGRAM.entry, PROGRAM.folder, {
    licences: 'licenses.md',
    external: [...NATIVE, ...LOADED_FOR_FEW],
    emptied: true,
    output: { chunkFileNames: '[name].js' },
  });
  const entry = join(DIST, `${PROGRAM.entry}.js`);
  const bundled = relative(dirname(entry), join(PROGRAM.folder, `${basename(PROGRAM.entry)}.js`));
  writeFileSync(entry, `export * from ${JSON.stringify(bundled)};\n`);
}

/** Its packages stay outside: its types name some of them. */
const bundleLibrary = () =>
  bundle(LIBRARY, DIST, {
    external: Object.keys(
      JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).dependencies,
    ),
    output: { codeSplitting: false },
  });

await Promise.all([...BUNDLED_THREADS.map(bundleThread), bundleProgram(), bundleLibrary()]);
