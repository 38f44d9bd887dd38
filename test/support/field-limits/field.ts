/** One field that a stranger fills, and how it comes to the gateway. */
export interface Field {
  readonly door: 'smtp' | 'texts' | 'chat' | 'http' | 'admin' | 'platform';
  readonly name: string;
  /** The longest that is let in, in bytes. */
  readonly maxBytes: number;
  /** What is before and after the filler, so that the parser of the field gets to it. */
  readonly frames: readonly (readonly [before: string, after: string])[];
  /** Resolves when the gateway has answered, whatever it answered. */
  readonly send: (value: string) => Promise<unknown>;
}

/**
 * What a field is filled with, each repeated to the field's limit: what parsers look for, what they skip,
 * and pairs of these.
 */
export const FILLERS: readonly string[] = [
  ...['\r', '\n', '\r\n ', ' ', '\t', '\0', '\u00a0', '\u200b'],
  ...[',', ';', ':', '.', '-', '_', '=', '/', '\\', '*', '#', '&', '@', '%', '+'],
  ...['(', ')', '<', '>', '[', ']', '{', '}', '"', "'", '`'],
  ...['=?', '=?utf-8?q?', '%41', '<!--', '<!DOCTYPE ', '<a ', '&#', '![', '](', '://', '> '],
  ...['0', '1 ', 'a', 'é', '😀', 'a.', '.x', '@a.', '<a@b.c>', '\\"', ';a="b"', '\r\r\n'],
];

/** `bytes` long or a little less, for a filler that does not fit. */
export function filled(filler: string, bytes: number): string {
  return filler.repeat(Math.max(1, Math.floor(bytes / Buffer.byteLength(filler))));
}
