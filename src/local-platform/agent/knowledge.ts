import MiniSearch, { type SearchResult } from 'minisearch';
import { type Language, languageOf, termOf } from './language.ts';

/** A part of a Markdown file under one heading; answers quote it. */
export interface Section {
  /** The file's path within the folder. */
  readonly source: string;
  /** The file's first level-one heading, else its name. */
  readonly title: string;
  /** The section's heading; the title for text before the first heading. */
  readonly heading: string;
  /** Markdown. */
  readonly text: string;
  /** The text of HTML comments, which is searched and never shown. */
  readonly also: string;
  /** The file's language, when it is clearly one of the agent's. */
  readonly language: Language | undefined;
}

const SECTIONS_MAX = 1000;
const TEXT_MAX_CHARS = 4000;
const HEADING_MAX_CHARS = 300;
const FRONT_MATTER = /^---\n[^]*?\n---\n/;
const HEADING = /^#{1,6}[ \t]+(.+?)[ \t#]*$/;
const FENCE = /^\s{0,3}(?:```|~~~)/;

/**
 * Splits a Markdown file at its headings (ATX, CommonMark §4.2). A # within a code fence is not a
 * heading. A heading without text below it is left out.
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
  // Not a regular expression: many unclosed "<!--" would take quadratic time.
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

/** A section that matches a question. */
export interface Hit {
  readonly section: Section;
  readonly score: number;
  /** The share of the question's words that the section has, 0 to 1. */
  readonly share: number;
  /** Whether a word of the question is in the section's heading. */
  readonly isInHeading: boolean;
}

interface LanguageIndex {
  readonly language: Language | undefined;
  readonly index: MiniSearch;
  readonly sections: readonly Section[];
}

const QUERY_MAX_CHARS = 1000;
/** The weight of a prefix or fuzzy match, which may be a different word. */
const INEXACT = 0.6;
const BOOST = { heading: 3, also: 2, title: 1.2 };

/** Full-text search over sections, with an index per language: stop words and stems differ. */
export class Knowledge {
  readonly sections: readonly Section[];
  readonly #indexes: readonly LanguageIndex[];

  constructor(sections: readonly Section[]) {
    this.sections = sections;
    const languages = new Set(sections.map(({ language }) => language));
    this.#indexes = [...languages].map((language) =>
      createIndex(
        language,
        sections.filter((section) => section.language === language),
      ),
    );
  }

  /**
   * Best first. Searches the sections in the question's language if there are any, else all sections.
   */
  search(question: string, language: Language | undefined, limit: number): Hit[] {
    const own = this.#indexes.filter((index) => index.language === language);
    const indexes = language !== undefined && own.length > 0 ? own : this.#indexes;
    return indexes
      .flatMap((index) => searchIndex(index, question.slice(0, QUERY_MAX_CHARS), limit))
      .sort((a, b) => b.score - a.score)
      .slice(0, limit);
  }
}

/** Whether a section probably answers the question, rather than only sharing a word with it. */
export function isSure({ share, isInHeading }: Hit): boolean {
  return isInHeading ? share >= 0.33 : share >= 0.55;
}

function createIndex(language: Language | undefined, sections: readonly Section[]): LanguageIndex {
  const index = new MiniSearch({
    fields: ['heading', 'also', 'title', 'text'],
    processTerm: (word) => termOf(word, language),
  });
  index.addAll(sections.map((section, id) => ({ id, ...section })));
  return { language, index, sections };
}

function searchIndex(
  { language, index, sections }: LanguageIndex,
  question: string,
  limit: number,
): Hit[] {
  const asked = new Set(
    (question.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [])
      .map((word) => termOf(word, language) ?? '')
      .filter((term) => term.length > 1 && !/^\d+$/.test(term)),
  );
  const found = index
    .search([...asked].join(' '), {
      // The query consists of processed terms.
      processTerm: (term) => term,
      boost: BOOST,
      fuzzy: (term) => (term.length > 5 ? 0.2 : false),
      prefix: (term) => term.length > 3,
      weights: { fuzzy: 0.3, prefix: 0.5 },
    })
    .slice(0, limit);
  return found.flatMap((result) => {
    const section = sections[Number(result.id)];
    return section === undefined ? [] : [{ section, ...relevanceOf(result, asked) }];
  });
}

function relevanceOf(result: SearchResult, asked: ReadonlySet<string>): Omit<Hit, 'section'> {
  const exact = new Set(result.terms);
  const weight = result.queryTerms.reduce((sum, term) => sum + (exact.has(term) ? 1 : INEXACT), 0);
  const fields = Object.values(result.match).flat();
  return {
    score: result.score,
    share: asked.size === 0 ? 0 : weight / asked.size,
    isInHeading: fields.includes('heading'),
  };
}
