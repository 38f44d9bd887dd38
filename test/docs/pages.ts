import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import MarkdownIt from 'markdown-it';

type Token = ReturnType<MarkdownIt['parse']>[number];

/** A page of documentation, taken apart. */
export interface Page {
  readonly file: string;
  /** Targets of links and pictures, as written. */
  readonly links: readonly string[];
  /** Names under which headings can be linked, in their order. */
  readonly anchors: readonly string[];
  readonly blocks: readonly {
    readonly language: string;
    readonly text: string;
    readonly line: number;
  }[];
}

/** The pages at the top and everything under `docs/`. */
export function pages(): Page[] {
  const below = readdirSync('docs', { recursive: true, encoding: 'utf8' });
  const files = [...readdirSync('.'), ...below.map((file) => join('docs', file))];
  return files.filter((file) => file.endsWith('.md')).map(readPage);
}

function readPage(file: string): Page {
  const tokens = new MarkdownIt({ html: true }).parse(readFileSync(file, 'utf8'), {});
  const inline = tokens.flatMap((token) => token.children ?? []);
  return {
    file,
    links: [...inline.flatMap(targets), ...tokens.flatMap(targets)],
    anchors: tokens.flatMap((token, index) =>
      token.type === 'heading_open' ? [anchorOf(tokens[index + 1]?.content ?? '')] : [],
    ),
    blocks: tokens
      .filter(({ type }) => type === 'fence')
      .map(({ info, content, map }) => ({
        language: info.trim(),
        text: content,
        line: (map?.[0] ?? 0) + 1,
      })),
  };
}

function targets(token: Token): string[] {
  const written = [token.attrGet('href'), token.attrGet('src')];
  const inHtml = token.type.startsWith('html')
    ? [...token.content.matchAll(/\b(?:href|src|srcset)="([^"]+)"/g)].map(([, target]) => target)
    : [];
  return [...written, ...inHtml].filter((target) => typeof target === 'string');
}

/** As GitHub and others make it: lower case, no punctuation, hyphens for spaces. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-');
