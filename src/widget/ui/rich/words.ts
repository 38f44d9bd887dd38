import type { Line } from '../../engine/chat.ts';
import type { Ui } from '../ui.ts';
import { textOf } from './plain.ts';

/** What a line says, without markup; Markdown as it was written when it cannot be read. */
export function wordsOf({ text, format }: Line, { parsers }: Ui): string {
  if (format === 'TEXT') return text;
  try {
    return (parsers.value?.[format](text) ?? [text]).map(textOf).join('').trim();
  } catch {
    return text;
  }
}
