import type { WidgetConfig, WidgetRefusal } from '../channels/chat/events.ts';

/** The attributes of the page's script tag and the shop's configuration, merged. */
export interface Settings extends WidgetConfig {
  /** `light` or `dark`; anything else follows the page. */
  readonly scheme?: string;
  /** The gateway's answer to a page that may not connect. */
  readonly error?: WidgetRefusal;
}

const NAMES = 'name greeting color position offsetX offsetY zIndex logo preChat scheme'.split(' ');

/**
 * @param attributes the script tag's `data-*`; they take precedence over the shop's configuration
 */
export const mergeSettings = (
  attributes: Readonly<Record<string, string | undefined>>,
  config: object,
): Settings => ({
  ...config,
  // Values are not checked here. Each is checked where it is used; an unknown one is ignored there.
  ...(Object.fromEntries(
    NAMES.map((name) => [name, attributes[name]?.trim()]).filter(([, value]) => value),
  ) as Partial<WidgetConfig>),
});

/** The launcher's texts in one language: its name, "Dismiss", and that loading has failed. */
export type LauncherTexts = readonly [open: string, dismiss: string, failed: string];

/** A language that the widget has texts in. */
export interface Language {
  /** Of the file of its texts. */
  readonly name: string;
  /** BCP 47, for numbers and dates. */
  readonly locale: string;
  readonly launcher: LauncherTexts;
}

/**
 * Picks the first wanted language that the widget has texts in, else English.
 * @param wanted BCP 47 tags, best first
 * @param known the launcher's texts by language
 */
export function chooseLanguage(
  wanted: readonly (string | undefined)[],
  known: Readonly<Record<string, LauncherTexts>> & { readonly en: LauncherTexts },
): Language {
  for (const tag of wanted) {
    try {
      const [locale = ''] = Intl.getCanonicalLocales(tag?.trim().replace('_', '-'));
      const [name = ''] = locale.split('-');
      const launcher = Object.hasOwn(known, name) ? known[name] : undefined;
      if (launcher) return { name, locale, launcher };
    } catch {
      // Not a language tag.
    }
  }
  return { name: 'en', locale: 'en', launcher: known.en };
}
