import { WIDGET_CONFIG_PATH } from '../../channels/chat/events.ts';
import { CANCELLED, SCRIPT_TAG } from '../package/widget.ts';
import { chooseLanguage, type Language, type LauncherTexts, mergeSettings } from '../settings.ts';
import { pageStorage, removeNotes, storagePrefix } from '../storage.ts';
import { createEvents, isLoaded, publishApi } from './page-api.ts';
import { Widget } from './widget.ts';

/** By language: those that the widget comes with; filled in by the build. */
declare const LAUNCHER_TEXTS: Readonly<Record<string, LauncherTexts>> & {
  readonly en: LauncherTexts;
};

/** Each `WidgetRefusal`. */
const REFUSALS = /^(origin|unknown_key)$/;
/** After this time the launcher is shown without the shop's configuration. */
const CONFIG_TIMEOUT_MS = 3_000;

function start(): void {
  if (isLoaded()) return;
  const script = scriptTag();
  const key = script?.dataset['key'];
  if (!script || !key) {
    // oxlint-disable-next-line no-console -- for the developer who adds the tag
    console.error('Sluice: the script needs a data-key.');
    return;
  }
  if (script.hasAttribute(CANCELLED)) return;
  const { src, dataset } = script;
  const gatewayUrl = new URL('.', src).href;
  const storage = pageStorage();
  const prefix = storagePrefix(gatewayUrl, key);
  const events = createEvents();
  const widget = Promise.all([fetchConfig(gatewayUrl, key), bodyReady()]).then(([config]) => {
    const settings = mergeSettings(dataset, config);
    const known = { ...LAUNCHER_TEXTS, ...settings.languages };
    const language = (): Language =>
      chooseLanguage(
        [dataset['lang'], document.documentElement.lang, ...navigator.languages],
        known,
      );
    return new Widget({
      ...{ gatewayUrl, key, storage, prefix, settings, tag: dataset, events, language },
    });
  });
  // Calls made before the widget exists are executed in order once it does.
  publishApi({
    open: () => void widget.then((it) => it.setOpen(true)),
    close: () => void widget.then((it) => it.setOpen(false)),
    identify: (jwt?: string) => void widget.then((it) => it.identify(jwt ?? '')),
    logout: () => {
      // Removed at once, because the page may be left before the widget exists.
      removeNotes(storage, prefix);
      void widget.then((it) => it.logout());
    },
    show: () => void widget.then((it) => it.setHidden(false)),
    hide: () => void widget.then((it) => it.setHidden(true)),
    prefill: (text?: string) => void widget.then((it) => it.prefill(text ?? '')),
    send: (text?: string) => void widget.then((it) => it.send(text ?? '')),
    destroy: () => {
      // A script tag that is added from now on loads it again.
      delete window.Sluice;
      script.remove();
      void widget.then((it) => it.remove());
    },
    on: events.on,
  });
}

/** The script tag of this script. A module or an injected script has no `currentScript`. */
const scriptTag = (): HTMLScriptElement | null =>
  // Not an SVG script: the loader is embedded in HTML.
  (document.currentScript as HTMLScriptElement | null) ?? document.querySelector(SCRIPT_TAG);

/** Resolves when there is a body: an async script may run before it. */
const bodyReady = (): Promise<unknown> =>
  new Promise((resolve) => {
    if (document.readyState === 'loading') addEventListener('DOMContentLoaded', resolve);
    else resolve(undefined);
  });

/** The shop's configuration, or a refusal; empty when the gateway does not answer in time. */
async function fetchConfig(gatewayUrl: string, key: string): Promise<object> {
  const url = gatewayUrl + WIDGET_CONFIG_PATH.slice(1) + encodeURIComponent(key);
  try {
    const signal = AbortSignal.timeout(CONFIG_TIMEOUT_MS);
    const answer = await fetch(url, { credentials: 'omit', signal });
    // The settings, or an error: a proxy's too, which is no refusal.
    const config = (await answer.json()) as { readonly error: string };
    if (answer.ok || REFUSALS.test(config.error)) return config;
  } catch {
    // No answer, or too late.
  }
  return {};
}

start();
