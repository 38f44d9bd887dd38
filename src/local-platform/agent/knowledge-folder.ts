import { readdirSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { errorFields, type Logger } from '../../observability/logger.ts';
import { Knowledge } from './knowledge.ts';
import { type Section, sectionsOf } from './sections.ts';

const FILES_MAX = 500;
const FILE_MAX_BYTES = 1024 * 1024;
/** In all files: they are held in memory, and compared with each question. */
const SECTIONS_MAX = 5000;
const PHRASES_MAX = 100_000;

interface ReadFile {
  /** Changes whenever the file changes. */
  readonly version: string;
  readonly sections: readonly Section[];
}

/** The texts that an agent answers from. */
export interface KnowledgeSource {
  current(): Promise<Knowledge>;
}

/** Of a shop without texts. */
export const NO_KNOWLEDGE: KnowledgeSource = {
  current: () => Promise.resolve(new Knowledge([])),
};

/**
 * A folder of Markdown files, with its subfolders. Each use checks whether files have changed, so an
 * edit takes effect with the next question, without a restart. A file that is larger than 1 MiB, not
 * UTF-8 text, unreadable or beyond 5,000 sections or 100,000 phrases in all is skipped with one warning.
 */
export class KnowledgeFolder implements KnowledgeSource {
  readonly #path: string;
  readonly #logger: Logger;
  #files = new Map<string, ReadFile>();
  #knowledge = new Knowledge([]);
  #reading: Promise<Knowledge> | undefined;
  #isUnreadable = false;

  /** @throws when the folder cannot be read */
  constructor(path: string, logger: Logger) {
    this.#path = path;
    this.#logger = logger;
    readdirSync(path);
  }

  /** The current contents; the last known ones while the folder cannot be read. */
  current(): Promise<Knowledge> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #read(): Promise<Knowledge> {
    let names;
    try {
      names = await this.#names();
      this.#isUnreadable = false;
    } catch (error) {
      if (!this.#isUnreadable) this.#logger.warn('knowledge.folder_unreadable', errorFields(error));
      this.#isUnreadable = true;
      return this.#knowledge;
    }
    const files = new Map<string, ReadFile>();
    let [sectionsLeft, phrasesLeft] = [SECTIONS_MAX, PHRASES_MAX];
    for (const name of names) {
      let read = await this.#file(name, this.#files.get(name));
      if (read.sections.length > sectionsLeft) {
        read = this.#skipped(name, read.version, { reason: 'too_many_sections' });
      }
      if (phrasesIn(read) > phrasesLeft) {
        read = this.#skipped(name, read.version, { reason: 'too_many_phrases' });
      }
      sectionsLeft -= read.sections.length;
      phrasesLeft -= phrasesIn(read);
      files.set(name, read);
    }
    const isSame =
      files.size === this.#files.size &&
      [...files].every(([name, read]) => this.#files.get(name) === read);
    if (isSame) return this.#knowledge;
    this.#files = files;
    this.#knowledge = new Knowledge([...files.values()].flatMap(({ sections }) => sections));
    this.#logger.info('knowledge.read', {
      files: files.size,
      sections: this.#knowledge.sections.length,
    });
    return this.#knowledge;
  }

  async #names(): Promise<string[]> {
    const entries = await readdir(this.#path, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => !entry.isDirectory())
      .map((entry) => relative(this.#path, join(entry.parentPath, entry.name)))
      .filter((name) => /\.md$/i.test(name) && !/(?:^|[\\/])\./.test(name))
      .sort()
      .slice(0, FILES_MAX);
  }

  /** Returns `before` when the file has not changed. */
  async #file(name: string, before: ReadFile | undefined): Promise<ReadFile> {
    const path = join(this.#path, name);
    let version = 'unreadable';
    try {
      const { mtimeMs, ctimeMs, size, ino } = await stat(path);
      version = [mtimeMs, ctimeMs, size, ino].join(':');
      if (before?.version === version) return before;
      if (size > FILE_MAX_BYTES) return this.#skipped(name, version, { reason: 'too_large' });
      const bytes = await readFile(path);
      const text = textOf(bytes);
      if (text === undefined) return this.#skipped(name, version, { reason: 'not_text' });
      return { version, sections: sectionsOf(text, name) };
    } catch (error) {
      if (before?.version === version) return before;
      return this.#skipped(name, version, { reason: 'unreadable', ...errorFields(error) });
    }
  }

  #skipped(file: string, version: string, why: { readonly reason: string }): ReadFile {
    this.#logger.warn('knowledge.file_skipped', { file, ...why });
    return { version, sections: [] };
  }
}

const phrasesIn = ({ sections }: ReadFile): number =>
  sections.reduce((sum, { phrases }) => sum + phrases.length, 0);

/** Undefined when the bytes are not UTF-8 text. */
function textOf(bytes: Buffer): string | undefined {
  if (bytes.length > FILE_MAX_BYTES || bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
