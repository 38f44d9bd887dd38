import { WIDGET_CONFIG_PATH } from '../../channels/chat/widget-config.ts';
import { forget, pageStorage, storagePrefix } from '../storage.ts';
import { choose, chosen, type Language } from '../settings.ts';
import { createWidget } from './widget.ts';
import { createEvents, isTaken, publish } from './page-api.ts';

/** Where the main part lies, by language, relative to this script; the build puts it in. */
declare const MAIN_FILES: Readonly<Record<Language, string>>;

/** A gateway that does not answer shall not keep the launcher from the page. */
const CONFIG_TIMEOUT_MS = 3_000;

function start(): void {
  if (isTaken()) return;
  const script = scriptTag();
  const key = script?.dataset['key'];
  if (!script || !key) {
    // eslint-disable-next-line no-console -- the developer who adds the tag reads it there
    console.error('Sluice: the script tag needs a data-key.');
    return;
  }
  const { src, dataset } = script;
  const gatewayUrl = new URL('.', src).href;
  const storage = pageStorage();
  const notes = storagePrefix(gatewayUrl, key);
  const events = createEvents();
  const widget = Promise.all([configOf(src, key), bodyReady()]).then(([config]) => {
    const languages = [dataset['lang'], document.documentElement.lang, ...navigator.languages];
    // Named once: each time, the build would put all of it in.
    const files = MAIN_FILES;
    const settings = { ...chosen(dataset, config), ...choose(languages, Object.keys(files)) };
    return createWidget({
      mainUrl: new URL(files[settings.language], src).href,
      gatewayUrl,
      key,
      storage,
      notes,
      settings,
      events,
    });
  });
  // Each call waits for the widget, in the order of the calls.
  publish({
    open: () => void widget.then((it) => it.setOpen(true)),
    close: () => void widget.then((it) => it.setOpen(false)),
    identify: (jwt?: string) => void widget.then((it) => it.identify(jwt ?? '')),
    logout: () => {
      // At once: the page may leave for another before anything else is there.
      forget(storage, notes);
      void widget.then((it) => it.logout());
    },
    on: events.on,
  });
}

/** The shop's choices; without an answer, the widget's own. */
async function configOf(src: string, key: string): Promise<object> {
  const url = new URL(WIDGET_CONFIG_PATH.slice(1) + encodeURIComponent(key), src);
  try {
    const signal = AbortSignal.timeout(CONFIG_TIMEOUT_MS);
    const answer = await fetch(url, { credentials: 'omit', signal });
    if (answer.ok) return (await answer.json()) as object;
  } catch {
    // Nobody there, or not in time.
  }
  return {};
}

/** The tag that brought this script in; a module or an injected script has no `currentScript`. */
const scriptTag = (): HTMLScriptElement | null =>
  // Of HTML: the loader is no part of a drawing.
  (document.currentScript as HTMLScriptElement | null) ??
  document.querySelector('script[src*="/widget.js"][data-key]');

/** Resolves when there is a body: an async script may run before it. */
const bodyReady = (): Promise<unknown> =>
  new Promise((resolve) => {
    if (document.readyState === 'loading') addEventListener('DOMContentLoaded', resolve);
    else resolve(undefined);
  });

start();
