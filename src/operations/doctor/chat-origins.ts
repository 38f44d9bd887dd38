import type { GatewayStatus } from '../../observability/status.ts';
import { pagesRemedy } from '../conditions.ts';
import type { Asked } from '../running-gateway.ts';
import { type CheckResult, ofShops, resultsFor } from './check.ts';

/**
 * Whether pages show a shop's chat, and are not in its origins: at most 20 of each shop, as the
 * running gateway has seen them.
 * @param shops the names of those with a chat
 */
export const checkChatOrigins = (
  shops: readonly string[],
  asked: Asked<GatewayStatus['refusedPages']>,
): readonly CheckResult[] => shops.flatMap((shop) => ofShops([shop], [checkShop(shop, asked)]));

function checkShop(shop: string, asked: Asked<GatewayStatus['refusedPages']>): CheckResult {
  const expected = 'pages only of shops[].chat.origins';
  const { ok, skipped, warning } = resultsFor('chat-origins', shop, expected);
  if (asked.kind !== 'answered') return skipped(`what it refused is unknown: ${asked.why}`);
  const refused = asked.answer.filter((page) => page.shop === shop);
  const list = (isOwn: boolean): string =>
    refused.flatMap((page) => (page.isOwn === isOwn ? page.origin : [])).join(', ');
  const [own, others] = [list(true), list(false)];
  const notOwn = others === '' ? '' : `refused: ${others} (not yours, unless you know it)`;
  if (own === '') return ok(notOwn === '' ? 'no page was refused since the start' : notOwn);
  const found = `refused: ${own}${notOwn === '' ? '' : `; also ${notOwn}`}`;
  const remedy = pagesRemedy(own);
  return warning(found, remedy.charAt(0).toLowerCase() + remedy.slice(1, -1));
}
