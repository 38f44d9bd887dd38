import { demoBox } from './demo-box.ts';
import { LANGUAGES } from './languages.ts';
import { html, type Markup } from '../runtime/markup.ts';
import { price } from './price.ts';
import { productSection } from './product-section.ts';
import { stars } from './stars.ts';
import type { DemoTexts } from './texts/demo-texts.ts';

export interface DemoPageOptions {
  readonly texts: DemoTexts;
  readonly widgetKey: string;
  /** Whether the shop can vouch for a customer. */
  readonly identifies: boolean;
}

/** The whole page, without a line of script or style in it. */
export function demoPage({ texts, widgetKey, identifies }: DemoPageOptions): string {
  const title = `Kaj: Harbour, ${texts.product.kind}`;
  const page = html`<!doctype html>
    <html lang="${texts.lang}" dir="${texts.direction}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover" />
        <meta name="color-scheme" content="light dark" />
        <title>${title}</title>
        <meta name="description" content="${texts.product.intro}" />
        <link rel="icon" href="/demo/pictures/brand.svg" type="image/svg+xml" />
        <link rel="stylesheet" href="/demo/assets/base.css" />
        <link rel="stylesheet" href="/demo/assets/product.css" />
        <link rel="stylesheet" href="/demo/assets/sections.css" />
        <script src="/demo/assets/page.js" defer></script>
        <script
          async
          src="/widget.js"
          data-key="${widgetKey}"
          data-name="Kaj"
          data-color="#1f3a5f"
          data-greeting="${texts.greeting}"
          data-position="${texts.direction === 'rtl' ? 'left' : 'right'}"
        ></script>
      </head>
      <body>
        <a class="skip" href="#product">${texts.skip}</a>
        ${header(texts)} ${demoBox(texts, identifies)}
        <main>${productSection(texts)} ${story(texts)} ${reviews(texts)} ${more(texts)}</main>
        ${footer(texts)}
      </body>
    </html>`;
  return `${page.source}\n`;
}

function header(texts: DemoTexts): Markup {
  const { nav } = texts;
  const links = [nav.shoes, nav.care, nav.store, nav.journal];
  return html`<header>
    <p class="announcement">${texts.announcement}</p>
    <div class="top">
      <a class="wordmark" href="/demo/${texts.lang}" lang="en">Kaj</a>
      <nav aria-label="${nav.label}">
        <ul>
          ${links.map((link) => html`<li><a href="#product">${link}</a></li>`)}
        </ul>
      </nav>
      <div class="tools">
        <label class="language">
          <span class="unseen">${nav.language}</span>
          <select id="language" autocomplete="off">
            ${LANGUAGES.map(
              ({ lang, languageName }) =>
                html`<option value="${lang}" lang="${lang}" ${selected(lang === texts.lang)}>
                  ${languageName}
                </option>`,
            )}
          </select>
        </label>
        <a class="bag" href="#product">${nav.bag} <span id="bag-count" class="count">0</span></a>
      </div>
    </div>
  </header>`;
}

const selected = (is: boolean): Markup | undefined => (is ? html`selected` : undefined);

function story({ story: { title, text, points } }: DemoTexts): Markup {
  return html`<section class="story" aria-labelledby="story">
    <div class="story-lead">
      <h2 id="story">${title}</h2>
      <p>${text}</p>
    </div>
    <ol class="points">
      ${points.map(
        ([name, what]) =>
          html`<li>
            <h3>${name}</h3>
            <p>${what}</p>
          </li>`,
      )}
    </ol>
  </section>`;
}

function reviews(texts: DemoTexts): Markup {
  const { title, list } = texts.reviews;
  return html`<section class="reviews" aria-labelledby="reviews">
    <h2 id="reviews">${title}</h2>
    <ul>
      ${list.map(
        (review) =>
          html`<li>
            ${stars(review.stars, texts)}
            <h3>${review.title}</h3>
            <p>${review.text}</p>
            <p class="by">${review.by}</p>
          </li>`,
      )}
    </ul>
  </section>`;
}

function more(texts: DemoTexts): Markup {
  const models = [
    { name: 'Trail', file: 'trail.svg', kind: texts.more.trail, cents: 18_900 },
    { name: 'Harbour', file: 'harbour-sand-side.svg', kind: texts.product.kind, cents: 12_900 },
    { name: 'City', file: 'city.svg', kind: texts.more.city, cents: 15_900 },
  ];
  return html`<section class="more" aria-labelledby="more">
    <h2 id="more">${texts.more.title}</h2>
    <ul>
      ${models.map(
        ({ name, file, kind, cents }) =>
          html`<li>
            <a href="#product">
              <span class="frame"
                ><img src="/demo/pictures/${file}" alt="" width="400" height="260"
              /></span>
              <span class="model" lang="en">${name}</span>
              <span class="kind">${kind}</span>
              <span class="amount">${price(cents, texts)}</span>
            </a>
          </li>`,
      )}
    </ul>
  </section>`;
}

function footer({ footer: foot }: DemoTexts): Markup {
  return html`<footer>
    <div class="columns">
      <div class="claim">
        <p class="wordmark" lang="en">Kaj</p>
        <p>${foot.claim}</p>
      </div>
      <div>
        <h2>${foot.service}</h2>
        <ul>
          ${foot.serviceLinks.map((link) => html`<li><a href="#product">${link}</a></li>`)}
        </ul>
      </div>
      <div>
        <h2>${foot.store}</h2>
        ${[...foot.address, ...foot.hours].map((line) => html`<p>${line}</p>`)}
        <p><a href="mailto:support@demo.example" dir="ltr">support@demo.example</a></p>
      </div>
    </div>
    <p class="made-up">${foot.madeUp}</p>
  </footer>`;
}
