import { z } from 'zod';
import type { MediaSource } from '../../provider.ts';
import { mediaTarget } from '../media-target.ts';
import { ProviderFailed } from '../requests.ts';
import type { WhatsAppAccount } from './account.ts';
import { callGraph } from './calls.ts';

/** Of the host to which Meta's links lead (Meta, "Media", "Download media"). */
const HOST = 'lookaside.fbsbx.com';
const API_HOST = 'graph.facebook.com';
const linkSchema = z.object({ url: z.string() });

/**
 * A medium by its id, which is valid for seven days. The API tells its link, which is valid for five
 * minutes and needs the token as well; it is sent to Meta's host only.
 */
export function whatsappMedium(id: string, account: WhatsAppAccount): MediaSource | undefined {
  if (!/^\d{1,64}$/.test(id)) return undefined;
  const { apiBaseUrl } = account;
  // The API's own host has no files: only a proxy in its place gives them.
  const isProxy = apiBaseUrl !== undefined && new URL(apiBaseUrl).hostname !== API_HOST;
  const replaced = isProxy ? apiBaseUrl : undefined;
  const targetOf = (link: string, from?: URL) =>
    mediaTarget(link, (host) => host === HOST, replaced, from);
  return {
    id,
    target: async (signal) => {
      const options = { timeoutMs: 30_000, signal };
      const { data } = linkSchema.safeParse(await callGraph(account, `/${id}`, options));
      const target = data && targetOf(data.url);
      if (target === undefined) throw new ProviderFailed('never', 'url_refused');
      return target;
    },
    credential: { token: account.accessToken },
    redirect: targetOf,
  };
}
