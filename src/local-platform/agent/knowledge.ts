import MiniSearch, { type SearchResult } from 'minisearch';
import { type Language, languageOf, termOf } from './language.ts';

/** One headed piece of a Markdown file: what an answer quotes. */
export interface Section {
  /** The file, below the folder. */
  readonly source: string;
  /** The file's first heading of the first level, else its name. */
  readonly title: string;
  /** The piece's own heading; the title for what stands before the first one. */
  readonly heading: string;
  /** Markdown. */
  readonly text: string;
  /** What stands in HTML comments: searched, never shown. */
  readonly also: string;
  /** The file's, when it is clearly one that the agent speaks. */
  readonly language: Language | undefined;
}

const SECTIONS_MAX = 1000;
const TEXT_MAX_CHARS = 4000;
const HEADING_MAX_CHARS = 300;
const FRONT_MATTER = /^---\n[^]*?\n---\n/;
const HEADING = /^#{1,6}[ \t]+(.+?)[ \t#]*$/;
const FENCE = /^\s{0,3}(?:```|~~~)/;

/**
 * Cuts a Markdown file at its headings (ATX, CommonMark §4.2). A # within a code fence is none. A
 * heading without a text of its own is no section.
 */
export function sectionsOf(markdown: string, source: string): Section[] {
  const lines = markdown.replace(/\r\n?/g, '\n').replace(FRONT_MATTER, '').split('\n');
  const parts: { heading: string | undefined; level: number; lines: string[] }[] = [];
  let inFence = false;
  for (const line of lines) {
    if (FENCE.test(line)) inFence = !inFence;
    const heading =
      inFence || line.length > HEADING_MAX_CHARS ? undefined : HEADING.exec(line)?.[1];
    if (heading === undefined) {
      if (parts.length === 0) parts.push({ heading: undefined, level: 0, lines: [] });
      parts.at(-1)?.lines.push(line);
    } else {
      parts.push({ heading, level: line.indexOf(' '), lines: [] });
    }
  }
  const title = parts.find(({ level }) => level === 1)?.heading ?? nameOf(source);
  const language = languageOf(markdown);
  return parts
    .slice(0, SECTIONS_MAX)
    .map(({ heading, lines: body }) => ({
      source,
      title,
      heading: heading ?? title,
      ...withoutComments(body.join('\n')),
      language,
    }))
    .filter(({ text }) => text !== '');
}

function withoutComments(markdown: string): { text: string; also: string } {
  const comments: string[] = [];
  // An index search and no regular expression: a file of "<!--" without an end stays linear.
  let text = '';
  let at = 0;
  for (;;) {
    const start = markdown.indexOf('<!--', at);
    const end = start < 0 ? -1 : markdown.indexOf('-->', start + 4);
    if (end < 0) break;
    text += markdown.slice(at, start);
    comments.push(markdown.slice(start + 4, end));
    at = end + 3;
  }
  text += markdown.slice(at);
  return {
    text: text
      .replace(/\n{3,}/g, '\n\n')
      .trim()
      .slice(0, TEXT_MAX_CHARS),
    also: comments.join(' ').slice(0, TEXT_MAX_CHARS),
  };
}

/** `help/opening-hours.md` is "opening hours". */
const nameOf = (source: string) =>
  source
    .replace(/^.*[\\/]/, '')
    .replace(/\.md$/i, '')
    .replace(/[-_]+/g, ' ');

/** A section that has to do with what was asked. */
export interface Hit {
  readonly section: Section;
  readonly score: number;
  /** From 0 to 1: how much of the question occurs in it. */
  readonly share: number;
  /** A word of the question stands in the section's heading. */
  readonly isAbout: boolean;
}

interface Shelf {
  readonly language: Language | undefined;
  readonly index: MiniSearch;
  readonly sections: readonly Section[];
}

const QUERY_MAX_CHARS = 1000;
/** A word that was found by its beginning or nearly may be another word. */
const NEARLY = 0.6;
const BOOST = { heading: 3, also: 2, title: 1.2 };

/** Full-text search over sections: an index per language, for each has its own words and endings. */
export class Knowledge {
  readonly sections: readonly Section[];
  readonly #shelves: readonly Shelf[];

  constructor(sections: readonly Section[]) {
    this.sections = sections;
    const languages = new Set(sections.map(({ language }) => language));
    this.#shelves = [...languages].map((language) =>
      shelfOf(
        language,
        sections.filter((section) => section.language === language),
      ),
    );
  }

  /**
   * Best first. In the language of the question, when it is known and there are sections in it; else
   * in all of them.
   */
  search(question: string, language: Language | undefined, limit: number): Hit[] {
    const own = this.#shelves.filter((shelf) => shelf.language === language);
    const shelves = language !== undefined && own.length > 0 ? own : this.#shelves;
    return shelves
      .flatMap((shelf) => searchShelf(shelf, question.slice(0, QUERY_MAX_CHARS), limit))
      .sort((a, b) => b.score - a.score)
      .slice(0, limit);
  }
}

/** Whether a section answers what was asked, or has merely a word in common with it. */
export function isSure({ share, isAbout }: Hit): boolean {
  return isAbout ? share >= 0.33 : share >= 0.55;
}

function shelfOf(language: Language | undefined, sections: readonly Section[]): Shelf {
  const index = new MiniSearch({
    fields: ['heading', 'also', 'title', 'text'],
    processTerm: (word) => termOf(word, language),
  });
  index.addAll(sections.map((section, id) => ({ id, ...section })));
  return { language, index, sections };
}

function searchShelf({ language, index, sections }: Shelf, question: string, limit: number): Hit[] {
  const asked = new Set(
    (question.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [])
      .map((word) => termOf(word, language) ?? '')
      .filter((term) => term.length > 1 && !/^\d+$/.test(term)),
  );
  const found = index
    .search([...asked].join(' '), {
      // They are terms already.
      processTerm: (term) => term,
      boost: BOOST,
      fuzzy: (term) => (term.length > 5 ? 0.2 : false),
      prefix: (term) => term.length > 3,
      weights: { fuzzy: 0.3, prefix: 0.5 },
    })
    .slice(0, limit);
  return found.flatMap((result) => {
    const section = sections[Number(result.id)];
    return section === undefined ? [] : [{ section, ...measured(result, asked) }];
  });
}

function measured(result: SearchResult, asked: ReadonlySet<string>): Omit<Hit, 'section'> {
  const exact = new Set(result.terms);
  const weight = result.queryTerms.reduce((sum, term) => sum + (exact.has(term) ? 1 : NEARLY), 0);
  const fields = Object.values(result.match).flat();
  return {
    score: result.score,
    share: asked.size === 0 ? 0 : weight / asked.size,
    isAbout: fields.includes('heading'),
  };
}
