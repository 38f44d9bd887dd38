/** A page of somebody else, on which the widget is a guest. */
export interface GuestPage {
  readonly name: string;
  /** Packages of the npm registry, with exact versions, that the page loads from `/lib/`. */
  readonly packages?: readonly string[];
  readonly body?: string;
  readonly head?: string;
  readonly htmlAttributes?: string;
  /** A module of the page's own that is bundled with its packages. */
  readonly bundle?: string;
  /** What happens on the page before the chat is used: JavaScript, awaited. */
  readonly act?: string;
  /** The widget's script is added by another script, as tag managers do. */
  readonly isLate?: boolean;
  /** A key of the page's own: it counts each in `window.heard`. */
  readonly key?: string;
  readonly viewport?: { readonly width: number; readonly height: number };
}

const lib = (path: string): string => `<script src="/lib/${path}"></script>`;
const css = (path: string): string => `<link rel="stylesheet" href="/lib/${path}">`;
const style = (text: string): string => `<style>${text}</style>`;
const HEAR = 'window.heard = 0; window.hear = () => { window.heard += 1; };';
const hear = (text: string): string => `<script>${HEAR}${text}</script>`;
/** Waits for the next page of a framework. */
const SECOND = `await new Promise((resolve) => {
  const look = () => document.querySelector('h1')?.textContent === 'Two' ? resolve() : setTimeout(look, 20);
  look();
});`;
const slides = (outer: string, inner: string, slide: string): string =>
  `<div class="${outer}"><div class="${inner}">${`<div class="${slide}">a slide</div>`.repeat(4)}</div></div>`;
const MODAL_BODY =
  '<p>Words of the dialog</p><input aria-label="of the dialog"><button>OK</button>';

