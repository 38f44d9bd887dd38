import type { OwnPhrases } from './own-phrases.ts';
import { QUOTATION_SHAPES, TEXT_MARKS } from './own-quotations.ts';
import { type Answered, htmlOf, type ReplyClient } from './shapes.ts';
import type { WordMaker } from './words.ts';

/** A part of the own text. The cells of a table's row are separated by tabs. */
export interface Block {
  readonly as: 'paragraph' | 'quotation' | 'list' | 'table' | 'code';
  readonly lines: readonly string[];
}

export interface Writer {
  readonly make: WordMaker;
  readonly phrases: OwnPhrases;
  readonly client: ReplyClient;
  /** Which shape was taken, for a report. */
  readonly extras: string[];
}

/** What stands below the own text, often a signature: as text, and as HTML if the program has an element for it. */
export interface Signature {
  readonly text: readonly string[];
  readonly html: string;
  /** The lines in it that are the person's words, not their signature. */
  readonly own: readonly string[];
}

export const NO_SIGNATURE: Signature = { text: [], html: '', own: [] };

/** The whole reply: own text, what stands below it, and the mail that is answered. */
export function assemble(
  writer: Writer,
  blocks: readonly Block[],
  signature: Signature,
  to: Answered,
  old: readonly string[],
): string {
  const { client, make } = writer;
  if (client.kind === 'text') {
    const quoted = client.marked ? old.map((line) => `> ${line}`.trimEnd()) : old;
    const below = signature.text.length > 0 ? ['', ...signature.text] : [];
    const text = [...renderText(writer, blocks), ...below, '', ...client.head(to), ...quoted];
    return text.join(make.pick(['\r\n', '\n']));
  }
  const quote = client.quote(to, writeDivs(old));
  return wholeHtml(`${renderHtml(writer, blocks)}${signature.html}<br>${quote}`);
}

/** Own text with nothing below it. */
export function alone(writer: Writer, blocks: readonly Block[]): string {
  if (writer.client.kind === 'text') return renderText(writer, blocks).join('\r\n');
  return wholeHtml(renderHtml(writer, blocks));
}

export const wholeHtml = (body: string) => `<html><head></head><body>${body}</body></html>`;

function renderText({ make, extras }: Writer, blocks: readonly Block[]): readonly string[] {
  const bullet = make.pick(['- ', '* ', '1. ', '• ']);
  const render = ({ as, lines }: Block): readonly string[] => {
    if (as === 'list') return lines.map((line) => `${bullet}${line}`);
    if (as === 'table') return lines.map((line) => line.replaceAll('\t', ' | '));
    if (as !== 'quotation') return lines;
    const mark = make.pick(TEXT_MARKS);
    extras.push(`"${mark}"`);
    return lines.map((line) => `${mark}${line}`);
  };
  return blocks.flatMap((block, at) => (at === 0 ? render(block) : ['', ...render(block)]));
}

const writeDivs = (lines: readonly string[]) =>
  lines.map((line) => `<div>${line === '' ? '<br>' : htmlOf(line)}</div>`).join('');

/** How programs separate paragraphs. */
const PARAGRAPHS: readonly ((lines: readonly string[]) => string)[] = [
  (lines) => `${writeDivs(lines)}<div><br></div>`,
  (lines) => `${lines.map(htmlOf).join('<br>\n')}<br><br>`,
  (lines) => lines.map((line) => `<p class="MsoNormal">${htmlOf(line)}<o:p></o:p></p>`).join('\n'),
];

function renderHtml(writer: Writer, blocks: readonly Block[]): string {
  const { make } = writer;
  const write = make.pick(PARAGRAPHS);
  const tag = make.pick(['ul', 'ol']);
  return blocks
    .map(({ as, lines }) => {
      if (as === 'quotation') return pickShape(writer).html(lines);
      if (as === 'list')
        return `<${tag}>${lines.map((line) => `<li>${htmlOf(line)}</li>`).join('')}</${tag}>`;
      if (as === 'table') return `<table>${lines.map(tableRow).join('')}</table>`;
      if (as === 'code') return `<pre>${lines.map(htmlOf).join('\n')}</pre>`;
      return write(lines);
    })
    .join('');
}

const tableRow = (line: string) =>
  `<tr>${line
    .split('\t')
    .map((cell) => `<td>${htmlOf(cell)}</td>`)
    .join('')}</tr>`;

/** A button of the person's program, or what they pasted from another one. */
function pickShape({ make, client, extras }: Writer) {
  const own = QUOTATION_SHAPES.filter(({ clients }) => clients?.includes(client.name) ?? false);
  const shape = make.pick(own.length > 0 && make.chance(0.7) ? own : QUOTATION_SHAPES);
  extras.push(shape.name);
  return shape;
}
