/** Query strings, by the browser's own parser. */
export const encode = (query: Readonly<Record<string, string>>): string =>
  String(new URLSearchParams(query));

export const decode = (text: string): Record<string, string> =>
  Object.fromEntries(new URLSearchParams(text));
