import { ar } from './texts/ar.ts';
import { de } from './texts/de.ts';
import type { DemoTexts } from './texts/demo-texts.ts';
import { en } from './texts/en.ts';
import { es } from './texts/es.ts';
import { fr } from './texts/fr.ts';
import { ja } from './texts/ja.ts';

/** In the order of the page's switch; the first one is for everyone else. */
export const LANGUAGES: readonly DemoTexts[] = [en, de, fr, es, ar, ja];
