import { effect, type ReadonlySignal, signal } from '@preact/signals-core';
import { type ComponentChild, render } from 'preact';
import type { Chat } from '../engine/chat.ts';
import { adoptStyleSheet } from '../look/style-sheet.ts';
import type { Main, MainOptions, Texts } from '../main-part.ts';
import { smallScreen } from '../phone.ts';
import type { Settings } from '../settings.ts';
import { readNote, storagePrefix, tabStorage, writeNote } from '../storage.ts';
import { announce } from './announce.ts';
import ask from './ask.css?inline';
import { closeOnBack } from './back.ts';
import { createFormats, fill } from './formats.ts';
import { Icon } from './icon.tsx';
import css from './panel.css?inline';
import { needsPreChat, Panel } from './panel.tsx';
import { createParts, Part, type Parts } from './part/part.tsx';
import { noteOf, readPlace } from './place.ts';
import { type Ui, UiProvider, useUi } from './ui.ts';

/** Puts the panel into the widget's frame and connects it to a conversation. */
export function createApp(options: MainOptions, chat: Chat, storage: Storage | undefined): Main {
  const { root, frame, launcher, gatewayUrl, key, settings, removed, open, close } = options;
  const prefix = storagePrefix(gatewayUrl, key);
  const notes = { sound: `${prefix}sound`, preview: `${prefix}preview`, place: `${prefix}place` };
  const speaking = (texts: Texts, locale: string) => ({
    texts,
    locale,
    formats: createFormats(locale),
  });
  const note = readNote(tabStorage(), notes.place);
  /** On the page before, and not on this one: a phone's, where a preview leads back to it. */
  const wasOpen = signal(
    !frame.hasAttribute('data-open') && !!readNote(tabStorage(), `${prefix}open`),
  );
  const language = signal(speaking(options.texts, options.locale));
  const parts = createParts(root);
  const ui: Ui = {
    chat,
    get texts() {
      return language.value.texts;
    },
    get formats() {
      return language.value.formats;
    },
    get locale() {
      return language.value.locale;
    },
    ...{ settings, parts },
    isOpen: signal(false),
    takesFocus: signal(true),
    isFullScreen: signal(false),
    hasSound: signal(readNote(storage, notes.sound) === 'on'),
    isIntroduced: signal(false),
    forms: signal(0),
    isAtEnd: signal(!readPlace(note)),
    place: signal(readPlace(note)),
    parsers: signal(undefined),
    errorText: signal(''),
    ending: signal(undefined),
    said: signal(undefined),
    awayUntil: watchHours(settings, parts, removed),
    dismissedSeq: signal(Number(readNote(storage, notes.preview)) || 0),
    ...{ open, close },
    pictureOf: createPictures(gatewayUrl),
    playChime: () =>
      void parts.chime().then(
        (chime) => chime.playChime(),
        () => undefined,
      ),
    view: async (blob, name) => {
      const { viewPicture } = await parts.viewer();
      await viewPicture({ frame, blob, name, texts: ui.texts });
    },
  };
  const place = document.createElement('div');
  const aside = document.createElement('div');
  const badge = document.createElement('span');
  let isDrawn = false;
  let opener: Element | null = null;

  const forgetForm = (): void => {
    ui.isIntroduced.value = false;
    ui.forms.value = ui.forms.peek() + 1;
  };

  const draw = (what: ComponentChild, where: HTMLElement): void =>
    render(<UiProvider value={ui}>{what}</UiProvider>, where);

  // Several parts need `ask`.
  adoptStyleSheet(root, css + ask);
  frame.prepend(place, aside);
  coverScreen(place, ui, removed);
  closeOnBack(ui, options);
  effect(() => writeNote(storage, notes.sound, ui.hasSound.value ? 'on' : 'off'));
  effect(() => writeNote(tabStorage(), notes.place, noteOf(ui.place.value)));
  effect(() => writeNote(storage, notes.preview, String(ui.dismissedSeq.value)));
  // All tabs have the same sound, and a preview is dismissed in all.
  const onStored = ({ key: note, newValue }: StorageEvent): void => {
    if (note === notes.sound) ui.hasSound.value = newValue === 'on';
    if (note === notes.preview) ui.dismissedSeq.value = Number(newValue);
  };
  addEventListener('storage', onStored, { signal: removed });
  hideFocus(options);
  launcher.append(badge);
  draw(<Aside wasOpen={wasOpen} />, aside);
  draw(<Badge />, badge);
  loadParsers(ui, parts);
  // Also after a logout in another tab, while this one has no connection.
  effect(() => {
    if (chat.visitorChanges.value) forgetForm();
  });
  // An open panel is connected: also after a logout, in this tab or another.
  effect(() => {
    if (ui.isOpen.value && chat.connection.value.state === 'idle') chat.start();
  });
  effect(() => launcher.setAttribute('aria-label', launcherName(ui)));
  announce(ui, parts, options);

  removed.addEventListener('abort', () => {
    ui.isOpen.value = false;
    for (const drawn of [place, aside, badge]) render(null, drawn);
    chat.stop();
  });
  const forgetPlace = (): void => {
    ui.place.value = undefined;
    ui.isAtEnd.value = true;
  };
  const prefill = (text: string): void => {
    if (chat.draft.peek().trim() === '') chat.setDraft(text);
  };

  return {
    prefill,
    send: (text) => {
      if (needsPreChat(ui)) prefill(text);
      else chat.say(text);
    },
    setOpen: (open, takesFocus) => {
      ui.takesFocus.value = takesFocus;
      wasOpen.value = false;
      if (open) ui.dismissedSeq.value = chat.lines.peek().findLast(({ seq }) => seq)?.seq ?? 0;
      if (open) opener = document.activeElement;
      else returnFocus(options, opener);
      if (open && !isDrawn) {
        isDrawn = true;
        // On the page before, the panel was closed.
        if (takesFocus) forgetPlace();
        draw(<Panel />, place);
        // Laid out closed before it is opened, so that the opening is animated.
        place.getBoundingClientRect();
      }
      ui.isOpen.value = open;
    },
    speak: (texts, locale) => (language.value = speaking(texts, locale)),
    identify: (jwt) => chat.identify(jwt),
    logout: () => {
      ui.dismissedSeq.value = 0;
      forgetPlace();
      forgetForm();
      chat.logout();
    },
  };
}

