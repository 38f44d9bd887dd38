import type { WidgetConfig } from '../channels/chat/widget-config.ts';
import type { Language } from './language.ts';

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
