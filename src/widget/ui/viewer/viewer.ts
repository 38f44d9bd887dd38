import type { Texts } from '../../main-part.ts';
import { saveBlob } from '../save-blob.ts';

export { default as css } from './viewer.css?inline';

export interface Viewed {
  /** In the shadow root; it carries language and direction. */
  readonly frame: HTMLElement;
  readonly blob: Blob;
  readonly name: string;
  readonly texts: Texts;
}

/**
 * Shows a picture over the whole page until it is closed. It is drawn on a canvas, because an
 * `<img>` would require that the page's policy allows `blob:`.
 * @throws {DOMException} the browser cannot decode it
 */
export async function viewPicture({ frame, blob, name, texts }: Viewed): Promise<void> {
  const bitmap = await createImageBitmap(blob);
  const dialog = document.createElement('dialog');
  dialog.className = 'viewer';
  dialog.ariaLabel = name;
  const canvas = document.createElement('canvas');
  canvas.width = bitmap.width;
  canvas.height = bitmap.height;
  canvas.getContext('2d')?.drawImage(bitmap, 0, 0);
  bitmap.close();
  const bar = document.createElement('div');
  bar.append(
    createButton(texts.save, () => saveBlob(blob, name)),
    createButton(texts.dismiss, () => dialog.close()),
  );
  dialog.append(canvas, bar);
  // A press beside the picture; Escape is the browser's.
  dialog.onclick = ({ target }) => {
    if (target === dialog) dialog.close();
  };
  dialog.onclose = () => dialog.remove();
  frame.append(dialog);
  dialog.showModal();
}

function createButton(label: string, onClick: () => void): HTMLButtonElement {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = label;
  button.onclick = onClick;
  return button;
}
