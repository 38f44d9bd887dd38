/** The open panel covers the screen. The same as in the style sheets. */
export const smallScreen = matchMedia('(max-width: 480px), (max-height: 460px)');

/** A small screen that is touched; a desktop's window at 400 % zoom is none. */
export const isPhone = (): boolean =>
  smallScreen.matches && matchMedia('(pointer: coarse) and (hover: none)').matches;
