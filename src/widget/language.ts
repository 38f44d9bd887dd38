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
