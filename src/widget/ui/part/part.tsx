import { type Signal, signal } from '@preact/signals-core';
import type { ComponentChild } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Fragment, jsx, jsxs } from 'preact/jsx-runtime';
import { importOnce } from '../../import-once.ts';
import { adoptStyleSheet } from '../../look/style-sheet.ts';
import type * as Advice from '../advice/advice.ts';
import type * as Away from '../away/away.tsx';
import type * as Chime from '../chime/chime.ts';
import type * as Emoji from '../emoji/emoji.tsx';
import type * as Files from '../files/part.ts';
import type * as Menu from '../menu/part.ts';
import type * as PreChat from '../pre-chat/pre-chat.tsx';
import type * as Preview from '../preview/preview.tsx';
import type * as Rich from '../rich/rich.ts';
import { Avatar } from '../avatar.tsx';
import { Icon, IconButton } from '../icon.tsx';
import { Thumbnail } from '../thumbnail.tsx';
import { useUi } from '../ui.ts';
import type * as Viewer from '../viewer/viewer.ts';
import type { Lent } from './lent.ts';

/** The files that are loaded on use. */
interface Modules {
  readonly advice: typeof Advice;
  readonly away: typeof Away;
  readonly chime: typeof Chime;
  readonly emoji: typeof Emoji;
  readonly files: typeof Files;
  readonly menu: typeof Menu;
  readonly preChat: typeof PreChat;
  readonly preview: typeof Preview;
  readonly rich: typeof Rich;
  readonly viewer: typeof Viewer;
}

/** Loads a part once; after a failure, the next call tries again. */
interface Loader<Module> {
  (): Promise<Module>;
  /** For all places that draw it. */
  readonly state: Signal<{
    readonly part?: Module;
    /** The last attempt has failed. */
    readonly isLost?: boolean;
    readonly isBusy?: boolean;
  }>;
}

export type Parts = { readonly [Name in keyof Modules]: Loader<Modules[Name]> };

/** Their names beside the main part's; the build fills it in. */
declare const PART_FILES: Readonly<Record<keyof Modules, string>>;

const LENT: Lent = {
  ...{ useState, useRef, useMemo, useEffect, useLayoutEffect },
  ...{ jsx, jsxs, Fragment, Avatar, Icon, IconButton, Thumbnail, useUi },
};

interface AnyPart {
  readonly css?: string;
  readonly lend?: (lent: Lent) => void;
}

/** @param root gets the style sheets of the loaded parts */
export function createParts(root: ShadowRoot): Parts {
  const loader = (file: string): Loader<AnyPart> => {
    const load = importOnce<AnyPart>(new URL(file, import.meta.url).href);
    const state: Loader<AnyPart>['state'] = signal({});
    return Object.assign(
      async () => {
        if (!state.peek().part) state.value = { ...state.peek(), isBusy: true };
        try {
          const part = await load();
          if (!state.peek().part) {
            part.lend?.(LENT);
            if (part.css) adoptStyleSheet(root, part.css);
            state.value = { part };
          }
          return part;
        } catch (error) {
          state.value = { isLost: true };
          throw error;
        }
      },
      { state },
    );
  };
  const entries = Object.entries(PART_FILES).map(([name, file]) => [name, loader(file)]);
  return Object.fromEntries(entries) as Parts;
}

/** Draws what is in a part, and how far it is until it is loaded. */
export function Part<Name extends keyof Modules>(props: {
  readonly of: Name;
  readonly draw: (part: Modules[Name]) => ComponentChild;
  /** Nothing is shown until it is there. */
  readonly isQuiet?: boolean;
}) {
  const { texts, parts } = useUi();
  const loader = (parts as Parts)[props.of];
  // Drawn at once when it is there, so that what is above and below does not move.
  const { part, isLost, isBusy } = loader.state.value;
  const load = (): void => void loader().catch(() => undefined);
  useEffect(() => {
    if (!part) load();
  }, []);
  if (part) return <>{props.draw(part)}</>;
  if (props.isQuiet) return null;
  if (!isLost) return <p class="loading">{texts.loading}</p>;
  return (
    <p class="loading" role="alert">
      {isBusy ? texts.loading : texts.trouble}{' '}
      {/* Stays while it loads, so that it keeps the focus. */}
      <button type="button" onClick={load}>
        {texts.tryAgain}
      </button>
    </p>
  );
}
