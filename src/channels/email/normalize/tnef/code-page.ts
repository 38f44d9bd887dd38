const NAMED: ReadonlyMap<number, string> = new Map([
  [874, 'windows-874'],
  [932, 'shift_jis'],
  [936, 'gbk'],
  [949, 'euc-kr'],
  [950, 'big5'],
  [1200, 'utf-16le'],
  [10000, 'macintosh'],
  [20866, 'koi8-r'],
  [20932, 'euc-jp'],
  [21866, 'koi8-u'],
  [50220, 'iso-2022-jp'],
  [50221, 'iso-2022-jp'],
  [50222, 'iso-2022-jp'],
  [51932, 'euc-jp'],
  [51949, 'euc-kr'],
  [54936, 'gb18030'],
  [65001, 'utf-8'],
]);

/** The charset of a Windows code page (MS-UCODEREF §2.2.1); undefined when it says nothing. */
export function codePageCharset(codePage: number | undefined): string | undefined {
  if (codePage === undefined) return undefined;
  const named = NAMED.get(codePage);
  if (named !== undefined) return named;
  if (codePage >= 1250 && codePage <= 1258) return `windows-${codePage}`;
  if (codePage >= 28591 && codePage <= 28606) return `iso-8859-${codePage - 28590}`;
  return undefined;
}
