import { sortParts } from './body-parts.ts';
import { asBuffer, BrokenStructure, withByteSource } from './part-content.ts';
import { decodeText } from '../body/charset.ts';
import { clearSignedText, findSignedContent, isEncryptedText } from './signed-content.ts';
import { stripTags } from '../html/html-tree.ts';
import {
  createLeaf,
  type Leaf,
  leavesOf,
  type Part,
  type PartTree,
  readParts,
  replaceLeaves,
} from './read-parts.ts';
import type { ScratchFolder } from './collect-part.ts';
import type { Recovery } from './structure-reader.ts';
import { tnefParts } from '../tnef/tnef-leaves.ts';
import { readTnef } from '../tnef/tnef-reader.ts';

/** Such as a winmail.dat in a signed message in a winmail.dat. */
const MAX_DEPTH = 4;
/** The number of parts opened per message, at any depth. */
const MAX_OPENED = 100;
/** A longer body is not blank. */
const MAX_BLANK_BYTES = 64 * 1024;
const TNEF_TYPES = /^application\/(?:vnd\.)?ms-tnef$/;
const TNEF_NAMES = /^win(?:mail)?\.dat$/i;
const CMS_TYPES = /^application\/(?:x-)?pkcs7-mime$/;

export interface OpenedParts extends PartTree {
  /** A part of it is encrypted. */
  readonly encrypted: boolean;
  /** It has a signed part whose content could not be read. */
  readonly sealed: boolean;
}

export interface AllOpenedParts extends OpenedParts {
  /** The faults of the messages within parts. */
  readonly recoveries: readonly Recovery[];
}

/**
 * Opens the parts that contain a hidden message: winmail.dat (TNEF), S/MIME signed data, and PGP
 * clear-signed text. The parts are replaced by their contents; a part that could not be read
 * completely is kept beside them.
 * @throws the errors of reading and writing scratch files
 */
export async function openParts(parts: PartTree, scratch: ScratchFolder): Promise<AllOpenedParts> {
  if (!parts.leaves.some(mayHide)) {
    const { root, leaves } = parts;
    return { root, leaves, encrypted: hasEncrypted(root), sealed: false, recoveries: [] };
  }
  const opener = new PartOpener(parts.leaves.length, scratch);
  return { ...(await opener.open(parts, 0)), recoveries: [...opener.recoveries] };
}

class PartOpener {
  readonly recoveries = new Set<Recovery>();
  readonly #scratch: ScratchFolder;
  #nextIndex: number;
  #opened = 0;

  constructor(firstIndex: number, scratch: ScratchFolder) {
    this.#nextIndex = firstIndex;
    this.#scratch = scratch;
  }

  async open(parts: PartTree, depth: number): Promise<OpenedParts> {
    const blank = isBlank(parts);
    const replaced = new Map<Leaf, readonly Part[]>();
    let encrypted = hasEncrypted(parts.root);
    let sealed = false;
    for (const leaf of parts.leaves) {
      if (!mayHide(leaf)) continue;
      const found = depth < MAX_DEPTH ? await this.#openLeaf(leaf, blank, depth) : undefined;
      if (found !== undefined) replaced.set(leaf, found.parts);
      encrypted ||= found?.encrypted ?? isEnveloped(leaf);
      sealed ||= found?.sealed ?? (CMS_TYPES.test(leaf.contentType) && !isEnveloped(leaf));
    }
    return { ...replaceLeaves(parts, replaced), encrypted, sealed };
  }

  async #openLeaf(leaf: Leaf, blank: boolean, depth: number): Promise<Found | undefined> {
    this.#opened += 1;
    if (this.#opened > MAX_OPENED) return undefined;
    if (leaf.contentType === 'text/plain' && !isTnef(leaf)) return this.#openPgp(leaf);
    if (CMS_TYPES.test(leaf.contentType)) return this.#openSigned(leaf, depth);
    return this.#openTnef(leaf, blank, depth);
  }

