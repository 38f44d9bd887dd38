import type { MediaSource } from '../../provider.ts';
import { mediaTarget } from '../media-target.ts';
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
  { apiBaseUrl }: Pick<TelnyxAccount, 'apiBaseUrl'>,
): MediaSource | undefined {
  const targetOf = (link: string, from?: URL) =>
    mediaTarget(link, (host) => TELNYX_HOST.test(host), apiBaseUrl, from);
  const target = targetOf(value);
  return target && { id: undefined, target, credential: undefined, redirect: targetOf };
}
