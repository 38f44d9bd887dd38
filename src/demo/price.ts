import type { DemoTexts } from './texts/demo-texts.ts';

/** An amount in euros, written as the page's language writes it. */
export function price(cents: number, { lang }: Pick<DemoTexts, 'lang'>): string {
  const style = { style: 'currency', currency: 'EUR', minimumFractionDigits: 0 } as const;
  return new Intl.NumberFormat(`${lang}-u-nu-latn`, style).format(cents / 100);
}
