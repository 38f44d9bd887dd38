import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { MAX_TEXTS_BYTES } from '../../domain/widget-files.ts';
import { errorFields, type Logger } from '../../observability/logger.ts';
import type { WidgetConfig } from './events.ts';
import type { ChatShop } from './shop.ts';

/** Texts by name; one with a number in it by plural category. */
const textsSchema = z.record(
  z.string().check(z.maxLength(64)),
  z.union([
    z.string().check(z.maxLength(1_000)),
    z.partialRecord(
      z.enum(['zero', 'one', 'two', 'few', 'many', 'other']),
      z.string().check(z.maxLength(1_000)),
    ),
  ]),
);
type Texts = Readonly<z.output<typeof textsSchema>>;

export interface WidgetTextsParts {
  /** The texts that the widget comes with, one file for each language. */
  readonly folder: string;
  readonly logger: Logger;
}

/**
 * The widget's texts in each language: the widget's own, and those of a shop's files, which may add
 * a language or reword one. What a file does not have is taken from the widget's own texts of the
 * language, else from the English ones.
 */
export class WidgetTexts {
  readonly #folder: string;
  readonly #logger: Logger;
  readonly #known = new Map<string, { readonly version: string; readonly texts: Texts }>();

  constructor({ folder, logger }: WidgetTextsParts) {
    this.#folder = folder;
    this.#logger = logger;
  }

  /** Undefined when neither the shop nor the widget has the language. */
  async of(shop: Pick<ChatShop, 'texts'>, language: string): Promise<Texts | undefined> {
    const own = shop.texts?.get(language);
    const [english, builtIn, shops] = await Promise.all([
      this.#read(this.#fileOf('en')),
      this.#read(this.#fileOf(language)),
      own === undefined ? undefined : this.#read(own),
    ]);
    if (builtIn === undefined && own === undefined) return undefined;
    return merged(merged(english ?? {}, builtIn), shops);
  }

  /** What the launcher says before the other texts are there. */
  async launchersOf(shop: ChatShop): Promise<WidgetConfig['languages']> {
    const languages = [...(shop.texts?.keys() ?? [])];
    const launchers = await Promise.all(
      languages.map(async (language) => {
        const texts = (await this.of(shop, language)) ?? {};
        return [
          language,
          [wordsOf(texts, 'openChat'), wordsOf(texts, 'dismiss'), wordsOf(texts, 'loadFailed')],
        ] as const;
      }),
    );
    return launchers.length === 0 ? undefined : Object.fromEntries(launchers);
  }

  #fileOf(language: string): string {
    return join(this.#folder, `${language}.json`);
  }

  /** A file that cannot be read is logged once for each version of it, and left out. */
  async #read(file: string): Promise<Texts | undefined> {
    const found = await stat(file).catch(() => undefined);
    if (found === undefined) return undefined;
    const version = `${found.ino}/${found.mtimeMs}/${found.size}`;
    const known = this.#known.get(file);
    if (known?.version === version) return known.texts;
    let texts: Texts = {};
    try {
      if (found.size > MAX_TEXTS_BYTES) throw new RangeError(`more than ${MAX_TEXTS_BYTES} bytes`);
      texts = textsSchema.parse(JSON.parse(await readFile(file, 'utf8')));
    } catch (error) {
      this.#logger.warn('widget.texts_unreadable', { file, ...errorFields(error) });
    }
    this.#known.set(file, { version, texts });
    return texts;
  }
}

/**
 * A text of another kind is left out, since the widget could not draw it. One with a number that has
 * no `other`, the form for every number without its own, is filled up with the given one's forms.
 */
function merged(texts: Texts, own: Texts = {}): Texts {
  const result: Record<string, Texts[string]> = { ...texts };
  for (const [name, words] of Object.entries(own)) {
    const former = texts[name] ?? words;
    if (typeof words === 'string' || typeof former === 'string') {
      if (typeof words === typeof former) result[name] = words;
    } else {
      result[name] = words.other === undefined ? { ...former, ...words } : words;
    }
  }
  return result;
}

function wordsOf(texts: Texts, name: string): string {
  const words = texts[name];
  return typeof words === 'string' ? words : '';
}