/** Frameworks that replace what is on the page. */
const REPLACING: readonly GuestPage[] = [
  {
    name: 'Turbo',
    packages: ['@hotwired/turbo@8.0.13'],
    head: '<script type="module">import * as Turbo from "/lib/@hotwired/turbo/dist/turbo.es2017-esm.js"; window.Turbo = Turbo;</script>',
    act: `Turbo.visit(location.href + '/two'); ${SECOND}`,
  },
  {
    name: 'Turbo, twice and back',
    packages: ['@hotwired/turbo@8.0.13'],
    head: '<script type="module">import * as Turbo from "/lib/@hotwired/turbo/dist/turbo.es2017-esm.js"; window.Turbo = Turbo;</script>',
    act: `Turbo.visit(location.href + '/two'); ${SECOND} history.back();
      await new Promise((resolve) => setTimeout(resolve, 500));`,
  },
  {
    name: 'htmx',
    packages: ['htmx.org@2.0.4'],
    head: lib('htmx.org/dist/htmx.min.js'),
    act: `await htmx.ajax('GET', location.href + '/two', { target: 'body', swap: 'outerHTML' }); ${SECOND}
      await new Promise((resolve) => setTimeout(resolve, 200));`,
  },
  {
    name: 'Unpoly',
    packages: ['unpoly@3.10.2'],
    head: lib('unpoly/unpoly.js') + css('unpoly/unpoly.css'),
    act: `await up.navigate({ url: location.href + '/two', target: 'body' }); ${SECOND}`,
  },
  {
    name: 'swup',
    packages: ['swup@4.8.1'],
    head: lib('swup/dist/Swup.umd.js'),
    body: '<main id="swup" class="transition-fade"><h1>One</h1></main>',
    act: `const swup = new Swup({ animationSelector: false });
      const ended = new Promise((resolve) => swup.hooks.once('visit:end', resolve));
      swup.navigate(location.pathname + '/two'); ${SECOND} await ended;`,
  },
  {
    name: 'Barba.js',
    packages: ['@barba/core@2.10.3'],
    head: lib('@barba/core/dist/barba.umd.js'),
    body: '<div data-barba="wrapper"><main data-barba="container" data-barba-namespace="one"><h1>One</h1></main></div>',
    act: `barba.init({ transitions: [{ leave() {}, enter() {} }] }); barba.go(location.pathname + '/two'); ${SECOND}`,
  },
  {
    name: 'jquery-pjax',
    packages: ['jquery@3.7.1', 'jquery-pjax@2.0.1'],
    head: lib('jquery/dist/jquery.min.js') + lib('jquery-pjax/jquery.pjax.js'),
    body: '<div id="all"><h1>One</h1></div>',
    act: `$.pjax({ url: location.pathname + '/two', container: '#all', fragment: 'body' }); ${SECOND}`,
  },
  {
    name: 'Astro transitions',
    packages: ['astro@5.7.10'],
    head: '<meta name="astro-view-transitions-enabled" content="true"><meta name="astro-view-transitions-fallback" content="swap">',
    bundle: `import { navigate } from 'PACKAGES/astro/dist/transitions/router.js';
      window.go = navigate;`,
    act: `await go(location.pathname + '/two'); ${SECOND}
      while (document.documentElement.hasAttribute('data-astro-transition'))
        await new Promise((resolve) => setTimeout(resolve, 50));`,
  },
  {
    name: 'React 19 that hydrates the document',
    packages: ['react@19.1.0', 'react-dom@19.1.0'],
    bundle: `import { createElement as h } from 'react'; import { hydrateRoot } from 'react-dom/client';
      const Page = () => h('html', { lang: 'en' }, h('head', null, h('title', null, 'Hydrated')),
        h('body', null, h('h1', null, 'Not what the server wrote'), h('input', { 'aria-label': 'search' })));
      hydrateRoot(document, h(Page), { onRecoverableError() {} }); window.isHydrated = true;`,
    act: 'await new Promise((resolve) => setTimeout(resolve, 500));',
  },
  {
    name: 'React 19 with StrictMode in the body',
    packages: ['react@19.1.0', 'react-dom@19.1.0'],
    bundle: `import { createElement as h, StrictMode } from 'react'; import { createRoot } from 'react-dom/client';
      createRoot(document.body).render(h(StrictMode, null, h('h1', null, 'A shop'), h('input', { 'aria-label': 'search' })));`,
  },
  {
    name: 'Vue on the body',
    packages: ['vue@3.5.13'],
    head: lib('vue/dist/vue.global.prod.js'),
    act: `Vue.createApp({ template: '<h1>{{ words }}</h1><input aria-label="search">', data: () => ({ words: 'Vue' }) }).mount('body');`,
  },
  {
    name: 'Alpine.js',
    packages: ['alpinejs@3.14.9'],
    head: '<script defer src="/lib/alpinejs/dist/cdn.min.js"></script>',
    body: '<div x-data="{ open: false }" @keydown.window.slash="hear()"><h1>A shop</h1><button @click="open = !open">menu</button><p x-show="open">more</p></div>',
    key: '/',
  },
  {
    name: 'Stimulus',
    packages: ['@hotwired/stimulus@3.2.2'],
    head: `<script type="module">import { Application, Controller } from "/lib/@hotwired/stimulus/dist/stimulus.js";
      Application.start().register('keys', class extends Controller { press() { hear(); } });</script>`,
    body: '<main data-controller="keys" data-action="keydown.j@window->keys#press"><h1>A shop</h1></main>',
    key: 'j',
  },
  {
    name: 'the body replaced by hand, twice',
    act: `for (const words of ['one', 'Two']) {
      const body = document.createElement('body'); body.innerHTML = '<h1>' + words + '</h1>';
      document.documentElement.replaceChild(body, document.body);
    }`,
  },
  { name: 'a tag manager', isLate: true },
  {
    name: 'the host removed',
    act: `document.querySelector('sluice-chat').remove();`,
  },
  {
    name: 'document.write after loading',
    act: `document.body.insertAdjacentHTML('beforeend', '<iframe title="old"></iframe>');
      const old = document.querySelector('iframe').contentDocument; old.open(); old.write('<p>old</p>'); old.close();`,
  },
];

