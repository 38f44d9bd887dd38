/**
 * Whether requests can go to paths below it: `http` or `https`, a host and no more than a path. A
 * name in it (`user:pass@`) would take the place of the key.
 */
export function isBaseUrl(value: string): boolean {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) return false;
  return url.username === '' && url.password === '' && !/[\s?#]/.test(value);
}
