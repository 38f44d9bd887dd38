import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import MiniSearch from 'minisearch';

/** One headed piece of a Markdown file: what an answer quotes. */
export interface Section {
  readonly id: number;
  readonly title: string;
  readonly heading: string;
  readonly text: string;
}

const FILE_MAX = 500;
/** Words that say nothing about what somebody wants to know. */
const STOP_WORDS = new Set(
  (
    'a about am an and any are as at be but by can could dear did do does for from get got had has ' +
    'have hello hey hi how i if in is it its just me my no not of on or our please so some thank ' +
    'thanks that the their them there they this to us was we were what which who will ' +
    'with would you your yes regards best kind still tell know need want like something anything ' +
    'let more other question help asking ask'
  ).split(' '),
);

/** Full-text search over a folder of Markdown files, read once. */
export class Knowledge {
  readonly #index: MiniSearch<Section>;
  readonly #sections: readonly Section[];

  /** @throws when the folder cannot be read */
  constructor(folder: string) {
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md'))
      .sort()
      .slice(0, FILE_MAX);
    const sections = files.flatMap((name) =>
      sectionsOf(readFileSync(join(folder, name), 'utf8'), basename(name, '.md')),
    );
    this.#sections = sections.map((section, id) => ({ id, ...section }));
    this.#index = new MiniSearch<Section>({
      fields: ['heading', 'title', 'text'],
      processTerm: (term) => {
        const word = term.toLowerCase();
        return STOP_WORDS.has(word) ? null : stem(word);
      },
    });
    this.#index.addAll(this.#sections);
  }

  /** The section that fits the question best; undefined when none has to do with it. */
  find(question: string): Section | undefined {
    const [best] = this.#index.search(question.slice(0, 2000), {
      boost: { heading: 3, title: 2 },
      fuzzy: (term) => (term.length > 5 ? 0.2 : false),
      prefix: (term) => term.length > 3,
      weights: { fuzzy: 0.3, prefix: 0.5 },
    });
    return best && best.score >= 2 ? this.#sections[Number(best.id)] : undefined;
  }
}

/** "returns", "returning" and "returned" are one word here. English; others match as they stand. */
function stem(word: string): string {
  return word.length > 4 ? word.replace(/(?:ing|ed|es|s)$/, '') : word;
}

function sectionsOf(markdown: string, name: string): Omit<Section, 'id'>[] {
  const title = /^# +(.+)$/m.exec(markdown)?.[1]?.trim() ?? name;
  return markdown
    .split(/^(?=#{1,6} )/m)
    .map((part) => {
      const heading = /^#{1,6} +(.+)$/m.exec(part)?.[1]?.trim() ?? title;
      return { title, heading, text: part.replace(/^#{1,6} .+\n?/, '').trim() };
    })
    .filter(({ text }) => text !== '');
}
