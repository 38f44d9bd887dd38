import { html, type Markup } from '../runtime/markup.ts';
import { type Colour, COLOURS, pictureName, type View, VIEWS } from './pictures.ts';
import { type DemoTexts, LANGUAGES } from './texts.ts';

interface DemoPageOptions {
  readonly texts: DemoTexts;
  readonly widgetKey: string;
  /** Whether the page offers to log in. */
  readonly identifies: boolean;
}

const PRICE_CENTS = 12_900;
const SIZES = [40, 41, 42, 43, 44, 45];
const CHOSEN: { readonly colour: Colour; readonly view: View; readonly size: number } = {
  colour: 'navy',
  view: 'side',
  size: 42,
};

const ENGLISH_QUESTIONS = LANGUAGES.find(({ lang }) => lang === 'en')?.demo.questions ?? [];

/** The whole page, without inline scripts and styles. */
export function demoPage({ texts, widgetKey, identifies }: DemoPageOptions): string {
  const page = html`<!doctype html>
    <html lang="${texts.lang}" dir="${texts.direction}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover" />
        <meta name="color-scheme" content="light dark" />
        <title>Kaj: Harbour, ${texts.kind}</title>
        <meta name="description" content="${texts.intro}" />
        <link rel="icon" href="/demo/pictures/brand.svg" type="image/svg+xml" />
        <link rel="stylesheet" href="/demo/assets/page.css" />
        <script src="/demo/assets/page.js" defer></script>
        <script
          async
          src="/widget.js"
          data-key="${widgetKey}"
          data-name="Kaj"
          data-color="#1f3a5f"
          data-greeting="${texts.greeting}"
        ></script>
      </head>
      <body>
        <a class="skip" href="#product">${texts.skip}</a>
        ${header(texts)} ${demoBox(texts.demo, identifies)}
        <main id="product" class="product" aria-labelledby="name" tabindex="-1">
          ${gallery(texts)} ${offer(texts)}
        </main>
        <footer><p>${texts.madeUp}</p></footer>
      </body>
    </html>`;
  return `${page.source}\n`;
}

function header({ lang: current, announcement, language, bag }: DemoTexts): Markup {
  return html`<header>
    <p class="announcement">${announcement}</p>
    <div class="top">
      <a class="wordmark" href="/demo/${current}" lang="en">Kaj</a>
      <select id="language" aria-label="${language}" autocomplete="off">
        ${LANGUAGES.map(
          ({ lang, languageName }) =>
            html`<option value="${lang}" lang="${lang}" ${lang === current ? 'selected' : ''}>
              ${languageName}
            </option>`,
        )}
      </select>
      <a class="bag" href="#product">${bag} <span id="bag-count">0</span></a>
    </div>
  </header>`;
}

function gallery({ gallery: label, views }: DemoTexts): Markup {
  const { colour, view } = CHOSEN;
  const source = (each: View) => `/demo/pictures/${pictureName(colour, each)}`;
  return html`<div class="gallery" role="group" aria-label="${label}">
    <div class="stage">
      <img id="picture" src="${source(view)}" alt="${views[view]}" width="800" height="520" />
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
            <img src="${source(each)}" alt="" width="160" height="104" />
          </button>`,
      )}
    </div>
  </div>`;
}

/** The shoe's name and price, and the choices. */
function offer(texts: DemoTexts): Markup {
  return html`<div class="offer">
    <h1 id="name"><span lang="en">Harbour</span></h1>
    <p class="kind">${texts.kind}</p>
    <p class="price"><strong>${price(texts)}</strong> <span>${texts.priceNote}</span></p>
    <p>${texts.intro}</p>
    <form id="choices">
      <fieldset>
        <legend>${texts.colour}</legend>
        ${COLOURS.map((colour) => radio('colour', colour, texts.colours[colour]))}
      </fieldset>
      <fieldset>
        <legend>${texts.size}</legend>
        ${SIZES.map((size) => radio('size', String(size), String(size)))}
      </fieldset>
      <button class="primary" type="submit">${texts.add}</button>
      <p id="added" role="status" data-text="${texts.added}"></p>
    </form>
  </div>`;
}

const radio = (name: 'colour' | 'size', value: string, text: string): Markup =>
  html`<label class="${value}"
    ><input
      type="radio"
      name="${name}"
      value="${value}"
      ${value === String(CHOSEN[name]) ? 'checked' : ''}
    /><span>${text}</span></label
  >`;

/** The price in euros, in the format of the page's language. */
const price = ({ lang }: DemoTexts): string =>
  new Intl.NumberFormat(`${lang}-u-nu-latn`, {
    ...{ style: 'currency', currency: 'EUR', minimumFractionDigits: 0 },
  }).format(PRICE_CENTS / 100);

/** An explanation of the demo with things to try; closed at first. */
function demoBox(demo: DemoTexts['demo'], identifies: boolean): Markup {
  const questions = (demo.questions ?? ENGLISH_QUESTIONS).map(
    (question) => html`<li>${question}</li>`,
  );
  return html`<aside class="demo" aria-label="${demo.summary}">
    <details id="demo">
      <summary>${demo.summary}</summary>
      <div class="demo-body">
        <p>${demo.intro}</p>
        ${
          demo.questions
            ? html`<ul>
                ${questions}
              </ul>`
            : html`<ul lang="en" dir="ltr">
                ${questions}
              </ul>`
        }
        ${demo.questionsNote && html`<p class="note">${demo.questionsNote}</p>`}
        <p><button type="button" id="open-chat">${demo.open}</button></p>
        ${identifies ? identity(demo) : undefined}
      </div>
    </details>
  </aside>`;
}

const identity = (demo: DemoTexts['demo']): Markup =>
  html`<p>${demo.identifyIntro}</p>
    <p>
      <button type="button" id="identify">${demo.identify}</button>
      <button type="button" id="log-out">${demo.logOut}</button>
    </p>
    <p
      id="identity-status"
      class="note"
      role="status"
      data-identified="${demo.identified}"
      data-logged-out="${demo.loggedOut}"
      data-failed="${demo.failed}"
    ></p>`;
