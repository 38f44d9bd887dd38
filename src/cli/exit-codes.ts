import { renderMistakes, type Mistake } from '../config/mistakes.ts';

/** What the program ends with; `--help` names them. */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  // 128 and the number of the signal that broke it off.
  hungUp: 129,
  interrupted: 130,
  terminated: 143,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The command was understood and could not be carried out; the message is for people. */
export class CommandFailed extends Error {
  override name = 'CommandFailed';
}

/** The command line asks for something that makes no sense; the message is for people. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** The configuration has mistakes: the message is the whole report. */
export class ConfigurationRefused extends Error {
  override name = 'ConfigurationRefused';

  constructor(mistakes: readonly Mistake[]) {
    super(renderMistakes(mistakes));
  }
}
