// The command line checks its options with these: this file imports no package, so that a mistake
// is answered without loading the client.

/**
 * Whether requests can go to paths below it: `http` or `https`, a host and no more than a path. A
 * name in it (`user:pass@`) would take the place of the key.
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
