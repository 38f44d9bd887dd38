/**
 * `Content-Disposition` with a file's own name (RFC 6266 §4.1): the exact one in `filename*`, and
 * for old clients one in printable ASCII, which no quote and no percent sign can end or bend.
 */
export function contentDisposition(kind: 'inline' | 'attachment', name: string): string {
  if (name === '') return kind;
  const ascii = name.replace(/[^\x20-\x7e]|["\\%]/gu, '_');
  // RFC 8187 §3.2.1: of what encodeURIComponent leaves alone, these are not allowed.
  const exact = encodeURIComponent(name).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `${kind}; filename="${ascii}"; filename*=UTF-8\'\'${exact}`;
}
