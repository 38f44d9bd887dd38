import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

/** The loader's name in the folder: what a page's script tag asks for. */
export const LOADER_FILE = 'widget.js';
/** Nothing else of the folder is ever read, so that no name leads out of it. */
const NAME = /^(?:widget|main-[\w-]{1,64})\.js$/;

/** One file of the widget, in every form it is sent in. */
export interface WidgetFile {
  /** Of the content, without quotes. */
  readonly hash: string;
  readonly forms: Readonly<Record<Encoding, Buffer>>;
}

export type Encoding = 'br' | 'gzip' | 'identity';

interface Known {
  readonly version: string;
  readonly file: Promise<WidgetFile>;
}

/**
 * Files in memory. Beside those of this build (a main part for each language) there is room for the
 * one before it: pages that were opened then still ask for its main parts.
 */
const MAX_KEPT = 24;

/**
 * The built widget, read and compressed once. A file is read again when it has changed, so that a
 * rebuild needs no restart; one that is gone is still served as it was, for as long as this process
 * lives: a build takes the folder away for a moment, and a page that was opened before an upgrade
 * fetches the main part that its loader names.
 */
export class WidgetFiles {
  readonly #folder: string;
  readonly #known = new Map<string, Known>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The file of that name, undefined when there is none, and never was. */
  async get(name: string): Promise<WidgetFile | undefined> {
    if (!NAME.test(name)) return undefined;
    const path = join(this.#folder, name);
    const version = await versionOf(path);
    const known = this.#known.get(name);
    if (version === undefined || version === known?.version) return known?.file;
    const file = read(path);
    this.#keep(name, { version, file });
    try {
      return await file;
    } catch (error) {
      // It went between the two calls: what was there before is as good.
      if (known === undefined) this.#known.delete(name);
      else this.#known.set(name, known);
      if (isMissing(error)) return known?.file;
      throw error;
    }
  }

  #keep(name: string, known: Known): void {
    this.#known.delete(name);
    this.#known.set(name, known);
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= MAX_KEPT) break;
      if (oldest !== LOADER_FILE) this.#known.delete(oldest);
    }
  }
}

async function versionOf(path: string): Promise<string | undefined> {
  try {
    const { ino, mtimeMs, size } = await stat(path);
    return `${ino}/${mtimeMs}/${size}`;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** By shape: what the system throws is not always an `Error` of this realm. */
const isMissing = (error: unknown): boolean =>
  typeof error === 'object' &&
  error !== null &&
  'code' in error &&
  (error.code === 'ENOENT' || error.code === 'ENOTDIR');

const brotli = promisify(brotliCompress);
const zip = promisify(gzip);

async function read(path: string): Promise<WidgetFile> {
  const identity = await readFile(path);
  const [br, gz] = await Promise.all([
    brotli(identity, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: identity.length } }),
    zip(identity, { level: 9 }),
  ]);
  const hash = createHash('sha256').update(identity).digest('base64url').slice(0, 22);
  return { hash, forms: { br, gzip: gz, identity } };
}
