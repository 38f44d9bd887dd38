import type { WidgetConfig } from '../channels/chat/widget-config.ts';

/** What a page and a shop have chosen, put together. */
export interface Settings extends WidgetConfig {
  readonly language: Language;
  /** BCP 47, for numbers and dates. */
  readonly locale: string;
  /** `light` or `dark`; anything else is as the visitor's system has it. */
  readonly scheme?: string;
}

const NAMES = ['name', 'greeting', 'color', 'position', 'logo', 'preChat', 'scheme'];

/** @param attributes a script tag's `data-*`, each of which wins over the shop's configuration */
export const chosen = (
  attributes: Readonly<Record<string, string | undefined>>,
  config: object,
): Omit<Settings, 'language' | 'locale'> => ({
  ...config,
  // Words that are none of those known are as if they were not there: see where each is read.
  ...(Object.fromEntries(
    NAMES.map((name) => [name, attributes[name]?.trim()]).filter(([, value]) => value),
  ) as Partial<WidgetConfig>),
});

/** The languages in which the widget speaks. */
export type Language = 'en' | 'de' | 'fr' | 'es' | 'it' | 'nl' | 'pt' | 'pl' | 'ar' | 'ja';

/**
 * The first of the wanted languages that the widget speaks, else English.
 * @param wanted BCP 47 tags, best first
 * @param known the widget's own
 * @returns the language of the texts, and the tag for numbers and dates
 */
export function choose(
  wanted: readonly (string | undefined)[],
  known: readonly string[],
): { readonly language: Language; readonly locale: string } {
  for (const tag of wanted) {
    try {
      const [locale = ''] = Intl.getCanonicalLocales(tag?.trim().replace('_', '-'));
      const language = known.find((each) => each === locale.split('-')[0]);
      // What is known is a `Language`.
      if (language) return { language: language as Language, locale };
    } catch {
      // It is no tag.
    }
  }
  return { language: 'en', locale: 'en' };
}
