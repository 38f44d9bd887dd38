import { useMemo } from 'preact/hooks';
import { createElement, type ComponentChild } from 'preact';
import type { Line } from '../../engine/chat.ts';
import { parseHtml } from './html.ts';
import { parseMarkdown } from './markdown.ts';
import type { RichElement, RichNode } from './node.ts';
import { parsePlain } from './plain.ts';

const PARSERS = { TEXT: parsePlain, MARKDOWN: parseMarkdown, HTML: parseHtml };

/** The text of a line, as elements; no text is ever read as markup by the page. */
export function Rich({ text, format }: Pick<Line, 'text' | 'format'>) {
  return useMemo(() => <>{parse(text, format).map(draw)}</>, [text, format]);
}

/** A reply that a parser stumbles over must not end the panel: it stays in the record. */
function parse(text: string, format: Line['format']): readonly RichNode[] {
  try {
    return PARSERS[format](text);
  } catch {
    return [text];
  }
}

function draw(node: RichNode): ComponentChild {
  if (typeof node === 'string') return node;
  const { tag, children } = node;
  if (tag === 'br' || tag === 'hr') return createElement(tag, null);
  return createElement(tag === 'h' ? 'strong' : tag, attributesOf(node), ...children.map(draw));
}

function attributesOf({ tag, href, start }: RichElement): Record<string, unknown> | null {
  if (tag === 'a') return { href, target: '_blank', rel: 'noopener noreferrer' };
  if (tag === 'h') return { class: 'heading' };
  // What can be scrolled can be reached by the keyboard.
  if (tag === 'pre') return { tabIndex: 0, dir: 'ltr' };
  return tag === 'ol' ? { start } : null;
}
