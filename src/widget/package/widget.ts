/**
 * The chat widget as a package, for pages that are built with a bundler. It adds the gateway's own
 * script to the page, so that the widget is always of the gateway's version.
 */

/** The events of `on`, with what their listeners get. */
export interface WidgetEvents {
  /** The widget is on the page; a later listener is called at once. */
  ready: undefined;
  open: undefined;
  close: undefined;
  /** A line was added. `at` is in milliseconds since the epoch. */
  message: {
    readonly id: string;
    readonly from: 'visitor' | 'agent';
    readonly text: string;
    readonly at: number;
  };
  /** The number of unread replies has changed. */
  unread: number;
  /** The gateway refused a request, or the chat could not be loaded. */
  error: { readonly code: string };
}

/** The calls that a page can make. */
export interface Widget {
  open(): void;
  close(): void;
  /** Shows the launcher again. */
  show(): void;
  /** Hides the launcher. The chat can still be opened by `open`. */
  hide(): void;
  /** Puts a text into the field, unless the visitor has typed something. */
  prefill(text: string): void;
  /**
   * Sends a text as the visitor. A visitor who has to introduce themselves first finds it in the
   * field.
   */
  send(text: string): void;
  /** @param jwt issued by your own server, to say who the visitor is */
  identify(jwt: string): void;
  /** Forgets the visitor on this device, in all its tabs, and ends their tokens on every device. */
  logout(): void;
  /** Removes the widget from the page. The visitor and their unsent messages are kept. */
  destroy(): void;
  /** Calls the listener on each event. @returns a function that removes the listener */
  on<Name extends keyof WidgetEvents>(
    event: Name,
    listener: (detail: WidgetEvents[Name]) => void,
  ): () => void;
}

/** A call as a page can make it before the script is loaded: its name and its arguments. */
export type Call = readonly [string, ...unknown[]];

/** What the script makes of `window.Sluice`. */
export interface PageApi extends Widget {
  /** Makes the calls: what a page writes for the queue works after loading, too. */
  push(...calls: readonly Call[]): void;
}

declare global {
  interface Window {
    /** Until the script is loaded, the queue of the calls. */
    Sluice?: PageApi | Call[];
  }
}

/** `gateway` and `key` are required. The others override the shop's configuration. */
export interface WidgetOptions {
  /** The gateway's public URL, `https://gw.acme.example`. */
  readonly gateway: string;
  /** The shop's widget key. */
  readonly key: string;
  /** The panel's title. */
  readonly name?: string | undefined;
  /** The first text that a visitor reads. */
  readonly greeting?: string | undefined;
  /** The accent color, `#` and six hex digits. */
  readonly color?: string | undefined;
  readonly position?: 'auto' | 'left' | 'right' | undefined;
  /** In pixels: how much further from the side and from the bottom of the page. */
  readonly offsetX?: number | undefined;
  readonly offsetY?: number | undefined;
  readonly zIndex?: number | undefined;
  /** On phones, Back closes the panel by an entry in the page's history. */
  readonly back?: 'history' | undefined;
  /** The `https` URL of a square picture. */
  readonly logo?: string | undefined;
  readonly preChat?: 'off' | 'optional' | 'required' | undefined;
  /** BCP 47. By default the page's `lang`, then the browser's. */
  readonly lang?: string | undefined;
  readonly scheme?: 'auto' | 'light' | 'dark' | undefined;
  /** What is in the cart, in your own words, for shops with `pageLine`. */
  readonly cart?: string | undefined;
  /** Of the page's Content Security Policy, for the script tag. */
  readonly nonce?: string | undefined;
}

/** The tag of the gateway's script. */
export const SCRIPT_TAG = 'script[src*="/widget.js"][data-key]';
/** Set on a tag that was removed before its script ran. */
export const CANCELLED = 'data-cancelled';

/**
 * Adds the widget to the page. A page has at most one: a further call, while there is one, adds
 * nothing and returns the calls of that one.
 * @throws {TypeError} `gateway` is not a URL
 */
export function loadWidget(options: WidgetOptions): Widget {
  const { gateway, nonce, ...settings } = options;
  const src = new URL('widget.js', gateway.endsWith('/') ? gateway : `${gateway}/`).href;
  let script = document.querySelector<HTMLScriptElement>(SCRIPT_TAG);
  if (script === null) {
    // There may be calls already.
    window.Sluice ??= [];
    script = document.createElement('script');
    script.async = true;
    script.src = src;
    if (nonce !== undefined) script.nonce = nonce;
    for (const [name, value] of Object.entries(settings)) {
      if (value !== undefined) script.dataset[name] = String(value);
    }
    document.head.append(script);
  }
  return callsOf(script);
}

function callsOf(script: HTMLScriptElement): Widget {
  let isRemoved = false;
  const call = (name: keyof Widget, ...args: readonly unknown[]): void => {
    if (!isRemoved) window.Sluice?.push([name, ...args]);
  };
  return {
    open: () => call('open'),
    close: () => call('close'),
    show: () => call('show'),
    hide: () => call('hide'),
    prefill: (text) => call('prefill', text),
    send: (text) => call('send', text),
    identify: (jwt) => call('identify', jwt),
    logout: () => call('logout'),
    on: (event, listener) => {
      let isHeard = true;
      const hear: typeof listener = (detail) => {
        if (isHeard) listener(detail);
      };
      call('on', event, hear);
      return () => {
        isHeard = false;
      };
    },
    destroy: () => {
      if (Array.isArray(window.Sluice) && !isRemoved) {
        // The script is still being fetched. It runs even though it is removed, and reads this.
        script.setAttribute(CANCELLED, '');
        delete window.Sluice;
      } else {
        call('destroy');
      }
      script.remove();
      isRemoved = true;
    },
  };
}
