import { html, type Markup } from '../runtime/markup.ts';
import type { DemoTexts } from './texts/demo-texts.ts';

const OF = 5;

/** A row of stars that is read as one sentence. */
export function stars(n: number, { product }: Pick<DemoTexts, 'product'>): Markup {
  const name = product.stars.replace('{n}', String(n)).replace('{of}', String(OF));
  const full = Math.round(n);
  return html`<span class="stars" role="img" aria-label="${name}"
    ><span aria-hidden="true">${'★'.repeat(full)}<i>${'★'.repeat(OF - full)}</i></span></span
  >`;
}
