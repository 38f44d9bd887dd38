import { readFileSync } from 'node:fs';
import type texts from './assets/texts.json';

/**
 * The texts of the demo page. `lang` is BCP 47; `{size}` in `added` is the chosen size. `questions`
 * are ones that the built-in agent can answer; if absent, the English ones are shown.
 * `questionsNote` is for pages in a language that the agent does not support.
 */
export type DemoTexts = (typeof texts)[number];

/** In the order of the language menu; the first is the default. */
export const LANGUAGES = JSON.parse(
  readFileSync(new URL('./assets/texts.json', import.meta.url), 'utf8'),
  // The file's JSON has this type.
) as readonly DemoTexts[];
