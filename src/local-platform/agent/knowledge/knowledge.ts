import MiniSearch, { type SearchResult } from 'minisearch';
import type { Language } from '../language.ts';
import type { Section } from './sections.ts';
import { termOf } from './terms.ts';

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
