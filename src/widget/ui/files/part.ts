export { lend } from '../part/lent.ts';
export { default as css } from './files.css?inline';
export { DropTarget, Files } from './files.tsx';
export { Tray } from './tray.tsx';
