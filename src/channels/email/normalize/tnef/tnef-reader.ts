import {
  BrokenStructure,
  ByteCursor,
  type ByteSource,
  type Range,
  readStart,
} from '../parts/part-content.ts';
import { decodeText } from '../body/charset.ts';
import { codePageCharset, type Property, readProperties, UNICODE } from './tnef-properties.ts';

export const TNEF_SIGNATURE = 0x223e9f78;
/** Nested messages. */
const MAX_DEPTH = 8;
const MAX_ATTRIBUTES = 5000;
/** For all lists together, because a property may be as short as four bytes. */
const MAX_PROPERTIES = 50_000;
const MAX_FILES = 200;
const MAX_NAME_BYTES = 2048;
/** {00020307-0000-0000-C000-000000000046}, IID_IMessage, before the stream of an enclosed message. */
const IID_MESSAGE = '0703020000000000c000000000000046';

/** MS-OXTNEF §2.1.3.2: attribute ids with their types. */
const ATT_SUBJECT = 0x00018004;
const ATT_BODY = 0x0002800c;
const ATT_MESSAGE_PROPERTIES = 0x00069003;
const ATT_CODE_PAGE = 0x00069007;
const ATT_ATTACHMENT_START = 0x00069002;
const ATT_ATTACHMENT_TITLE = 0x00018010;
const ATT_ATTACHMENT_DATA = 0x0006800f;
const ATT_ATTACHMENT_PROPERTIES = 0x00069005;

/** MS-OXPROPS: property ids. */
const SUBJECT = 0x0037;
const BODY = 0x1000;
const RTF_COMPRESSED = 0x1009;
const BODY_HTML = 0x1013;
const INTERNET_CODE_PAGE = 0x3fde;
const DISPLAY_NAME = 0x3001;
const ATTACHED_DATA = 0x3701;
const ATTACHED_FILE_NAME = 0x3704;
const ATTACHED_LONG_NAME = 0x3707;
const ATTACHED_MIME_TYPE = 0x370e;
const ATTACHED_CONTENT_ID = 0x3712;

export interface TnefText {
  readonly range: Range;
  readonly charset: string | undefined;
}

export interface TnefFile {
  name?: string;
  mime?: string;
  contentId?: string;
  data?: Range;
  message?: TnefMessage;
}

export interface TnefMessage {
  subject?: string;
  text?: TnefText;
  html?: TnefText;
  /** Compressed (MS-OXRTFCP). */
  rtf?: Range;
  readonly files: TnefFile[];
}

export interface ReadTnef {
  readonly message: TnefMessage;
  /** False if the stream is truncated or exceeds one of the limits: it may contain more. */
  readonly complete: boolean;
}

/**
 * Locates the body and the files in a `winmail.dat` (MS-OXTNEF). Only names are copied. Every
 * length is checked against its container, so each byte is visited at most once per level; depth,
 * attributes, properties and files are limited.
 * @throws the errors of reading the source; undefined if it is not TNEF
 */
export async function readTnef(source: ByteSource): Promise<ReadTnef | undefined> {
  const first = await source.read(0, 4);
  if (first.length < 4 || first.readUInt32LE() !== TNEF_SIGNATURE) return undefined;
  const reader = new TnefReader(source);
  const message = await reader.read({ offset: 0, length: source.size }, 0);
  return { message, complete: reader.complete };
}

class TnefReader {
  complete = true;
  readonly #source: ByteSource;
  #attributes = 0;
  #properties = 0;
  #files = 0;

  constructor(source: ByteSource) {
    this.#source = source;
  }

