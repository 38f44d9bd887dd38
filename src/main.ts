#!/usr/bin/env node
/*
 * Looks at the version of Node before anything else is loaded: an old one stumbles over the syntax and
 * the imports of the program, and says nothing that helps. So this file imports nothing by itself, and
 * is written in what Node 12 understands.
 */

/** As `engines` in package.json says. */
const NEEDED = { major: 20, minor: 19 };
/** Of `cli/exit-codes.ts`: another try does not help. */
const EXIT_USAGE = 2;

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < NEEDED.major || (major === NEEDED.major && minor < NEEDED.minor)) {
  process.stderr.write(
    `sluice: this is Node ${process.versions.node} (${process.execPath}), and Sluice needs Node ` +
      `${NEEDED.major}.${NEEDED.minor} or later. Install it, and see that "node" is that one.\n`,
  );
  process.exitCode = EXIT_USAGE;
} else {
  import('./cli/start.ts')
    .then((program) => program.start())
    .catch((error: unknown) => {
      process.stderr.write(
        'sluice: the program cannot be loaded; npm ci && npm run build makes it anew\n' +
          `${error instanceof Error ? String(error.stack) : String(error)}\n`,
      );
      process.exitCode = 1;
    });
}
