// Bundles some threads, each into one file of dist/ with the packages that it uses; see
// docs/decisions/0033-bundled-threads.md.
import { basename, dirname, join, relative } from 'node:path';
import { build } from 'vite';
import { BUNDLED_THREADS, DIST, ROOT, SRC } from './workspace.mjs';

/** In a bundle, a module still finds the files beside its own: other threads that it starts. */
const ownUrls = (thread) => ({
  name: 'own-urls',
  transform(code, id) {
    if (!id.startsWith(SRC) || !code.includes('import.meta.url')) return undefined;
    const own = relative(dirname(join(SRC, thread)), id).replace(/\.ts$/, '.js');
    return code.replaceAll(
      'import.meta.url',
      `new URL(${JSON.stringify(own)}, import.meta.url).href`,
    );
  },
});

async function bundle(thread) {
  await build({
    plugins: [ownUrls(thread)],
    root: ROOT,
    configFile: false,
    publicDir: false,
    logLevel: 'warn',
    ssr: { noExternal: true },
    build: {
      ssr: join(SRC, `${thread}.ts`),
      outDir: dirname(join(DIST, thread)),
      emptyOutDir: false,
      target: 'es2023',
      sourcemap: true,
      // The file contains the packages, whose licences ask to be passed on with them.
      license: { fileName: `${basename(thread)}.licenses.md` },
      rolldownOptions: {
        output: {
          entryFileNames: '[name].js',
          codeSplitting: false,
          sourcemapExcludeSources: true,
        },
      },
    },
  });
}

await Promise.all(BUNDLED_THREADS.map(bundle));
