import { createHash } from 'node:crypto';
import { cutText } from '../../../../runtime/clean-text.ts';
import type { AttachedFile } from '../job.ts';
import { type Format, plainHtml, plainLines } from './body-content.ts';
import { joinLines } from '../quotes/lines.ts';

/** A longer text is attached as a file. */
export const MAX_CONTENT_LENGTH = 100_000;
const MAX_NAMES_LENGTH = 2000;
const WHOLE_TEXT = '(The text goes on; all of it is attached.)';

interface Fitted {
  readonly content: string;
  readonly format: Format;
  readonly files: readonly AttachedFile[];
  /** Attachments above the limit, which are named in the content but not attached. */
  readonly leftOut: number;
  /** The text was too long and is attached as a file. */
  readonly moved: boolean;
}

interface Unfitted {
  readonly text: string;
  readonly format: Format;
  /** HTML as text, because a truncated HTML document would be broken. */
  readonly asText: () => string;
  /** The replacement for an empty text. */
  readonly empty: string;
  /** In order of importance. */
  readonly files: readonly AttachedFile[];
  /** The files already include the whole text, as message.txt. */
  readonly wholeTextAttached: boolean;
  readonly maxFiles: number;
}

/** Fits content and attachments into the platform's limits. The content is never empty. */
export function fitContent(unfitted: Unfitted): Fitted {
  const { text, empty, files, maxFiles } = unfitted;
  const shown = text.trim() === '' ? empty : text;
  const namesRoom = files.length >= maxFiles ? MAX_NAMES_LENGTH : 0;
  const moved = shown.length > MAX_CONTENT_LENGTH - namesRoom;
  const addsText = moved && !unfitted.wholeTextAttached;
  const all = addsText ? [textFile(shown, unfitted.format), ...files] : files;
  const leftOut = all.slice(maxFiles);
  const format = moved && unfitted.format === 'HTML' ? 'TEXT' : unfitted.format;
  const first = moved ? firstPart(unfitted.format === 'HTML' ? unfitted.asText() : shown) : shown;
  const notes = [...(moved ? [WHOLE_TEXT] : []), ...(leftOut.length > 0 ? [namesOf(leftOut)] : [])];
  const paragraphs = [first, ...notes.map((note) => formatNote(note, format))];
  return {
    content: paragraphs.filter((each) => each !== '').join('\n\n'),
    format,
    files: all.slice(0, maxFiles),
    leftOut: leftOut.length,
    moved,
  };
}

function firstPart(text: string): string {
  const room = MAX_CONTENT_LENGTH - MAX_NAMES_LENGTH;
  const head = cutText(text, room);
  const lineEnd = head.lastIndexOf('\n');
  return (lineEnd > room / 2 ? head.slice(0, lineEnd) : head).trimEnd();
}

function textFile(text: string, format: Format): AttachedFile {
  const html = format === 'HTML';
  const bytes = new TextEncoder().encode(text);
  return {
    part: `text:${createHash('sha256').update(bytes).digest('hex').slice(0, 16)}`,
    name: html ? 'message.html' : 'message.txt',
    type: html ? 'text/html' : 'text/plain',
    size: bytes.length,
    source: { kind: 'bytes', bytes },
  };
}

function namesOf(files: readonly AttachedFile[]): string {
  const names = files.map(({ name }) => name).join(', ');
  const shown =
    names.length > MAX_NAMES_LENGTH / 2 ? `${cutText(names, MAX_NAMES_LENGTH / 2)}…` : names;
  return `(${files.length} more files were not attached: ${shown})`;
}

/** Plain text as content in this format. */
export function formatNote(note: string, format: Format): string {
  if (format === 'HTML') return plainHtml(note);
  return format === 'MARKDOWN' ? joinLines(plainLines(note, format), format) : note;
}
