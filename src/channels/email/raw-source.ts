/** Where the bytes of a message are; can be cloned to another thread. */
export type RawSource =
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'file'; readonly path: string };
