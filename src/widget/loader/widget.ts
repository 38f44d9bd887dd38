import { importOnce } from '../import-once.ts';
import { accentOf } from '../look/accent.ts';
import { adoptStyleSheet } from '../look/style-sheet.ts';
import { WIDGET_TEXTS_PATH } from '../../channels/chat/events.ts';
import type { Main, MainModule, MainOptions, Texts } from '../main-part.ts';
import { isPhone } from '../phone.ts';
import type { Language, Settings } from '../settings.ts';
import { readNote, SESSION, tabStorage, writeNote } from '../storage.ts';
import { keepEvents, keepOnPage } from './host.ts';
import css from './launcher.css?inline';
import { createCard, createLauncher, el } from './launcher.ts';
import type { Events } from './page-api.ts';

/** The main part's file, below the gateway's URL; filled in by the build. */
declare const MAIN_FILE: string;

interface WidgetOptions {
  /** The language that the page asks for now. */
  readonly language: () => Language;
  readonly gatewayUrl: string;
  readonly key: string;
  readonly storage: Storage | undefined;
  /** The prefix of the widget's keys in `storage`. */
  readonly prefix: string;
  readonly settings: Settings;
  /** The script tag's `data-*`. */
  readonly tag: DOMStringMap;
  readonly events: Events;
}

/**
 * The widget as it first appears on a page: the launcher, and perhaps a greeting. It decides
 * whether the chat is open. The main part, with the panel, is loaded when the chat is first opened;
 * for a visitor who has written before it is loaded at once, to show the unread count.
 */
export class Widget {
  readonly #options: WidgetOptions;
  readonly #host = document.createElement('sluice-chat');
  readonly #root = this.#host.attachShadow({ mode: 'open' });
  readonly #frame: HTMLElement;
  readonly #launcher = createLauncher();
  readonly #fetchMain: () => Promise<MainModule>;
  readonly #dismissGreeting: () => void;
  /** The language that the page asks for. */
  #language: Language;
  /** The language of the texts on the page. */
  #shown: Language;
  #isOpen = false;
  #main: Main | undefined;
  #mounting: Promise<Main | undefined> | undefined;
  #failure: HTMLElement | undefined;
  /** A JWT for the main part, until that is loaded; else empty. */
  #identity = '';
  readonly #removal = new AbortController();

