#!/usr/bin/env node
/*
 * Looks at the version of Node before anything else is loaded: an old one stumbles over the syntax and
 * the imports of the program, and says nothing that helps. So this file imports nothing by itself, and
 * is written in what Node 12 understands.
 */

/** As `engines` in package.json says; later majors are taken, too. */
const NEEDED = { 20: 19, 22: 12, 24: 0 };
/** Of `cli/exit-codes.ts`: another try does not help. */
const EXIT_USAGE = 2;

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const neededMinor = NEEDED[major as keyof typeof NEEDED] as number | undefined;
if (neededMinor === undefined ? major < 24 : minor < neededMinor) {
  process.stderr.write(
    `sluice: this is Node ${process.versions.node} (${process.execPath}), and Sluice needs Node ` +
      `20.19, 22.12, or 24 or later. Install one of them, and see that "node" is that one.\n`,
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