  async #openTnef(leaf: Leaf, withBody: boolean, depth: number): Promise<Found | undefined> {
    const children = await withByteSource(leaf.content, async (source) => {
      const read = await readTnef(source);
      if (read === undefined) return undefined;
      const parts = await tnefParts(source, read.message, {
        scratch: this.#scratch,
        withBody,
        nextIndex: () => this.#takeIndex(),
      });
      return read.complete ? parts : [...parts, leaf];
    });
    if (children === undefined) return undefined;
    // An incomplete one is kept as it is; otherwise it would be opened endlessly.
    const inside = children.filter((part) => part !== leaf);
    const opened = await this.open(asMixed(inside), depth + 1);
    const kept = inside.length < children.length ? [leaf] : [];
    const parts = opened.root === undefined ? [] : [opened.root];
    return { ...opened, parts: [...parts, ...kept] };
  }

  async #openSigned(leaf: Leaf, depth: number): Promise<Found | undefined> {
    const read = await withByteSource(leaf.content, async (source) => {
      if ((await findSignedContent(source)) === undefined) return undefined;
      const state = { complete: true };
      async function* untilBroken() {
        try {
          yield* (await findSignedContent(source)) ?? [];
        } catch (error) {
          if (!(error instanceof BrokenStructure)) throw error;
          state.complete = false;
        }
      }
      const parts = await readParts(untilBroken, this.#scratch);
      return { parts, complete: state.complete && !parts.broken };
    });
    if (read === undefined || read.parts.leaves.length === 0) return undefined;
    read.parts.recoveries.forEach((each) => this.recoveries.add(each));
    const opened = await this.open(this.#renumbered(read.parts), depth + 1);
    const parts = opened.root === undefined ? opened.leaves : [opened.root];
    return { ...opened, parts: read.complete ? parts : [...parts, leaf] };
  }

  async #openPgp(leaf: Leaf): Promise<Found | undefined> {
    const { content } = leaf;
    if (content.size > content.start.byteLength) return undefined;
    const text = asBuffer(content.start).toString('latin1');
    if (isEncryptedText(text)) {
      const contentType = 'application/pgp-encrypted';
      return {
        parts: [{ ...leaf, contentType, fileName: leaf.fileName ?? 'message.asc' }],
        encrypted: true,
        sealed: false,
      };
    }
    const signed = clearSignedText(text);
    if (signed === undefined) return undefined;
    const made = await createLeaf(leaf, [Buffer.from(signed, 'latin1')], this.#scratch);
    return { parts: [made], encrypted: false, sealed: false };
  }

  /** All leaves of a message have different indexes. */
  #renumbered(parts: PartTree): PartTree {
    const renumbered = (leaf: Leaf) => [{ ...leaf, index: this.#takeIndex() }];
    return replaceLeaves(parts, new Map(parts.leaves.map((leaf) => [leaf, renumbered(leaf)])));
  }

  #takeIndex(): number {
    this.#nextIndex += 1;
    return this.#nextIndex - 1;
  }
}

interface Found extends Pick<OpenedParts, 'encrypted' | 'sealed'> {
  readonly parts: readonly Part[];
}

/** Whether a leaf may contain other parts (TNEF, CMS) or PGP. Runs for every leaf: it is cheap. */
function mayHide(leaf: Leaf): boolean {
  if (isTnef(leaf) || CMS_TYPES.test(leaf.contentType)) return true;
  if (leaf.contentType !== 'text/plain' || leaf.fileName !== undefined) return false;
  return asBuffer(leaf.content.start).includes('-----BEGIN PGP ');
}

function isTnef({ contentType, fileName }: Leaf): boolean {
  return TNEF_TYPES.test(contentType) || TNEF_NAMES.test(fileName ?? '');
}

/** RFC 8551 §3.2.2: without a type, it is assumed to be the most common unreadable one. */
function isEnveloped({ contentType, parameters }: Leaf): boolean {
  if (!CMS_TYPES.test(contentType)) return false;
  const type = parameters['smime-type']?.toLowerCase() ?? 'enveloped-data';
  return type === 'enveloped-data' || type === 'authenveloped-data';
}

function hasEncrypted(part: Part | undefined): boolean {
  if (part?.kind !== 'multipart') return false;
  return part.contentType === 'multipart/encrypted' || part.children.some(hasEncrypted);
}

/** Whether the message has no text of its own, as Exchange sends it around a winmail.dat. */
function isBlank({ root, leaves }: PartTree): boolean {
  const { alternatives } = sortParts(root, leaves);
  return alternatives.every(({ plain, html }) => [...plain, ...html].every(isBlankText));
}

function isBlankText({ content, contentType, parameters }: Leaf): boolean {
  if (content.size > MAX_BLANK_BYTES) return false;
  const isHtml = contentType === 'text/html';
  const text = decodeText(content.start, parameters['charset'], { html: isHtml });
  if (!isHtml) return text.trim() === '';
  return !/<img/i.test(text) && stripTags(text).replaceAll('&nbsp;', '').trim() === '';
}

function asMixed(children: readonly Part[]) {
  const root: Part = { kind: 'multipart', contentType: 'multipart/mixed', children };
  return { root, leaves: leavesOf(root) };
}
