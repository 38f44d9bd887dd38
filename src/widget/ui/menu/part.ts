import ending from './ending.css?inline';
import menu from './menu.css?inline';

export { lend } from '../part/lent.ts';
export { Ending } from './ending.tsx';
export { MenuItems } from './menu.tsx';
export const css = ending + menu;
