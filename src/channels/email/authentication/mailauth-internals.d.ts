/** The library's types leave these modules out. */
declare module 'mailauth/lib/tools.js' {
  /** The fields of a header block, as the library's other parts take them. */
  export function parseHeaders(block: Buffer): unknown;

  /** The entry of the list with the same organizational domain as `fromDomain`, false for none. */
  export function getAlignment(
    fromDomain: string,
    domainList: readonly string[],
  ): false | { readonly domain: string };
}

declare module 'mailauth/lib/dkim/dkim-verifier.js' {
  import type { DKIMVerifyOptions } from 'mailauth';

  /** What `dkimVerify` writes a message to; fed in this order. */
  export class DkimVerifier {
    constructor(options: DKIMVerifyOptions);
    messageHeaders(headers: unknown): Promise<void>;
    /** With CRLF as line ends, of the body. */
    nextChunk(chunk: Buffer): Promise<void>;
    finalChunk(): Promise<void>;
    /** After the last chunk. */
    readonly results: readonly unknown[];
    readonly arc: unknown;
  }
}