/** Libraries that listen to keys everywhere. */
const KEYS: readonly GuestPage[] = [
  {
    name: 'Mousetrap',
    packages: ['mousetrap@1.6.5'],
    head: lib('mousetrap/mousetrap.min.js'),
    act: `Mousetrap.bind(['j', 'k', '/', '?', 's'], () => { hear(); return false; });`,
    key: 'j',
  },
  {
    name: 'hotkeys-js',
    packages: ['hotkeys-js@3.13.10'],
    head: lib('hotkeys-js/dist/hotkeys.min.js'),
    act: `hotkeys('j,k,/,s', (event) => { event.preventDefault(); hear(); });`,
    key: 'j',
  },
  {
    name: 'tinykeys',
    packages: ['tinykeys@3.0.0'],
    bundle: `import { tinykeys } from 'tinykeys'; tinykeys(window, { j: (event) => { event.preventDefault(); hear(); } });`,
    key: 'j',
  },
  {
    name: '@github/hotkey',
    packages: ['@github/hotkey@3.1.1'],
    body: '<h1>A shop</h1><button data-hotkey="j" onclick="hear()">next</button><a href="#s" data-hotkey="s,/">search</a>',
    bundle: `import { install } from '@github/hotkey';
      for (const element of document.querySelectorAll('[data-hotkey]')) install(element);`,
    key: 'j',
  },
  {
    name: 'keymaster',
    packages: ['keymaster@1.6.2'],
    head: lib('keymaster/keymaster.js'),
    act: `key('j, k, /', () => { hear(); return false; });`,
    key: 'j',
  },
  {
    name: 'shortcuts that look at the target',
    act: `document.addEventListener('keydown', (event) => {
      if (/INPUT|TEXTAREA|SELECT/.test(event.target.tagName) || event.target.isContentEditable) return;
      if ('/sk? j'.includes(event.key)) { event.preventDefault(); hear(); }
    });`,
    key: 'j',
  },
  {
    name: 'shortcuts on keypress and keyup',
    act: `for (const type of ['keypress', 'keyup']) addEventListener(type, ({ key }) => { if (key === 'j') hear(); });`,
    key: 'j',
  },
  {
    name: 'an editor that takes paste and input',
    packages: ['quill@2.0.3'],
    head: lib('quill/dist/quill.js') + css('quill/dist/quill.snow.css'),
    body: '<h1>A shop</h1><div id="editor"></div>',
    act: `new Quill('#editor', { theme: 'snow' });
      for (const type of ['paste', 'input', 'beforeinput', 'copy']) document.addEventListener(type, (event) => { event.preventDefault(); hear(); });`,
  },
  {
    name: 'reveal.js',
    packages: ['reveal.js@5.2.1'],
    head: lib('reveal.js/dist/reveal.js') + css('reveal.js/dist/reveal.css'),
    body: '<div class="reveal"><div class="slides"><section>one</section><section>two</section><section>three</section></div></div>',
    act: `await Reveal.initialize(); Reveal.on('slidechanged', hear);`,
    key: 'n',
  },
];

