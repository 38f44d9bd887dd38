import { z } from 'zod';
import type { MediaSource, MediaTarget } from '../../provider.ts';
import { ProviderFailed } from '../requests.ts';
import type { WhatsAppAccount } from './account.ts';
import { callGraph } from './calls.ts';

/** Of the host to which Meta's links lead (Meta, "Media", "Download media"). */
const HOST = 'lookaside.fbsbx.com';
const linkSchema = z.object({ url: z.string() });

/**
 * A medium by its id, which is valid for seven days. The API tells its link, which is valid for five
 * minutes and needs the token as well; it is sent to Meta's host only.
 */
export function whatsappMedium(id: string, account: WhatsAppAccount): MediaSource | undefined {
  if (!/^\d{1,64}$/.test(id)) return undefined;
  return {
    id,
    target: async (signal) => {
      const options = { timeoutMs: 30_000, signal };
      const { data } = linkSchema.safeParse(await callGraph(account, `/${id}`, options));
      const target = data && targetOf(data.url, account);
      if (target === undefined) throw new ProviderFailed('never', 'url_refused');
      return target;
    },
    credential: { token: account.accessToken },
    redirect: (location, from) => targetOf(location, account, from),
  };
}

function targetOf(
  value: string,
  { apiBaseUrl }: Pick<WhatsAppAccount, 'apiBaseUrl'>,
  from?: URL,
): MediaTarget | undefined {
  if (value.length > 8192 || !URL.canParse(value, from?.href)) return undefined;
  const url = new URL(value, from);
  if (url.username !== '' || url.password !== '') return undefined;
  if (url.origin === `https://${HOST}`) return { url, trusted: false };
  const isReplaced = apiBaseUrl !== undefined && url.origin === new URL(apiBaseUrl).origin;
  return isReplaced && url.hostname !== 'graph.facebook.com' ? { url, trusted: true } : undefined;
}
