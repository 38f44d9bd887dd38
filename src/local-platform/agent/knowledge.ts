import MiniSearch from 'minisearch';
import { type Fit, FitIndex, fitness } from './fit.ts';
import { type Language, termOf } from './language.ts';
import type { Section } from './sections.ts';

/** A section that matches a question. */
export interface Hit {
  readonly section: Section;
  readonly score: number;
}

/** Both indexes are built on first use: most questions are in one language. */
interface LanguageIndex {
  readonly language: Language | undefined;
  readonly fits: FitIndex;
  readonly index: MiniSearch;
  readonly sections: readonly Section[];
}

/** How much better the sections of a further language must be, if the question's is not known. */
const OTHER_LANGUAGE = 1.5;
const QUERY_MAX_CHARS = 1000;
const BOOST = { heading: 3, also: 2, title: 1.2 };

/**
 * Full-text search over sections, with an index per language: stop words and stems differ. Sections
 * for people are only compared with a question, so that none of them is ever shown.
 */
export class Knowledge {
  /** Those that answer. */
  readonly sections: readonly Section[];
  readonly #indexes: readonly LanguageIndex[];

  constructor(sections: readonly Section[]) {
    this.sections = sections.filter(({ isForPeople }) => !isForPeople);
    const languages = new Set(sections.map(({ language }) => language));
    this.#indexes = [...languages].map((language) =>
      createIndex(
        language,
        sections.filter((section) => section.language === language),
      ),
    );
  }

  /**
   * The sections that have something to do with a question, best first, all of one language: the
   * question's, else the first one that has a clearly better section than those before.
   */
  fits(question: string, language: Language | undefined): Fit[] {
    const asked = question.slice(0, QUERY_MAX_CHARS);
    return this.#indexesOf(language)
      .map(({ fits }) => fits.fits(asked))
      .reduce(
        (best, fits) => (fitness(fits[0]) > OTHER_LANGUAGE * fitness(best[0]) ? fits : best),
        [],
      );
  }

  #indexesOf(language: Language | undefined): readonly LanguageIndex[] {
    const own = this.#indexes.filter(
      (index) => index.language === language && index.sections.length > 0,
    );
    return language !== undefined && own.length > 0 ? own : this.#indexes;
  }

  /**
   * Best first. Searches the sections in the question's language if there are any, else all sections.
   */
  search(question: string, language: Language | undefined, limit: number): Hit[] {
    return this.#indexesOf(language)
      .flatMap((index) => searchIndex(index, question.slice(0, QUERY_MAX_CHARS), limit))
      .sort((a, b) => b.score - a.score)
      .slice(0, limit);
  }
}

function createIndex(language: Language | undefined, all: readonly Section[]): LanguageIndex {
  const sections = all.filter(({ isForPeople }) => !isForPeople);
  let fits: FitIndex | undefined;
  let made: MiniSearch | undefined;
  const make = (): MiniSearch => {
    const index = new MiniSearch({
      fields: ['heading', 'also', 'title', 'text'],
      processTerm: (word) => termOf(word, language),
    });
    index.addAll(sections.map((section, id) => ({ id, ...section })));
    return index;
  };
  return {
    language,
    get fits() {
      return (fits ??= new FitIndex(language, all));
    },
    get index() {
      return (made ??= make());
    },
    sections,
  };
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
    return section === undefined ? [] : [{ section, score: result.score }];
  });
}