/** Dialogs that keep the focus. */
const DIALOGS: readonly GuestPage[] = [
  {
    name: 'Bootstrap 5 with jQuery, its dialog open',
    packages: ['bootstrap@5.3.5', 'jquery@3.7.1'],
    head:
      css('bootstrap/dist/css/bootstrap.min.css') +
      lib('jquery/dist/jquery.min.js') +
      lib('bootstrap/dist/js/bootstrap.bundle.min.js'),
    body: `<h1>A shop</h1><div class="modal" id="m" tabindex="-1"><div class="modal-dialog"><div class="modal-content">${MODAL_BODY}</div></div></div>`,
    act: `await new Promise((resolve) => { m.addEventListener('shown.bs.modal', resolve); new bootstrap.Modal(m).show(); });`,
  },
  {
    name: 'Bootstrap 5, its offcanvas open',
    packages: ['bootstrap@5.3.5'],
    head:
      css('bootstrap/dist/css/bootstrap.min.css') +
      lib('bootstrap/dist/js/bootstrap.bundle.min.js'),
    body: `<h1>A shop</h1><div class="offcanvas offcanvas-start" id="m" tabindex="-1">${MODAL_BODY}</div>`,
    act: `await new Promise((resolve) => { m.addEventListener('shown.bs.offcanvas', resolve); new bootstrap.Offcanvas(m).show(); });`,
  },
  {
    name: 'Bootstrap 4, its dialog open',
    packages: ['bootstrap@4.6.2', 'jquery@3.7.1'],
    head:
      css('bootstrap/dist/css/bootstrap.min.css') +
      lib('jquery/dist/jquery.min.js') +
      lib('bootstrap/dist/js/bootstrap.bundle.min.js'),
    body: `<h1>A shop</h1><div class="modal" id="m" tabindex="-1"><div class="modal-dialog"><div class="modal-content">${MODAL_BODY}</div></div></div>`,
    act: `await new Promise((resolve) => { $('#m').on('shown.bs.modal', resolve).modal('show'); });`,
  },
  {
    name: 'MUI, its dialog open',
    packages: [
      'react@19.1.0',
      'react-dom@19.1.0',
      '@mui/material@7.0.2',
      '@emotion/react@11.14.0',
      '@emotion/styled@11.14.0',
    ],
    body: '<div id="root"></div>',
    bundle: `import { createElement as h } from 'react'; import { createRoot } from 'react-dom/client'; import { Dialog } from '@mui/material';
      createRoot(document.querySelector('#root')).render(h(Dialog, { open: true }, h('input', { 'aria-label': 'of the dialog' })));`,
    act: 'await new Promise((resolve) => setTimeout(resolve, 600));',
  },
  {
    name: 'Radix, its dialog open',
    packages: ['react@19.1.0', 'react-dom@19.1.0', '@radix-ui/react-dialog@1.1.11'],
    body: '<div id="root"></div>',
    bundle: `import { createElement as h } from 'react'; import { createRoot } from 'react-dom/client'; import * as D from '@radix-ui/react-dialog';
      createRoot(document.querySelector('#root')).render(h(D.Root, { open: true, modal: false }, h(D.Portal, null,
        h(D.Content, null, h(D.Title, null, 'A dialog'), h('input', { 'aria-label': 'of the dialog' })))));`,
  },
  {
    name: 'jQuery UI, its modal dialog open',
    packages: ['jquery@3.7.1', 'jquery-ui-dist@1.13.3'],
    head:
      lib('jquery/dist/jquery.min.js') +
      lib('jquery-ui-dist/jquery-ui.min.js') +
      css('jquery-ui-dist/jquery-ui.min.css'),
    body: `<h1>A shop</h1><div id="m">${MODAL_BODY}</div>`,
    act: `$('#m').dialog({ modal: true });`,
  },
  {
    name: 'Magnific Popup',
    packages: ['jquery@3.7.1', 'magnific-popup@1.2.0'],
    head:
      lib('jquery/dist/jquery.min.js') +
      lib('magnific-popup/dist/jquery.magnific-popup.min.js') +
      css('magnific-popup/dist/magnific-popup.css'),
    body: `<h1>A shop</h1><div id="m">${MODAL_BODY}</div>`,
    act: `$.magnificPopup.open({ items: { src: '#m' }, type: 'inline' });`,
  },
  {
    name: 'SweetAlert2 as a toast',
    packages: ['sweetalert2@11.19.1'],
    head: lib('sweetalert2/dist/sweetalert2.all.min.js'),
    act: `Swal.fire({ title: 'Added', toast: true, position: 'top-end' });`,
  },
  {
    name: 'Micromodal',
    packages: ['micromodal@0.6.1'],
    head: lib('micromodal/dist/micromodal.min.js'),
    body: `<h1>A shop</h1><div id="m" aria-hidden="true"><div tabindex="-1" data-micromodal-close><div role="dialog" aria-modal="true">${MODAL_BODY}</div></div></div>`,
    act: `MicroModal.show('m');`,
  },
  {
    name: 'a11y-dialog',
    packages: ['a11y-dialog@8.1.4'],
    head: lib('a11y-dialog/dist/a11y-dialog.min.js'),
    body: `<h1>A shop</h1><div id="m" aria-hidden="true"><div role="document">${MODAL_BODY}</div></div>`,
    act: `new A11yDialog(m).show();`,
  },
];

