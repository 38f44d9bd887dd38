import { renderMistakes, type Mistake } from '../config/mistakes.ts';

/** The exit codes of the program; `--help` lists them. */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  // 128 plus the number of the signal.
  hungUp: 129,
  interrupted: 130,
  terminated: 143,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The command was valid but could not be carried out. The message is shown to the user. */
export class CommandFailed extends Error {
  override name = 'CommandFailed';
}

/** The command line is invalid. The message is shown to the user. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** The configuration has mistakes. The message is the whole report. */
export class ConfigurationRefused extends Error {
  override name = 'ConfigurationRefused';

  constructor(mistakes: readonly Mistake[], warnings: readonly string[] = []) {
    super(renderMistakes(mistakes, warnings));
  }
}
