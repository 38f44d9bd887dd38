import type { MediaTarget } from '../provider.ts';

const MAX_LENGTH = 8192;

/**
 * Where a link to a file, or the redirect from one, leads; undefined if it may not be followed.
 * @param isOwnHost whether the provider's files are on this host, by https
 * @param apiBaseUrl what replaces the provider's API, for tests and proxies: its host is trusted
 */
export function mediaTarget(
  value: string,
  isOwnHost: (hostname: string) => boolean,
  apiBaseUrl: string | undefined,
  from?: URL,
): MediaTarget | undefined {
  if (value.length > MAX_LENGTH || !URL.canParse(value, from?.href)) return undefined;
  const url = new URL(value, from);
  if (url.username !== '' || url.password !== '') return undefined;
  const isPlainHttps = url.protocol === 'https:' && url.port === '';
  if (isPlainHttps && isOwnHost(url.hostname)) return { url, trusted: false };
  const isReplaced = apiBaseUrl !== undefined && url.origin === new URL(apiBaseUrl).origin;
  return isReplaced ? { url, trusted: true } : undefined;
}