/** Carousels and what scrolls. */
const MOVING: readonly GuestPage[] = [
  {
    name: 'Swiper with its keyboard',
    packages: ['swiper@11.2.6'],
    head: lib('swiper/swiper-bundle.min.js') + css('swiper/swiper-bundle.min.css'),
    body: `<h1>A shop</h1>${slides('swiper', 'swiper-wrapper', 'swiper-slide')}`,
    act: `new Swiper('.swiper', { keyboard: { enabled: true, onlyInViewport: false } }).on('slideChange', hear);`,
    key: 'ArrowRight',
  },
  {
    name: 'Splide with its keyboard',
    packages: ['@splidejs/splide@4.1.4'],
    head:
      lib('@splidejs/splide/dist/js/splide.min.js') +
      css('@splidejs/splide/dist/css/splide.min.css'),
    body: `<h1>A shop</h1><section class="splide">${slides('splide__track', 'splide__list', 'splide__slide')}</section>`,
    act: `new Splide('.splide', { keyboard: 'global', speed: 1 }).mount().on('move', hear);`,
    key: 'ArrowRight',
  },
  {
    name: 'Slick',
    packages: ['jquery@3.7.1', 'slick-carousel@1.8.1'],
    head:
      lib('jquery/dist/jquery.min.js') +
      lib('slick-carousel/slick/slick.min.js') +
      css('slick-carousel/slick/slick.css'),
    body: '<h1>A shop</h1><div id="s"><div>1</div><div>2</div><div>3</div></div>',
    act: `$('#s').slick().on('beforeChange', hear);`,
  },
  {
    name: 'Glide',
    packages: ['@glidejs/glide@3.7.1'],
    head:
      lib('@glidejs/glide/dist/glide.min.js') + css('@glidejs/glide/dist/css/glide.core.min.css'),
    body: '<h1>A shop</h1><div class="glide"><div class="glide__track" data-glide-el="track"><ul class="glide__slides"><li>1</li><li>2</li><li>3</li></ul></div></div>',
    act: `new Glide('.glide').mount().on('run', hear);`,
    key: 'ArrowRight',
  },
  {
    name: 'Flickity',
    packages: ['flickity@3.0.0'],
    head: lib('flickity/dist/flickity.pkgd.min.js') + css('flickity/dist/flickity.min.css'),
    body: '<h1>A shop</h1><div id="s"><div>1</div><div>2</div></div>',
    act: `new Flickity('#s').on('change', hear);`,
  },
  {
    name: 'AOS',
    packages: ['aos@2.3.4'],
    head: lib('aos/dist/aos.js') + css('aos/dist/aos.css'),
    body: `<h1>A shop</h1>${'<p data-aos="fade-up" style="height: 300px">words</p>'.repeat(5)}`,
    act: `AOS.init();`,
  },
  {
    name: 'Lenis',
    packages: ['lenis@1.2.3'],
    head: lib('lenis/dist/lenis.min.js') + css('lenis/dist/lenis.css'),
    body: `<h1>A shop</h1>${'<p style="height: 300px">words</p>'.repeat(9)}`,
    act: `window.lenis = new Lenis({ autoRaf: true });`,
  },
  {
    name: 'fullPage.js',
    packages: ['fullpage.js@4.0.35'],
    head: lib('fullpage.js/dist/fullpage.min.js') + css('fullpage.js/dist/fullpage.min.css'),
    body: '<div id="f"><div class="section">1</div><div class="section">2</div></div>',
    act: `new fullpage('#f', { licenseKey: 'gplv3-license', credits: { enabled: false }, onLeave: hear });`,
  },
  {
    name: 'PhotoSwipe, open',
    packages: ['photoswipe@5.4.4'],
    head: `${css('photoswipe/dist/photoswipe.css')}<script type="module">import PhotoSwipe from "/lib/photoswipe/dist/photoswipe.esm.js"; window.PhotoSwipe = PhotoSwipe;</script>`,
    act: `new PhotoSwipe({ trapFocus: false, dataSource: [{ html: '<p>a picture</p>' }] }).init();`,
  },
  {
    name: 'GLightbox',
    packages: ['glightbox@3.3.1'],
    head: lib('glightbox/dist/js/glightbox.min.js') + css('glightbox/dist/css/glightbox.min.css'),
    body: '<h1>A shop</h1><a href="#x" class="glightbox">a picture</a>',
    act: `GLightbox();`,
  },
];

