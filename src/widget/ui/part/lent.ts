import type * as Hooks from 'preact/hooks';
import type * as Runtime from 'preact/jsx-runtime';
import type * as Avatars from '../avatar.tsx';
import type * as Icons from '../icon.tsx';
import type * as Thumbnails from '../thumbnail.tsx';
import type * as TheUi from '../ui.ts';

/** What the main part lends to the files that are loaded on use. */
export type Lent = Pick<
  typeof Hooks,
  'useState' | 'useRef' | 'useMemo' | 'useEffect' | 'useLayoutEffect'
> &
  Pick<typeof Runtime, 'jsx' | 'jsxs' | 'Fragment'> &
  Pick<typeof Avatars, 'Avatar'> &
  Pick<typeof Icons, 'Icon' | 'IconButton'> &
  Pick<typeof Thumbnails, 'Thumbnail'> &
  Pick<typeof TheUi, 'useUi'>;

/**
 * In the files that are loaded on use, the build resolves `preact/hooks`, `preact/jsx-runtime` and
 * this folder's neighbours of these names to this file. Components that were bundled with a second Preact could not be
 * drawn by the main part's.
 */
export let useState: Lent['useState'];
export let useRef: Lent['useRef'];
export let useMemo: Lent['useMemo'];
export let useEffect: Lent['useEffect'];
export let useLayoutEffect: Lent['useLayoutEffect'];
export let jsx: Lent['jsx'];
export let jsxs: Lent['jsxs'];
export let Fragment: Lent['Fragment'];
export let Avatar: Lent['Avatar'];
export let Icon: Lent['Icon'];
export let IconButton: Lent['IconButton'];
export let Thumbnail: Lent['Thumbnail'];
export let useUi: Lent['useUi'];

/** Called before anything is drawn. */
export function lend(lent: Lent): void {
  ({ useState, useRef, useMemo, useEffect, useLayoutEffect } = lent);
  ({ jsx, jsxs, Fragment, Avatar, Icon, IconButton, Thumbnail, useUi } = lent);
}
