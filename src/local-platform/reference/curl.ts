import type { Operation } from './operations.ts';

/** A line to try an operation with, for a POSIX shell that has `API_KEY` and `SHOP_ID`. */
export function curl(operation: Operation, baseUrl: string): string {
  const path = operation.path.replace('{id}', idOf(operation));
  const lines = [
    `curl ${quoted(`${baseUrl}/v2026-04${path}${queryOf(operation)}`)}`,
    '-H "Authorization: Bearer $API_KEY"',
    '-H "X-Shop-Id: $SHOP_ID"',
  ];
  if (operation.body) {
    const [example] = operation.body.examples;
    lines.push("-H 'Content-Type: application/json'");
    lines.push(`-d ${quoted(JSON.stringify(example?.value, null, 2))}`);
  }
  for (const [name, value] of Object.entries(operation.form?.example ?? {})) {
    lines.push(`-F ${quoted(`${name}=${value}`)}`);
  }
  return lines.join(' \\\n  ');
}

function idOf({ successes }: Operation): string {
  const example: object = successes[200]?.example ?? {};
  return 'id' in example && typeof example.id === 'string' ? example.id : '';
}

/** A query as one would write it: commas and colons need no escape there (RFC 3986 §3.4). */
function queryOf({ query }: Operation): string {
  if (query === undefined) return '';
  const text = new URLSearchParams(query.example).toString();
  return `?${text.replaceAll('%2C', ',').replaceAll('%3A', ':').replaceAll('%40', '@')}`;
}

const quoted = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`;
