// The command line checks its options with these functions. The file imports no package, so that a
// wrong option is reported without loading the client.

/**
 * Whether the text is a base URL: `http` or `https`, with a host and at most a path. Credentials
 * (`user:pass@`) are excluded, because they would replace the key.
 */
export function isBaseUrl(value: string): boolean {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) return false;
  return url.username === '' && url.password === '' && !/[\s?#]/.test(value);
}

/** The `cursor` of a page link (API §2.6), absolute or relative. */
export function cursorOf(link: string | null | undefined): string | undefined {
  if (!link || !URL.canParse(link, 'http://relative')) return undefined;
  return new URL(link, 'http://relative').searchParams.get('cursor') ?? undefined;
}
