/** Query parameters: `undefined` and empty values are omitted, lists are repeated. */
export type Query = Readonly<Record<string, string | number | readonly string[] | undefined>>;

/** Returns `?a=1&b=2`, or an empty string. */
export function queryString(query: Query): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    const values = typeof value === 'object' ? value : [value];
    for (const one of values) if (one !== undefined && one !== '') params.append(name, String(one));
  }
  const text = params.toString();
  return text === '' ? '' : `?${text}`;
}
