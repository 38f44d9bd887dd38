import { execFile } from 'node:child_process';
import type { RunBeside } from '../console/server/people-routes.ts';

/** A report names every message of others that mentions the person. */
const MAX_OUTPUT_BYTES = 100_000_000;
/** Longer than the largest store takes; an erasure that was ended is finished by the next one. */
const MAX_MS = 3_600_000;

/**
 * Runs commands of this program in a process of their own, beside the gateway and with its configuration.
 * @param program the file that was started
 * @param file of `--config`
 */
export const commandsBeside =
  (program: string, file: string | undefined): RunBeside =>
  (args, input) =>
    new Promise((resolve) => {
      const config = file === undefined ? [] : ['--config', file];
      const child = execFile(
        process.execPath,
        [program, ...args, ...config],
        { maxBuffer: MAX_OUTPUT_BYTES, timeout: MAX_MS },
        (error, stdout, stderr) => {
          const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
          resolve({ code, stdout, stderr });
        },
      );
      // A command that refuses its arguments does not read.
      child.stdin?.on('error', () => undefined);
      child.stdin?.end(input);
    });
