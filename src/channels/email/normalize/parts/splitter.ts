import type { Transform } from 'node:stream';
import type { PartHead } from './part-head.ts';
import type { DecoderStream } from './transfer-encodings.ts';

/** A node of mailparser's splitter. */
export interface SplitterNode {
  readonly parentNode: SplitterNode | false;
  _headersLines: Buffer[];
  _headerlen: number;
  _parentBoundaryOwner: SplitterNode | false;
  headers: false | { readonly getList: () => PartHead };
  contentType: string | false;
  multipart: string | false;
  parseHeaders: () => void;
  getDecoder: () => DecoderStream;
}

/** mailparser's splitter, with the members that its types leave out. */
export interface Splitter extends Transform {
  node: SplitterNode;
  state: number;
  newNode: (parent: SplitterNode | false) => void;
  checkBoundary: (line: Buffer) => DelimiterKind | false;
  processLine: (line: Buffer | false, final: boolean, next: NextLine) => void;
}

export type Piece = SplitterNode | { node: SplitterNode; type: 'body'; value: Buffer };
export type NextLine = (error?: Error | null, piece?: Piece | false, flush?: boolean) => void;

/** The states of the splitter. */
export const HEAD = 1;
export const BODY = 2;
/** What the splitter calls the delimiters: of the current multipart, or of one that contains it. */
export type DelimiterKind = 1 | 2 | 3 | 4;
export const CHILD = 1;
export const END = 2;
export const SIBLING = 3;
export const OUTER_END = 4;
