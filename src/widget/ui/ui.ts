// Components are drawn again when a signal changes that they have read: importing this package is
// what makes Preact do so.
import '@preact/signals';
import type { Signal } from '@preact/signals-core';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Chat } from '../engine/chat.ts';
import type { Settings } from '../settings.ts';
import type { Texts } from '../texts/en.ts';
import type { Formats } from './formats.ts';

/** What every part of the panel has at hand. */
export interface Ui {
  readonly chat: Chat;
  readonly texts: Texts;
  readonly formats: Formats;
  readonly settings: Settings;
  readonly isOpen: Signal<boolean>;
  /** Phones, and windows as low as one: the panel is the whole screen. */
  readonly isFullScreen: Signal<boolean>;
  readonly hasSound: Signal<boolean>;
  /** The visitor has been asked who they are. */
  readonly isIntroduced: Signal<boolean>;
  /** The latest line is on the screen, when the panel is. */
  readonly isAtEnd: Signal<boolean>;
  /** What went wrong last, for the composer to say. */
  readonly errorText: Signal<string>;
  readonly close: () => void;
}

const UiContext = createContext<Ui | undefined>(undefined);
export const UiProvider = UiContext.Provider;

export function useUi(): Ui {
  const ui = useContext(UiContext);
  if (!ui) throw new Error('drawn outside of the panel');
  return ui;
}