/** What the launcher does, and how many replies are unread. */
function launcherName({ texts, formats, locale, isOpen, chat }: Ui): string {
  const unread = chat.unread.value;
  if (isOpen.value) return texts.closeChat;
  if (unread === 0) return texts.openChat;
  const count = texts.unread[new Intl.PluralRules(locale).select(unread)] ?? texts.unread.other;
  return `${texts.openChat}, ${fill(count, formats.number(unread))}`;
}

/** On the launcher. */
function Badge() {
  const { chat, isOpen } = useUi();
  const unread = chat.unread.value;
  return (
    <>
      <Icon name="down" />
      {unread > 0 && !isOpen.value && <span class="badge">{unread}</span>}
    </>
  );
}

/** When the focus is in the panel, which is about to close, returns it to what had it before. */
function returnFocus({ root, launcher }: MainOptions, opener: Element | null): void {
  if (!root.activeElement) return;
  const isElsewhere = opener?.isConnected && opener !== root.host && opener !== document.body;
  (isElsewhere ? (opener as HTMLElement) : launcher).focus();
}

/**
 * Focus traps of jQuery's kind (Bootstrap 4, jQuery UI, Magnific Popup) listen on the document while
 * the event is on its way in: it ends before them. Nothing in the chat listens to these two.
 */
function hideFocus({ root, removed }: MainOptions): void {
  const hide = (event: Event): void => {
    if (event.target === root.host) event.stopPropagation();
  };
  for (const type of ['focus', 'focusin'])
    addEventListener(type, hide, { capture: true, signal: removed });
}

const CHECK_EVERY_MS = 60_000;
const CHECK_AGAIN_MS = 5_000;

/**
 * When the shop opens next; undefined while it is open, and without opening hours. What reads the
 * opening hours is loaded only for shops that have some.
 */
