/**
 * What a field is filled with, each repeated to the field's limit: what parsers look for, what they skip,
 * and pairs of these.
 */
export const FILLERS: readonly string[] = [
  ...['\r', '\n', '\r\n ', ' ', '\t', '\0', '\u00a0', '\u200b', '\ufeff'],
  ...[',', ';', ':', '.', '-', '_', '=', '/', '\\', '|', '*', '#', '!', '&', '@', '%', '+', '~'],
  ...['(', ')', '<', '>', '[', ']', '{', '}', '"', "'", '`'],
  ...[
    '=?',
    '?=',
    '=?utf-8?q?',
    '=20',
    '%41',
    '<!--',
    '-->',
    '<!DOCTYPE ',
    '<a ',
    '</',
    '&#',
    '&lt;',
  ],
  ...['![', '](', '://', 'www.', '> ', '\n> ', '-- \n', '---', 'a:\n'],
  ...['0', '1 ', 'a', 'A', 'é', '\xff', '😀'],
  ...[
    'a.',
    '.x',
    'a@',
    '@a.',
    '<a@b.c>',
    ' a',
    'a,',
    '()',
    '<>',
    '""',
    '\\"',
    'a=b;',
    ';a="b"',
    '\r\r\n',
  ],
];

/** `bytes` long or a little less, for a filler that does not fit. */
export function filled(filler: string, bytes: number): string {
  return filler.repeat(Math.max(1, Math.floor(bytes / Buffer.byteLength(filler))));
}
