import { signatureOf } from '../../../../runtime/file-kind.ts';
import type { ScratchFolder } from './collect-part.ts';
import type { BodyParts } from './body-parts.ts';
import {
  asBuffer,
  type ByteSource,
  type Range,
  readRange,
  readStart,
  withByteSource,
} from './part-content.ts';
import { createLeaf, type Leaf } from './read-parts.ts';

/** How the address of such a picture begins (RFC 2397). */
const DATA_IMAGE = /data:image\//i;
const DATA_IMAGE_LENGTH = 'data:image/'.length;
const HEADER = /^data:image\/[\w.+-]{1,40}(?:;[\w=.%-]{1,100}){0,4};\s{0,9}base64,/i;
const MAX_HEADER_BYTES = 600;
/** An `img` element up to the value of its `src`. */
const IN_IMAGE = /<img[\s/][^<]{0,4000}?\bsrc\s{0,9}=\s{0,9}["']?\s{0,99}$/i;
/** Another attribute or a style: nothing is attached, but what follows is read. */
const IN_MARKUP = /(?:=\s{0,9}["']?|url\(\s{0,9}["']?)\s{0,99}$/i;
const MAX_BEFORE_BYTES = 4096;
/** A smaller one is a bullet, a spacer or an icon of the mail client. */
const LEAST_BYTES = 1024;
/** More pictures than are attached to a message. */
const MAX_PICTURES = 100;
/** Real mail has no more addresses of pictures that are none. */
const MAX_LOOKS = 2000;
const SNIFFED_BYTES = 4096;
const RASTER = /^image\/(?:png|apng|jpeg|gif|webp|bmp|tiff|heic|heif|avif)$/;
const WINDOW_BYTES = 64 * 1024;

/** Where an address ends: base64 may be percent-encoded, and wrapped within quotes. */
const AFTER_QUOTED = /[^a-z0-9+/=_%\s-]/i;
const AFTER_BARE = /[^a-z0-9+/=_%-]/i;

/** A picture in the HTML: its whole address, and the base64 within it. */
interface Pasted {
  /** In the `src` of an `img`. */
  readonly isImage: boolean;
  readonly address: Range;
  readonly base64: Range;
}

/**
 * Makes an attachment of each picture that was pasted into an HTML body as a `data:` address, and
 * refers to it by a Content-ID instead. The rest of the HTML then is as long as it reads. HTML that
 * is attached as a file stays as it is.
 * @param firstIndex the first index that no leaf has
 * @throws the errors of reading and writing scratch files
 */
export async function liftDataPictures(
  parts: BodyParts,
  firstIndex: () => number,
  scratch: ScratchFolder,
): Promise<BodyParts> {
  const candidates = parts.alternatives.flatMap(({ html }) => html).filter(mayHold);
  if (candidates.length === 0) return parts;
  let index = firstIndex();
  const lifted = new Map<Leaf, Lifted>();
  for (const leaf of candidates) {
    const found = await withByteSource(leaf.content, async (source) => {
      const pasted = await findPasted(source);
      return pasted.length === 0 ? undefined : lift(leaf, { source, pasted, scratch, index });
    });
    if (found === undefined) continue;
    lifted.set(leaf, found);
    index += found.pictures.length;
  }
  return {
    ...parts,
    alternatives: parts.alternatives.map(({ plain, html }) => ({
      plain,
      html: html.map((leaf) => lifted.get(leaf)?.html ?? leaf),
    })),
    attachments: [
      ...parts.attachments,
      ...[...lifted.values()].flatMap(({ pictures }) => pictures),
    ],
  };
}

interface Lifted {
  readonly html: Leaf;
  readonly pictures: readonly Leaf[];
}

/** Runs for every HTML body: it is cheap. */
function mayHold({ contentType, content }: Leaf): boolean {
  if (contentType !== 'text/html') return false;
  const isLong = content.size > content.start.byteLength;
  return isLong || DATA_IMAGE.test(asBuffer(content.start).toString('latin1'));
}

async function findPasted(source: ByteSource): Promise<readonly Pasted[]> {
  const pasted: Pasted[] = [];
  let looks = 0;
  for (let at = 0; at < source.size && looks < MAX_LOOKS;) {
    const window = await source.read(at, WINDOW_BYTES);
    if (window.length === 0) break;
    const found = window.toString('latin1').search(DATA_IMAGE);
    if (found === -1) {
      // The beginning may be at the end of this window.
      at += Math.max(window.length - DATA_IMAGE_LENGTH + 1, 1);
      continue;
    }
    looks += 1;
    const picture = await pastedAt(source, at + found);
    if (picture !== undefined) pasted.push(picture);
    at = picture === undefined ? at + found + 1 : picture.address.offset + picture.address.length;
  }
  return pasted;
}

async function pastedAt(source: ByteSource, offset: number): Promise<Pasted | undefined> {
  const before = Math.min(offset, MAX_BEFORE_BYTES);
  const around = { offset: offset - before, length: before + MAX_HEADER_BYTES };
  const text = (await readStart(source, around, around.length)).toString('latin1');
  const header = HEADER.exec(text.slice(before))?.[0];
  if (header === undefined || !IN_MARKUP.test(text.slice(Math.max(before - 120, 0), before))) {
    return undefined;
  }
  const after = /["']\s*$/.test(text.slice(Math.max(before - 100, 0), before))
    ? AFTER_QUOTED
    : AFTER_BARE;
  const start = offset + header.length;
  let end = start;
  for await (const bytes of readRange(source, { offset: start, length: source.size - start })) {
    const stop = bytes.toString('latin1').search(after);
    end += stop === -1 ? bytes.length : stop;
    if (stop !== -1) break;
  }
  return {
    isImage: IN_IMAGE.test(text.slice(0, before)),
    address: { offset, length: end - offset },
    base64: { offset: start, length: end - start },
  };
}

interface Lifting {
  readonly source: ByteSource;
  readonly pasted: readonly Pasted[];
  readonly scratch: ScratchFolder;
  /** The first that is free. */
  readonly index: number;
}

/** The HTML with references in place of the pictures, and the pictures. */
async function lift(leaf: Leaf, { source, pasted, scratch, index }: Lifting): Promise<Lifted> {
  const pictures: Leaf[] = [];
  const references: string[] = [];
  for (const { isImage, base64 } of pasted) {
    const isWanted = isImage && pictures.length < MAX_PICTURES;
    const type = isWanted ? await rasterType(source, base64) : undefined;
    // Nothing is shown in the place of any other.
    references.push(type === undefined ? 'data:,' : `cid:pasted-${index + pictures.length}`);
    if (type === undefined) continue;
    const number = pictures.length + 1;
    const fields = {
      index: index + pictures.length,
      contentType: type,
      fileName: `picture-${number}`,
      contentId: `pasted-${index + pictures.length}`,
    };
    pictures.push(await createLeaf(fields, decoded(source, base64), scratch));
  }
  async function* html() {
    let at = 0;
    for (const [number, { address }] of pasted.entries()) {
      yield* readRange(source, { offset: at, length: address.offset - at });
      yield Buffer.from(references[number] ?? '');
      at = address.offset + address.length;
    }
    yield* readRange(source, { offset: at, length: source.size - at });
  }
  const { disposition, fileName, contentId, parameters, contentType } = leaf;
  const fields = { index: leaf.index, contentType, parameters, disposition, fileName, contentId };
  return { html: await createLeaf(fields, html(), scratch), pictures };
}

/** The type of a picture by its content; undefined if it is none, or too small. */
async function rasterType(source: ByteSource, base64: Range): Promise<string | undefined> {
  const start: Buffer[] = [];
  let size = 0;
  for await (const bytes of decoded(source, base64)) {
    start.push(bytes);
    size += bytes.length;
    if (size >= SNIFFED_BYTES) break;
  }
  if (size < LEAST_BYTES) return undefined;
  const type = (await signatureOf(Buffer.concat(start)))?.mime;
  return type !== undefined && RASTER.test(type) ? type : undefined;
}

/** Decodes base64 that may be wrapped, percent-encoded, or in the alphabet of URLs. */
async function* decoded(source: ByteSource, base64: Range): AsyncGenerator<Buffer> {
  let rest = '';
  for await (const bytes of readRange(source, base64)) {
    const text = (rest + bytes.toString('latin1')).replace(/[\s=]+/g, '');
    // A percent sign may be cut off from its digits.
    const percent = text.lastIndexOf('%');
    const cut = percent > Math.max(-1, text.length - 3) ? percent : text.length;
    const plain = text
      .slice(0, cut)
      .replace(/%(2b|2f|3d|0d|0a|20|2d|5f)/gi, (_, hex: string) =>
        String.fromCharCode(Number.parseInt(hex, 16)).replace(/[\s=]/, ''),
      );
    const whole = plain.length - (plain.length % 4);
    rest = plain.slice(whole) + text.slice(cut);
    if (whole > 0) yield Buffer.from(plain.slice(0, whole), 'base64');
  }
  if (rest !== '') yield Buffer.from(rest, 'base64');
}
