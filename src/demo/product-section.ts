import { html, type Markup } from '../runtime/markup.ts';
import { type Colour, COLOURS, pictureName, type View, VIEWS } from './pictures.ts';
import { price } from './price.ts';
import { stars } from './stars.ts';
import type { DemoTexts } from './texts/demo-texts.ts';

const PRICE_CENTS = 12_900;
const REVIEWS = 214;
const RATING = 4.8;
const SIZES = [38, 39, 40, 41, 42, 43, 44, 45];
const SOLD_OUT = 44;
const CHOSEN: { readonly colour: Colour; readonly view: View; readonly size: number } = {
  colour: 'navy',
  view: 'side',
  size: 42,
};

/** The shoe: pictures, price, what can be chosen, and what one wants to know before. */
export function productSection(texts: DemoTexts): Markup {
  const { product } = texts;
  return html`<section id="product" class="product" aria-labelledby="name" tabindex="-1">
    ${gallery(texts)}
    <div class="offer">
      <p class="crumbs"><a href="#product">${texts.home}</a> / ${texts.nav.shoes}</p>
      <h1 id="name"><span lang="en">Harbour</span></h1>
      <p class="kind">${product.kind}</p>
      <p class="rating">
        ${stars(RATING, texts)}
        <a href="#reviews">${product.reviewCount.replace('{n}', String(REVIEWS))}</a>
      </p>
      <p class="price">
        <strong>${price(PRICE_CENTS, texts)}</strong> <span>${product.priceNote}</span>
      </p>
      <p class="intro">${product.intro}</p>
      ${choices(texts)}
      <ul class="facts">
        ${texts.facts.map((fact) => html`<li>${fact}</li>`)}
      </ul>
      ${texts.details.map(
        ([title, text]) =>
          html`<details class="more-about">
            <summary>${title}</summary>
            <p>${text}</p>
          </details>`,
      )}
    </div>
  </section>`;
}

function gallery({ product: { gallery: label, views } }: DemoTexts): Markup {
  const { colour, view } = CHOSEN;
  return html`<div class="gallery" role="group" aria-label="${label}">
    <div class="stage">
      <img
        id="picture"
        src="/demo/pictures/${pictureName(colour, view)}"
        alt="${views[view]}"
        width="800"
        height="520"
      />
    </div>
    <div class="thumbs">
      ${VIEWS.map(
        (each) =>
          html`<button
            type="button"
            data-view="${each}"
            aria-pressed="${each === view ? 'true' : 'false'}"
            aria-label="${views[each]}"
          >
            <img
              src="/demo/pictures/${pictureName(colour, each)}"
              alt=""
              width="160"
              height="104"
            />
          </button>`,
      )}
    </div>
  </div>`;
}

function choices({ product }: DemoTexts): Markup {
  return html`<form id="choices" class="choices">
    <fieldset class="colours">
      <legend>${product.colour}</legend>
      ${COLOURS.map((colour) => colourChoice(colour, product.colours[colour]))}
    </fieldset>
    <fieldset class="tiles">
      <legend>${product.width}</legend>
      ${radio('width', 'regular', product.regular, { checked: true })}
      ${radio('width', 'wide', product.wide)}
    </fieldset>
    <fieldset class="tiles sizes" aria-describedby="size-hint">
      <legend>${product.size}</legend>
      ${SIZES.map((size) =>
        radio('size', String(size), String(size), {
          checked: size === CHOSEN.size,
          disabled: size === SOLD_OUT,
        }),
      )}
      <p id="size-hint" class="hint">${product.sizeHint}</p>
    </fieldset>
    <button class="primary" type="submit">${product.add}</button>
    <p id="added" class="added" role="status" data-text="${product.added}"></p>
  </form>`;
}

function colourChoice(colour: Colour, name: string): Markup {
  return html`<label class="swatch ${colour}">
    <input
      type="radio"
      name="colour"
      value="${colour}"
      ${is('checked', colour === CHOSEN.colour)}
    />
    <span>${name}</span>
  </label>`;
}

function radio(
  name: string,
  value: string,
  text: string,
  { checked = false, disabled = false } = {},
): Markup {
  return html`<label
    ><input
      type="radio"
      name="${name}"
      value="${value}"
      ${is('checked', checked)}
      ${is('disabled', disabled)}
    /><span>${text}</span></label
  >`;
}

const is = (attribute: 'checked' | 'disabled', set: boolean): string => (set ? attribute : '');
