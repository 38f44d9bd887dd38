import type { WidgetConfig } from '../channels/chat/events.ts';

/** The attributes of the page's script tag and the shop's configuration, merged. */
export interface Settings extends WidgetConfig {
  readonly language: Language;
  /** BCP 47, for numbers and dates. */
  readonly locale: string;
  /** `light` or `dark`; anything else follows the page. */
  readonly scheme?: string;
}

const NAMES = ['name', 'greeting', 'color', 'position', 'logo', 'preChat', 'scheme'];

/**
 * @param attributes the script tag's `data-*`; they take precedence over the shop's configuration
 */
export const mergeSettings = (
  attributes: Readonly<Record<string, string | undefined>>,
  config: object,
): Omit<Settings, 'language' | 'locale'> => ({
  ...config,
  // Values are not checked here. Each is checked where it is used; an unknown one is ignored there.
  ...(Object.fromEntries(
    NAMES.map((name) => [name, attributes[name]?.trim()]).filter(([, value]) => value),
  ) as Partial<WidgetConfig>),
});

/** The languages that the widget has texts in. */
export type Language = 'en' | 'de' | 'fr' | 'es' | 'it' | 'nl' | 'pt' | 'pl' | 'ar' | 'ja';

/**
 * Picks the first wanted language that the widget has texts in, else English.
 * @param wanted BCP 47 tags, best first
 * @param known the languages that were built
 * @returns the language of the texts, and the tag for numbers and dates
 */
export function chooseLanguage(
  wanted: readonly (string | undefined)[],
  known: readonly string[],
): { readonly language: Language; readonly locale: string } {
  for (const tag of wanted) {
    try {
      const [locale = ''] = Intl.getCanonicalLocales(tag?.trim().replace('_', '-'));
      const language = known.find((each) => each === locale.split('-')[0]);
      // The build made `known` from the languages.
      if (language) return { language: language as Language, locale };
    } catch {
      // Not a language tag.
    }
  }
  return { language: 'en', locale: 'en' };
}