function watchHours(
  { hours }: Settings,
  { away }: Parts,
  removed: AbortSignal,
): ReadonlySignal<number | undefined> {
  const awayUntil = signal<number | undefined>(undefined);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const check = async (): Promise<void> => {
    if (!hours || removed.aborted) return;
    let waitMs = CHECK_EVERY_MS;
    try {
      const { nextOpening } = await away();
      awayUntil.value = nextOpening(hours, Date.now());
    } catch {
      // Without the file, the shop counts as open.
      waitMs = CHECK_AGAIN_MS;
    }
    timer = setTimeout(() => void check(), waitMs);
  };
  void check();
  removed.addEventListener('abort', () => clearTimeout(timer));
  return awayUntil;
}

/** Beside the launcher of a closed chat. */
function Aside({ wasOpen }: { readonly wasOpen: ReadonlySignal<boolean> }) {
  const { chat, isOpen } = useUi();
  const isWanted = (chat.unread.value > 0 || wasOpen.value) && !isOpen.value;
  return (
    <div aria-live="polite">
      {isWanted && <Part of="preview" isQuiet draw={({ Preview }) => <Preview />} />}
    </div>
  );
}

/** Each picture is fetched once; a request needs less of the page's policy than an `<img>`. */
function createPictures(gatewayUrl: string): Ui['pictureOf'] {
  const pictures = new Map<string, Promise<Blob | undefined>>();
  const load = async (path: string): Promise<Blob | undefined> => {
    const url = new URL(path, gatewayUrl);
    if (url.origin !== new URL(gatewayUrl).origin) return undefined;
    const answer = await fetch(url, { credentials: 'omit' });
    return answer.ok ? answer.blob() : undefined;
  };
  return ({ picture = '' }) => {
    const found = pictures.get(picture) ?? load(picture).catch(() => undefined);
    pictures.set(picture, found);
    return found;
  };
}

/**
 * Loads the parsers with the first line: they are there before the reply to it is. After the first
 * reply, what is likely to be used is loaded too: a page may be open for longer than the gateway has
 * these files.
 */
function loadParsers({ chat, parsers }: Ui, { rich, files, menu, preview }: Parts): void {
  effect(() => {
    const lines = chat.lines.value;
    if (lines.length === 0) return;
    const isAnswered = lines.some(({ from }) => from === 'agent');
    // Without them, replies are plain text; the next line tries again.
    for (const load of isAnswered ? [rich, files, menu, preview] : [rich])
      load().catch(() => undefined);
  });
  effect(() => {
    parsers.value = rich.state.value.part?.parsers;
  });
}

/**
 * Not an inline style, which the page may write meanwhile. It ends with the host, which a framework
 * may remove.
 */
const LOCK = '@media screen{html:has(>sluice-chat){overflow:hidden!important}}';

/**
 * On a small screen the open panel covers the screen: the page behind it does not scroll, and the
 * panel is as high as the part of the screen above the keyboard.
 */
function coverScreen(place: HTMLElement, { isOpen, isFullScreen }: Ui, signal: AbortSignal): void {
  const visual = window.visualViewport;
  const fit = (): void => {
    // Asking for the visible part lays the page out, which a large screen need not wait for.
    if (!smallScreen.matches || !visual || visual.scale > 1.01) return;
    place.style.setProperty('--top', `${visual.offsetTop}px`);
    place.style.setProperty('--height', `${visual.height}px`);
  };
  const measure = (): void => {
    isFullScreen.value = smallScreen.matches;
    fit();
  };
  smallScreen.addEventListener('change', measure, { signal });
  visual?.addEventListener('resize', fit, { signal });
  visual?.addEventListener('scroll', fit, { signal });
  measure();
  const lock = new CSSStyleSheet();
  lock.replaceSync(LOCK);
  effect(() => {
    const sheets = document.adoptedStyleSheets.filter((sheet) => sheet !== lock);
    document.adoptedStyleSheets = isOpen.value && isFullScreen.value ? [...sheets, lock] : sheets;
  });
}