/** Style sheets that mean everything. */
const STYLES: readonly GuestPage[] = [
  {
    name: 'Tailwind preflight',
    packages: ['tailwindcss@4.1.4'],
    head: css('tailwindcss/preflight.css'),
  },
  { name: 'Bulma', packages: ['bulma@1.0.4'], head: css('bulma/css/bulma.min.css') },
  {
    name: 'Foundation',
    packages: ['foundation-sites@6.9.0'],
    head: css('foundation-sites/dist/css/foundation.min.css'),
  },
  {
    name: 'normalize.css',
    packages: ['normalize.css@8.0.1'],
    head: css('normalize.css/normalize.css'),
  },
  { name: 'reset-css', packages: ['reset-css@5.0.2'], head: css('reset-css/reset.css') },
  {
    name: 'UIkit',
    packages: ['uikit@3.23.6'],
    head: css('uikit/dist/css/uikit.min.css') + lib('uikit/dist/js/uikit.min.js'),
  },
  { name: 'Pico', packages: ['@picocss/pico@2.1.1'], head: css('@picocss/pico/css/pico.min.css') },
  {
    name: 'a page builder that hides what is empty',
    head: style(
      '*:empty { display: none !important } body > *, html > * { max-width: 400px !important }',
    ),
  },
  {
    name: 'a page builder that resets everything',
    head: style(
      '* { all: revert; position: static !important; transform: none !important; float: left !important; margin: 3px !important }',
    ),
  },
  {
    name: 'large and spaced letters for everyone',
    head: style(
      'html { font-size: 200% } * { letter-spacing: 0.3em !important; word-spacing: 0.5em !important; line-height: 3 !important }',
    ),
  },
  { name: 'a body that is moved', head: style('body { transform: translateX(-40px) scale(0.9) }') },
  { name: 'a body with a filter', head: style('body { filter: grayscale(1) contrast(1.2) }') },
  { name: 'a body that is zoomed', head: style('body { zoom: 0.7 }') },
  {
    name: 'a body that contains',
    head: style('body { contain: strict; height: 300px; overflow: hidden; perspective: 10px }'),
  },
  {
    name: 'an accessibility overlay',
    head: style(
      'html { filter: invert(1) hue-rotate(180deg) } * { cursor: crosshair !important; animation: none !important }',
    ),
    act: `const bar = document.createElement('div'); bar.style.cssText = 'position:fixed;right:0;bottom:0;z-index:2147483647;width:10px;height:10px';
      document.body.append(bar); document.documentElement.setAttribute('data-a11y', 'on');`,
  },
  { name: 'right to left', htmlAttributes: 'dir="rtl" lang="ar"' },
  { name: 'a dark page', head: '<meta name="color-scheme" content="dark">' },
];

/** How old scripts change what every script has. */
const OLD: readonly GuestPage[] = [
  { name: 'core-js', packages: ['core-js-bundle@3.42.0'], head: lib('core-js-bundle/minified.js') },
  {
    name: 'Array.prototype with more in it',
    head: `<script>Array.prototype.last = function () { return this.at(-1); }; Object.prototype.extend = function () { return this; };</script>`,
  },
];

const ZOOM = [50, 125, 200, 300, 400, 500].map((percent): GuestPage => ({
  name: `a zoom of ${percent} %`,
  viewport: {
    width: Math.round((1280 * 100) / percent),
    height: Math.round((800 * 100) / percent),
  },
}));

export const PAGES: readonly GuestPage[] = [
  ...REPLACING,
  ...KEYS,
  ...DIALOGS,
  ...MOVING,
  ...STYLES,
  ...OLD,
  ...ZOOM,
];

/** What every page has before everything else. */
export const FIRST = hear('');
