import type { WidgetEvents } from './package/widget.ts';
import type { Settings } from './settings.ts';
import type english from './texts/en.json';

/** By plural category; a language has those that it distinguishes. */
type Plural = Readonly<Partial<Record<Intl.LDMLPluralRule, string>>> & { readonly other: string };

/** The panel's texts in one language; `#` is replaced by a name, a number or a time. */
export type Texts = Readonly<Omit<typeof english, 'unread'>> & { readonly unread: Plural };

export type Emit = <Name extends keyof WidgetEvents>(
  event: Name,
  detail: WidgetEvents[Name],
) => void;

/** What the loader passes to the main part. */
export interface MainOptions {
  readonly root: ShadowRoot;
  /** The panel's parent; it carries the language, direction, colour scheme and accent. */
  readonly frame: HTMLElement;
  readonly launcher: HTMLElement;
  readonly gatewayUrl: string;
  readonly key: string;
  readonly settings: Settings;
  /** The script tag's `data-*`, which the page may change. */
  readonly tag: DOMStringMap;
  readonly texts: Texts;
  /** BCP 47, for numbers and dates. */
  readonly locale: string;
  /** A visitor has written in this browser before: connect at once, to show the unread count. */
  readonly hasSession: boolean;
  /** Aborted when the page removes the widget. */
  readonly removed: AbortSignal;
  readonly emit: Emit;
  /** Asks the loader to open the chat. */
  readonly open: () => void;
  /** Asks the loader to close the chat; the loader updates the launcher and tells the page. */
  readonly close: () => void;
}

/** The main part: the panel and the conversation. */
export interface Main {
  /** @param takesFocus whether the visitor has opened it, or the page before had it open */
  setOpen(open: boolean, takesFocus: boolean): void;
  /** Shows everything in another language. */
  speak(texts: Texts, locale: string): void;
  identify(jwt: string): void;
  logout(): void;
  /** Puts a text into the field, unless the visitor has typed something. */
  prefill(text: string): void;
  /** Sends a text as the visitor; one who has to introduce themselves first finds it in the field. */
  send(text: string): void;
}

/** What `main-<hash>.js` exports. */
export interface MainModule {
  readonly mount: (options: MainOptions) => Main;
}
