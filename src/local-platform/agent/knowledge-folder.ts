import { readdirSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { errorFields, type Logger } from '../../observability/logger.ts';
import { Knowledge, type Section, sectionsOf } from './knowledge.ts';

const FILES_MAX = 500;
const FILE_MAX_BYTES = 1024 * 1024;

interface Read {
  /** Changes whenever the file does. */
  readonly version: string;
  readonly sections: readonly Section[];
}

/**
 * A folder of Markdown files, with its subfolders. Every use looks whether a file has changed, so
 * that an edit counts from the next question on, without a restart. What cannot be used is skipped
 * with one warning: a file over 1 MiB, one that is not UTF-8 text, one that cannot be read.
 */
export class KnowledgeFolder {
  readonly #path: string;
  readonly #logger: Logger;
  #files = new Map<string, Read>();
  #knowledge = new Knowledge([]);
  #looking: Promise<Knowledge> | undefined;
  #isGone = false;

  /** @throws when the folder cannot be read */
  constructor(path: string, logger: Logger) {
    this.#path = path;
    this.#logger = logger;
    readdirSync(path);
  }

  /** As the files are now. When the folder itself has gone, as they were. */
  current(): Promise<Knowledge> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #look(): Promise<Knowledge> {
    let names;
    try {
      names = await this.#names();
      this.#isGone = false;
    } catch (error) {
      if (!this.#isGone) this.#logger.warn('knowledge.folder_unreadable', errorFields(error));
      this.#isGone = true;
      return this.#knowledge;
    }
    const files = new Map<string, Read>();
    for (const name of names) files.set(name, await this.#file(name, this.#files.get(name)));
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

  /** The same object as before when the file has not changed. */
  async #file(name: string, before: Read | undefined): Promise<Read> {
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

  #skipped(file: string, version: string, why: { readonly reason: string }): Read {
    this.#logger.warn('knowledge.file_skipped', { file, ...why });
    return { version, sections: [] };
  }
}

/** Undefined for what is no UTF-8 text. */
function textOf(bytes: Buffer): string | undefined {
  if (bytes.length > FILE_MAX_BYTES || bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
