/** Modules that the library's types leave out. */
declare module 'mailauth/lib/tools.js' {
  /** The fields of a header block in the form that the library's other functions take. */
  export function parseHeaders(block: Buffer): unknown;
}

declare module 'mailauth/lib/dkim/dkim-verifier.js' {
  import type { DKIMVerifyOptions } from 'mailauth';

  /** The target that `dkimVerify` writes a message to; call the methods in this order. */
  export class DkimVerifier {
    constructor(options: DKIMVerifyOptions);
    messageHeaders(headers: unknown): Promise<void>;
    /** A chunk of the body, with CRLF as line ends. */
    nextChunk(chunk: Buffer): Promise<void>;
    finalChunk(): Promise<void>;
    /** Available after the last chunk. */
    readonly results: readonly unknown[];
    readonly arc: unknown;
  }
}
