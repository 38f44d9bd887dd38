import { read, SESSION, write } from '../storage.ts';
import { adopt } from '../look/style-sheet.ts';
import type { Main, MainModule, MainOptions } from '../main-part.ts';
import type { Settings } from '../settings.ts';
import { createBubble, createLauncher, el } from './launcher.ts';
import type { Events } from './page-api.ts';
import css from './launcher.css?inline';
import { TEXTS } from './texts.ts';
import { accentOf } from '../look/accent.ts';

/**
 * The widget as a page first has it: a launcher and perhaps a greeting. It owns whether the chat is
 * open; the panel itself comes with the main part, when it is first opened, or at once for a visitor
 * who has written before, so that the unread count shows.
 */
export function createWidget(options: {
  readonly mainUrl: string;
  readonly gatewayUrl: string;
  readonly key: string;
  readonly storage: Storage | undefined;
  /** What the keys of its notes in `storage` begin with. */
  readonly notes: string;
  readonly settings: Settings;
  readonly events: Events;
}) {
  const { mainUrl, gatewayUrl, key, storage, notes, settings, events } = options;
  const [openLabel, dismissLabel, failedText] = TEXTS[settings.language];
  const host = document.createElement('sluice-chat');
  const root = host.attachShadow({ mode: 'open' });
  const frame = el('aside', { class: 'frame', 'aria-label': settings.name ?? 'Chat' });
  const { launcher, draw: drawLauncher } = createLauncher(openLabel);

  let isOpen = false;
  let unread = 0;
  let main: Main | undefined;
  let opener: Element | null;
  let failure: HTMLElement | undefined;
  /** Waits for the main part; empty when none does. */
  let identity = '';

  const draw = (): void => drawLauncher(isOpen, unread, main?.labelOf(isOpen, unread));
  const show = (text: string, role: 'note' | 'alert', onDismiss: () => void): HTMLElement => {
    const card = createBubble({
      text,
      role,
      dismissLabel,
      onDismiss,
      onClick: () => setOpen(true),
    });
    frame.prepend(card);
    return card;
  };
  const fetchMain = createMainLoader(mainUrl);
  const mainOptions: MainOptions = {
    root,
    frame,
    gatewayUrl,
    key,
    settings,
    // Asked anew: the visitor may have logged out while the main part was on its way.
    get hasSession() {
      return read(storage, notes + SESSION) !== undefined;
    },
    close: () => setOpen(false),
    emit: (event, detail) => {
      if (event === 'unread') {
        unread = detail as number;
        draw();
      }
      events.emit(event, detail);
    },
  };
  const dismissGreeting = greet({
    greeting: settings.greeting,
    noteKey: `${notes}greeted`,
    storage,
    show: (text) => show(text, 'note', () => dismissGreeting()),
  });

  async function load(): Promise<void> {
    const { mount } = await fetchMain();
    if (!main) {
      main = mount(mainOptions);
      if (identity) main.identify(identity);
    }
    draw();
  }

  async function loadToOpen(): Promise<void> {
    launcher.dataset['busy'] = '';
    failure?.remove();
    try {
      await load();
      // Closed again before it was there: then it stays closed.
      main?.setOpen(isOpen);
    } catch (error) {
      // eslint-disable-next-line no-console -- what stands in the way is the page's developer's
      console.error('Sluice: the chat could not be loaded.', error);
      setOpen(false);
      failure = show(failedText, 'alert', () => failure?.remove());
      events.emit('error', { code: 'load' });
    }
    delete launcher.dataset['busy'];
  }

  function setOpen(now: boolean): void {
    if (now === isOpen) return;
    isOpen = now;
    frame.toggleAttribute('data-open', now);
    if (now) {
      opener = document.activeElement;
      dismissGreeting();
      if (main) main.setOpen(now);
      else void loadToOpen();
    } else {
      main?.setOpen(now);
      giveFocusBack();
    }
    draw();
    events.emit(now ? 'open' : 'close', undefined);
  }

  /** To what had it when the chat was opened, when it is in the panel that goes. */
  function giveFocusBack(): void {
    if (!root.activeElement) return;
    const isElsewhere = opener?.isConnected && opener !== host && opener !== document.body;
    (isElsewhere ? (opener as HTMLElement) : launcher).focus();
  }

  adopt(root, css);
  dress(frame, settings);
  draw();
  frame.append(launcher);
  root.append(frame);
  document.body.append(host);
  launcher.onclick = () => setOpen(!isOpen);
  // Before it is needed; a failure shows when it is.
  launcher.onpointerenter = launcher.onfocus = () => void fetchMain().catch(() => undefined);
  if (mainOptions.hasSession) void load().catch(() => undefined);
  events.emit('ready', undefined);

  return {
    setOpen,
    identify: (jwt: string) => {
      identity = jwt;
      main?.identify(jwt);
    },
    /** Without the main part, the notes in `storage` are all there is to forget. */
    logout: () => {
      identity = '';
      main?.logout();
    },
  };
}

/** Fetches the main part, once; after a failure it can be asked for again. */
export function createMainLoader(url: string): () => Promise<MainModule> {
  let address = url;
  let failures = 0;
  let fetching: Promise<MainModule> | undefined;
  return () => {
    fetching ??= (import(/* @vite-ignore */ address) as Promise<MainModule>).catch(
      (error: unknown) => {
        // Some browsers remember that an address failed: another attempt is another address.
        address = `${url}?${++failures}`;
        fetching = undefined;
        throw error;
      },
    );
    return fetching;
  };
}

/** Long enough to have looked around, short enough to still be there. */
const DELAY_MS = 4_000;

/**
 * Shows the greeting beside the launcher after a few seconds, once: a visitor who has put it away
 * or opened the chat does not see that greeting again.
 * @returns a function that takes it away, for good
 */
export function greet(options: {
  /** Nothing is shown without one. */
  readonly greeting: string | undefined;
  readonly noteKey: string;
  readonly storage: Storage | undefined;
  readonly show: (greeting: string) => HTMLElement;
}): () => void {
  const { greeting, noteKey, storage, show } = options;
  if (!greeting || read(storage, noteKey) === greeting) return () => undefined;
  let card: HTMLElement | undefined;
  const timer = setTimeout(() => {
    card = show(greeting);
  }, DELAY_MS);
  return () => {
    clearTimeout(timer);
    card?.remove();
    write(storage, noteKey, greeting);
  };
}

/** Sets language, direction, side, scheme and accent; the scheme follows the visitor's system. */
export function dress(frame: HTMLElement, settings: Settings): void {
  const { language, locale, position, scheme = '', color } = settings;
  frame.lang = locale;
  frame.dir = language === 'ar' ? 'rtl' : 'ltr';
  frame.dataset['position'] = position === 'left' ? position : 'right';
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const draw = (): void => {
    const isDark = scheme === 'dark' || (scheme !== 'light' && dark.matches);
    const shown = isDark ? 'dark' : 'light';
    frame.dataset['scheme'] = shown;
    const accent = Object.entries(accentOf(color, shown));
    for (const [name, value] of accent) frame.style.setProperty(`--${name}`, value);
  };
  draw();
  dark.onchange = draw;
}
