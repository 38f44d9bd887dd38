import { readFileSync } from 'node:fs';
import type texts from './assets/texts.json';

/**
 * The texts of the demo page. `lang` is BCP 47; `{size}` in `added` is the chosen size. `questions`
 * are what the built-in agent knows something about; in English when absent. `questionsNote` is for
 * pages whose language the agent does not know.
 */
export type DemoTexts = (typeof texts)[number];

/** In the order of the language menu; the first is the default. */
export const LANGUAGES = JSON.parse(
  readFileSync(new URL('./assets/texts.json', import.meta.url), 'utf8'),
  // The type is that of the same file.
) as readonly DemoTexts[];