  async read(range: Range, depth: number): Promise<TnefMessage> {
    const message: TnefMessage = { files: [] };
    await this.#readLeniently(async () => {
      if (depth === MAX_DEPTH) throw new BrokenStructure('too deep');
      const cursor = new ByteCursor(this.#source, range);
      if ((await cursor.u32()) !== TNEF_SIGNATURE) throw new BrokenStructure('not a TNEF');
      cursor.take(2);
      await this.#readAttributes(cursor, message, depth);
    });
    return message;
  }

  async #readAttributes(cursor: ByteCursor, message: TnefMessage, depth: number): Promise<void> {
    let charset: string | undefined;
    let file: TnefFile | undefined;
    while (cursor.left > 0) {
      this.#attributes += 1;
      if (this.#attributes > MAX_ATTRIBUTES) throw new BrokenStructure('too many attributes');
      cursor.take(1);
      const id = await cursor.u32();
      const data = cursor.take(await cursor.u32());
      // The checksum is skipped: some writers set it to zero, and a part of a file is still useful.
      cursor.take(Math.min(2, cursor.left));
      switch (id) {
        case ATT_CODE_PAGE:
          charset = codePageCharset(await new ByteCursor(this.#source, data).u32());
          break;
        case ATT_SUBJECT:
          message.subject ??= await this.#text(data, charset);
          break;
        case ATT_BODY:
          message.text ??= { range: data, charset };
          break;
        case ATT_MESSAGE_PROPERTIES:
          await this.#readMessageProperties(data, message, charset);
          break;
        case ATT_ATTACHMENT_START:
          file = this.#newFile(message);
          break;
        case ATT_ATTACHMENT_TITLE:
          if (file !== undefined) file.name ??= await this.#text(data, charset);
          break;
        case ATT_ATTACHMENT_DATA:
          if (file !== undefined) file.data = data;
          break;
        case ATT_ATTACHMENT_PROPERTIES:
          if (file !== undefined) await this.#readFileProperties(data, file, charset, depth);
          break;
        default:
      }
    }
  }

  #newFile(message: TnefMessage): TnefFile {
    this.#files += 1;
    if (this.#files > MAX_FILES) throw new BrokenStructure('too many files');
    const file: TnefFile = {};
    message.files.push(file);
    return file;
  }

  async #readMessageProperties(
    data: Range,
    message: TnefMessage,
    charset: string | undefined,
  ): Promise<void> {
    let internetCharset: string | undefined;
    await this.#eachProperty(data, async ({ id, type, value }) => {
      const own = type === UNICODE ? 'utf-16le' : charset;
      if (id === SUBJECT) message.subject = await this.#text(value, own);
      else if (id === BODY) message.text = { range: value, charset: own };
      else if (id === RTF_COMPRESSED) message.rtf = value;
      else if (id === BODY_HTML) {
        message.html = { range: value, charset: type === UNICODE ? own : undefined };
      } else if (id === INTERNET_CODE_PAGE) {
        internetCharset = codePageCharset(await new ByteCursor(this.#source, value).u32());
      }
    });
    const { html } = message;
    // The HTML is in the code page that the message had on the internet.
    if (html !== undefined && html.charset === undefined) {
      message.html = { ...html, charset: internetCharset };
    }
  }

  async #readFileProperties(
    data: Range,
    file: TnefFile,
    charset: string | undefined,
    depth: number,
  ): Promise<void> {
    const names = new Map<number, string>();
    await this.#eachProperty(data, async ({ id, type, value }) => {
      const own = type === UNICODE ? 'utf-16le' : charset;
      if (id === ATTACHED_MIME_TYPE) file.mime = await this.#text(value, own);
      else if (id === ATTACHED_CONTENT_ID) file.contentId = await this.#text(value, own);
      else if (id === ATTACHED_DATA) await this.#readObject(value, file, depth);
      else if ([DISPLAY_NAME, ATTACHED_FILE_NAME, ATTACHED_LONG_NAME].includes(id)) {
        names.set(id, await this.#text(value, own));
      }
    });
    // The attribute's title has the short name, or lost the characters outside of its code page.
    const name =
      names.get(ATTACHED_LONG_NAME) ??
      file.name ??
      names.get(ATTACHED_FILE_NAME) ??
      names.get(DISPLAY_NAME);
    if (name !== undefined) file.name = name;
  }

  /** The data of an attachment as a property: an enclosed message, or an object as it is stored. */
  async #readObject(value: Range, file: TnefFile, depth: number): Promise<void> {
    const start = await readStart(this.#source, value, 16);
    const content = { offset: value.offset + 16, length: value.length - 16 };
    if (start.toString('hex') === IID_MESSAGE) {
      file.message = await this.read(content, depth + 1);
    } else {
      // An OLE object; the content of the data attribute is preferred.
      file.data ??= value.length > 16 && isInterfaceId(start) ? content : value;
    }
  }

  async #eachProperty(data: Range, take: (property: Property) => Promise<void>): Promise<void> {
    await this.#readLeniently(async () => {
      const cursor = new ByteCursor(this.#source, data);
      for await (const property of readProperties(cursor)) {
        this.#properties += 1;
        if (this.#properties > MAX_PROPERTIES) throw new BrokenStructure('too many properties');
        await take(property);
      }
    });
  }

  async #text(range: Range, charset: string | undefined): Promise<string> {
    const bytes = await readStart(this.#source, range, MAX_NAME_BYTES);
    const text = decodeText(bytes, charset, { truncated: range.length > bytes.length });
    return text.replace(/\0[^]*$/, '');
  }

  /** A broken structure ends there; what was found before, and what comes after it, is kept. */
  async #readLeniently(read: () => Promise<void>): Promise<void> {
    try {
      await read();
    } catch (error) {
      if (!(error instanceof BrokenStructure)) throw error;
      this.complete = false;
    }
  }
}

/** `xxxxxxxx-0000-0000-C000-000000000046`, the form of all OLE interface ids. */
function isInterfaceId(bytes: Buffer): boolean {
  return bytes.toString('hex', 4) === '00000000c000000000000046';
}
