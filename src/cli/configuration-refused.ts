import { renderMistakes, type Mistake } from '../config/mistakes.ts';

/** The configuration has mistakes: the message is the whole report. */
export class ConfigurationRefused extends Error {
  override name = 'ConfigurationRefused';

  constructor(mistakes: readonly Mistake[]) {
    super(renderMistakes(mistakes));
  }
}
