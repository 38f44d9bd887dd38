import type { MediaSource, MediaTarget } from '../../provider.ts';
import type { TelnyxAccount } from './account.ts';

/**
 * Telnyx's own hosts, such as `media.telnyx.com`, and those of its storage. Links are signed and
 * expire (Telnyx, "Send & receive MMS").
 */
const TELNYX_HOST = /^([a-z0-9-]{1,63}\.)+(telnyx\.com|telnyxcloudstorage\.com)$/;

/**
 * A medium of a message, by its URL; undefined if it is not on a host of Telnyx. No credentials are
 * sent: the link is one, and the API key would be too much for a host of files.
 */
export function telnyxMedium(
  value: string,
  account: Pick<TelnyxAccount, 'apiBaseUrl'>,
): MediaSource | undefined {
  const target = targetOf(value, account);
  if (target === undefined) return undefined;
  return {
    id: undefined,
    target,
    credential: undefined,
    redirect: (location, from) => targetOf(location, account, from),
  };
}

function targetOf(
  value: string,
  { apiBaseUrl }: Pick<TelnyxAccount, 'apiBaseUrl'>,
  from?: URL,
): MediaTarget | undefined {
  if (value.length > 8192 || !URL.canParse(value, from?.href)) return undefined;
  const url = new URL(value, from);
  if (url.username !== '' || url.password !== '') return undefined;
  const base = apiBaseUrl === undefined ? undefined : new URL(apiBaseUrl);
  const isOwn = url.protocol === 'https:' && url.port === '' && TELNYX_HOST.test(url.hostname);
  if (isOwn) return { url, trusted: false };
  return url.origin === base?.origin ? { url, trusted: true } : undefined;
}