  constructor(options: WidgetOptions) {
    const { gatewayUrl, storage, prefix, settings, events } = options;
    const frame = el('aside', {
      class: 'frame',
      'aria-label': settings.name ?? 'Chat',
    });
    this.#options = options;
    this.#frame = frame;
    this.#language = this.#shown = options.language();
    this.#fetchMain = importOnce(gatewayUrl + MAIN_FILE);
    this.#dismissGreeting = scheduleGreeting(
      settings.greeting,
      `${prefix}greeted`,
      storage,
      (text) => this.#showCard(text, 'note', () => this.#dismissGreeting()),
    );
    adoptStyleSheet(this.#root, css + placeOf(settings));
    const draw = (): void => {
      applyLook(frame, settings);
      this.#speak(options.language());
    };
    this.#show(this.#language);
    const { signal } = this.#removal;
    SYSTEM_DARK.addEventListener('change', draw, { signal });
    // The page's style sheets are there by then.
    addEventListener('load', draw, { signal });
    const button = this.#launcher;
    frame.append(button);
    this.#root.append(frame);
    keepEvents(this.#host);
    // A page that has a switch, of scheme or language, changes an attribute of its root.
    keepOnPage(this.#host, signal, draw);
    button.onclick = ({ detail }) => {
      // Neither the second press of a double click nor an impatient one closes what is about to open.
      if (detail < 2 && !('busy' in button.dataset)) this.setOpen(!this.#isOpen);
    };
    // The main part is fetched before it is needed; a failure shows when the chat is opened.
    button.onpointerenter = button.onfocus = () => void this.#fetchMain().catch(() => undefined);
    if (this.#hasSession()) void this.#load().catch(() => undefined);
    events.emit('ready', undefined);
    if (settings.error) events.emit('error', { code: settings.error });
    if (isOpenAgain(readNote(tabStorage(), this.#openNote))) this.setOpen(true, false);
  }

  /** @param takesFocus false when the chat was open on the page before this one */
  setOpen(isOpen: boolean, takesFocus = true): void {
    if (isOpen === this.#isOpen) return;
    this.#isOpen = isOpen;
    writeNote(tabStorage(), this.#openNote, isOpen ? location.href : '');
    this.#frame.toggleAttribute('data-open', isOpen);
    if (isOpen) {
      this.#dismissGreeting();
      if (this.#main) this.#main.setOpen(true, takesFocus);
      else void this.#loadToOpen(takesFocus);
    } else {
      this.#main?.setOpen(false, false);
    }
    this.#launcher.setAttribute('aria-expanded', String(isOpen));
    this.#options.events.emit(isOpen ? 'open' : 'close', undefined);
  }

  identify(jwt: string): void {
    this.#identity = jwt;
    this.#main?.identify(jwt);
  }

  /**
   * Until the main part is loaded, the visitor exists only in the storage, which `logout` clears.
   */
  logout(): void {
    this.#identity = '';
    this.#main?.logout();
  }

  /** Shows or hides the launcher; the chat can be opened by `setOpen` all the same. */
  setHidden(isHidden: boolean): void {
    this.#frame.toggleAttribute('data-hidden', isHidden);
  }

  prefill(text: string): void {
    this.#withMain((main) => main.prefill(text));
  }

  send(text: string): void {
    this.#withMain((main) => main.send(text));
  }

  /** Removes the widget from the page; the visitor and unsent messages stay in the storage. */
  remove(): void {
    this.#removal.abort();
    this.#host.remove();
  }

  /**
   * The address of the page on which the chat was opened; empty when it was closed. Each tab has its
   * own: a chat that is opened in one does not open in the others.
   */
  get #openNote(): string {
    return `${this.#options.prefix}open`;
  }

  #hasSession(): boolean {
    const { storage, prefix } = this.#options;
    return readNote(storage, prefix + SESSION) !== undefined;
  }

  /** Takes effect in the panel when its texts are there. */
  #speak(language: Language): void {
    if (language.locale === this.#language.locale) return;
    this.#language = language;
    if (this.#main) void this.#translate(this.#main, language);
    else this.#show(language);
  }

  async #translate(main: Main, language: Language): Promise<void> {
    const texts = await this.#fetchTexts(language).catch(() => undefined);
    // The page may have changed it again.
    if (language !== this.#language) return;
    if (texts) {
      main.speak(texts, language.locale);
      this.#show(language);
    } else {
      // The former one stays until the page changes an attribute again.
      this.#language = this.#shown;
    }
  }

  #show(language: Language): void {
    this.#shown = language;
    this.#frame.lang = language.locale;
    this.#frame.dir = RIGHT_TO_LEFT.test(language.locale) ? 'rtl' : 'ltr';
    if (!this.#main) this.#launcher.setAttribute('aria-label', language.launcher[0]);
  }

  async #fetchTexts({ name }: Language): Promise<Texts> {
    const { gatewayUrl, key, settings } = this.#options;
    const shop = settings.error ? '' : `${encodeURIComponent(key)}/`;
    const url = gatewayUrl + WIDGET_TEXTS_PATH.slice(1) + shop + name;
    const answer = await fetch(url, { credentials: 'omit' });
    if (!answer.ok) throw new Error(`${answer.status} to the texts`);
    return (await answer.json()) as Texts;
  }

  /**
   * Mounts the main part once; after a failure, the next call tries again.
   * @returns undefined when the page has removed the widget meanwhile
   */
  #load(): Promise<Main | undefined> {
    this.#mounting ??= this.#mount().catch((error: unknown) => {
      this.#mounting = undefined;
      throw error;
    });
    return this.#mounting;
  }

  async #mount(): Promise<Main | undefined> {
    const language = this.#language;
    const [{ mount }, texts] = await Promise.all([this.#fetchMain(), this.#fetchTexts(language)]);
    if (this.#removal.signal.aborted) return undefined;
    const main = mount({ ...this.#mainOptions(), texts, locale: language.locale });
    this.#main = main;
    if (this.#identity) main.identify(this.#identity);
    this.#show(language);
    // The page may have changed it meanwhile.
    if (language !== this.#language) void this.#translate(main, this.#language);
    return main;
  }

  #withMain(use: (main: Main) => void): void {
    this.#load().then(
      (main) => main && use(main),
      () => this.#options.events.emit('error', { code: 'load' }),
    );
  }

  async #loadToOpen(takesFocus: boolean): Promise<void> {
    const button = this.#launcher;
    const { events } = this.#options;
    button.dataset['busy'] = '';
    this.#failure?.remove();
    try {
      await this.#load();
      // The visitor may have closed the chat meanwhile.
      this.#main?.setOpen(this.#isOpen, takesFocus);
    } catch (error) {
      // oxlint-disable-next-line no-console -- for the page's developer
      console.error('Sluice: the chat did not load.', error);
      this.setOpen(false);
      const text = this.#language.launcher[2];
      this.#failure = this.#showCard(text, 'alert', () => this.#failure?.remove());
      events.emit('error', { code: 'load' });
    }
    delete button.dataset['busy'];
  }

  #mainOptions(): Omit<MainOptions, 'texts' | 'locale'> {
    return {
      ...this.#options,
      root: this.#root,
      launcher: this.#launcher,
      frame: this.#frame,
      // Read now: the visitor may have logged out while the main part was being loaded.
      hasSession: this.#hasSession(),
      removed: this.#removal.signal,
      open: () => this.setOpen(true),
      close: () => this.setOpen(false),
      emit: this.#options.events.emit,
    };
  }

  #showCard(text: string, role: 'note' | 'alert', onDismiss: () => void): HTMLElement {
    const dismissLabel = this.#language.launcher[1];
    const card = createCard(role, text, dismissLabel, () => this.setOpen(true), onDismiss);
    this.#frame.prepend(card);
    return card;
  }
}

/**
 * Whether the chat that was open on the page before is open on this one. On a phone it would cover
 * what the visitor has gone to: there only after a reload, a step back or forward, or in a restored
 * tab, of the same address.
 * @param note the address of the page on which it was opened
 */
function isOpenAgain(note: string | undefined): boolean {
  if (!note || !isPhone()) return !!note;
  const [navigation] = performance.getEntriesByType('navigation');
  // That entry's own type (Navigation Timing 2, §4).
  const { type } = navigation as PerformanceNavigationTiming;
  return note === location.href && type !== 'navigate';
}

const GREETING_DELAY_MS = 4_000;

/**
 * Shows the greeting beside the launcher after a few seconds. A visitor who has dismissed it or
 * opened the chat does not see the same greeting again.
 * @returns a function that dismisses the greeting
 */
function scheduleGreeting(
  greeting: string | undefined,
  noteKey: string,
  storage: Storage | undefined,
  show: (greeting: string) => HTMLElement,
): () => void {
  if (!greeting || readNote(storage, noteKey) === greeting) return () => undefined;
  let card: HTMLElement | undefined;
  const timer = setTimeout(() => {
    card = show(greeting);
  }, GREETING_DELAY_MS);
  return () => {
    clearTimeout(timer);
    card?.remove();
    writeNote(storage, noteKey, greeting);
  };
}

/**
 * Where the shop wants it, as defaults for the page's own style of the host. Only numbers get into
 * the style sheet.
 */
const placeOf = ({ offsetX, offsetY, zIndex }: Settings): string =>
  `:host{--sluice-offset-x:${pixels(offsetX)}px;--sluice-offset-y:${pixels(offsetY)}px;--sluice-z-index:${pixels(zIndex) || 2147483000}}`;

/** An attribute's value is a text, perhaps with its unit. */
const pixels = (value: number | undefined): number => Number.parseInt(`${value}`, 10) || 0;

/** The scripts of these languages are written from right to left. */
const RIGHT_TO_LEFT = /^(?:ar|ckb|dv|fa|he|ps|sd|ug|ur|yi)\b/;
const SYSTEM_DARK = matchMedia('(prefers-color-scheme: dark)');

/** Sets the corner and the scheme, which follow the page, and the accent. */
function applyLook(frame: HTMLElement, { position, scheme = '', color }: Settings): void {
  const { direction } = getComputedStyle(document.documentElement);
  const isLeft = position === 'left' || (position !== 'right' && direction === 'rtl');
  frame.dataset['position'] = isLeft ? 'left' : 'right';
  const isDark = scheme === 'dark' || (scheme !== 'light' && isPageDark(SYSTEM_DARK.matches));
  const shown = isDark ? 'dark' : 'light';
  frame.dataset['scheme'] = shown;
  const accent = Object.entries(accentOf(color, shown));
  for (const [name, value] of accent) frame.style.setProperty(`--${name}`, value);
}

/**
 * Whether the page is dark now (CSS Color Adjustment 1, §2). A page that declares nothing is light,
 * also on a dark system.
 * @param isSystemDark decides for a page that has both
 */
function isPageDark(isSystemDark: boolean): boolean {
  const meta = document.querySelector<HTMLMetaElement>('meta[name=color-scheme]');
  const { colorScheme } = getComputedStyle(document.documentElement);
  const declared = colorScheme === 'normal' ? (meta?.content ?? '') : colorScheme;
  return declared.includes('dark') && (isSystemDark || !declared.includes('light'));
}
