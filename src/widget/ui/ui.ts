// With this package, Preact renders a component again when a signal that it has read changes.
import '@preact/signals';
import type { ReadonlySignal, Signal } from '@preact/signals-core';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Author } from '../../channels/chat/events.ts';
import type { Chat } from '../engine/chat.ts';
import type { Texts } from '../main-part.ts';
import type { Settings } from '../settings.ts';
import type { Formats } from './formats.ts';
import type { Place } from './place.ts';
import type { RichParsers } from './rich/rich.ts';

/** What every component of the panel can use. */
export interface Ui {
  readonly chat: Chat;
  /** Texts and formats change when the page changes its language; reading them subscribes to that. */
  readonly texts: Texts;
  readonly formats: Formats;
  /** BCP 47 */
  readonly locale: string;
  readonly settings: Settings;
  /** What is loaded on use. Drawn by `Part`: their own types have a `Ui` in them. */
  readonly parts: unknown;
  readonly playChime: () => void;
  readonly isOpen: Signal<boolean>;
  /** Whether the panel takes the focus as it opens. */
  readonly takesFocus: Signal<boolean>;
  /** The panel covers the screen: on phones, and in windows that are as low as a phone. */
  readonly isFullScreen: Signal<boolean>;
  readonly hasSound: Signal<boolean>;
  /** The visitor has answered the questions before the chat. */
  readonly isIntroduced: Signal<boolean>;
  /** Counts the visitors who were asked: what one has typed is not left to the next. */
  readonly forms: Signal<number>;
  /** The log is scrolled to its end. */
  readonly isAtEnd: Signal<boolean>;
  /** Where the visitor reads above the end of the log. The tab's next page starts there. */
  readonly place: Signal<Place | undefined>;
  /** For replies in Markdown or HTML; loaded once there is a line. */
  readonly parsers: Signal<RichParsers | undefined>;
  /** The last error, which the composer shows; empty when there is none. */
  readonly errorText: Signal<string>;
  /** What the visitor is told about the address they have left, until `lastWords` changes. */
  readonly said: Signal<{ readonly text: string; readonly after: string } | undefined>;
  /** When the shop opens next, in ms; undefined while it is open. */
  readonly awayUntil: ReadonlySignal<number | undefined>;
  /**
   * The visitor ends the conversation: they are asked how it was, or have said it. Holds until
   * `lastWords` changes.
   */
  readonly ending: Signal<{ readonly after: string; readonly isRated: boolean } | undefined>;
  /** The last reply whose preview was dismissed or opened. */
  readonly dismissedSeq: Signal<number>;
  /** Shows a picture over the page. Rejects when that is not possible. */
  readonly view: (blob: Blob, name: string) => Promise<void>;
  readonly open: () => void;
  readonly close: () => void;
  /** The picture of an author; undefined when it cannot be fetched. */
  readonly pictureOf: (author: Author) => Promise<Blob | undefined>;
}

const UiContext = createContext<Ui | undefined>(undefined);
export const UiProvider = UiContext.Provider;

export function useUi(): Ui {
  const ui = useContext(UiContext);
  if (!ui) throw new Error('rendered outside of the panel');
  return ui;
}
