/** The tag that brought this script in; a module or an injected script has no `currentScript`. */
export const scriptTag = (): HTMLScriptElement | null =>
  // Of HTML: the loader is no part of a drawing.
  (document.currentScript as HTMLScriptElement | null) ??
  document.querySelector('script[src*="/widget.js"][data-key]');

/** Resolves when there is a body: an async script may run before it. */
export const bodyReady = (): Promise<unknown> =>
  new Promise((resolve) => {
    if (document.readyState === 'loading') addEventListener('DOMContentLoaded', resolve);
    else resolve(undefined);
  });
