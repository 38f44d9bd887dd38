import { parseHtml } from './html.ts';
import { parseMarkdown } from './markdown.ts';
import type { RichNode } from './plain.ts';

/** The parsers that the main part does without until there is a line; a file of their own. */
export interface RichParsers {
  readonly MARKDOWN: (text: string) => readonly RichNode[];
  readonly HTML: (text: string) => readonly RichNode[];
}

export const parsers: RichParsers = { MARKDOWN: parseMarkdown, HTML: parseHtml };
