import type { IncomingMessage } from 'node:http';
import type { ChatStore } from '../../../spool/chat-store.ts';
import type { ChatShop } from '../shop.ts';
import type { ErrorWord } from '../events.ts';
import { Origins } from '../shop.ts';
import { isCurrent } from '../recognition.ts';
import type { TokenBearer, VisitorTokens } from '../recognition.ts';

/** The bearer of the token in a file request. */
export interface UploadBearer extends TokenBearer {
  readonly shop: ChatShop;
}

/** A response other than the file. */
export class Answer extends Error {
  override name = 'Answer';
  readonly status: number;
  readonly word: ErrorWord | 'unsupported' | 'origin' | 'not_found';
  readonly retryAfter: number | undefined;
  constructor(status: number, word: Answer['word'], retryAfter?: number) {
    super(word);
    this.status = status;
    this.word = word;
    this.retryAfter = retryAfter;
  }
}

/** @throws {Answer} 401 without a valid token, 403 from another site's page */
export function bearerOf(
  {
    tokens,
    shops,
  }: { readonly tokens: VisitorTokens; readonly shops: ReadonlyMap<string, ChatShop> },
  request: IncomingMessage,
): UploadBearer {
  const token = /^Bearer ([\w.-]+)$/i.exec(request.headers.authorization ?? '')?.[1];
  const bearer = token === undefined ? undefined : tokens.verify(token);
  const shop = bearer && shops.get(bearer.widgetKey);
  if (bearer === undefined || shop === undefined) throw new Answer(401, 'unauthorized');
  if (!Origins.admits(shop, request.headers.origin)) throw new Answer(403, 'origin');
  return { ...bearer, shop };
}

/** @throws {Answer} 401: the token belongs to a guest who is now identified */
export async function assertCurrent(
  { store }: { readonly store: ChatStore },
  bearer: UploadBearer,
): Promise<void> {
  const record = await store.visitor(bearer.shop.shopId, bearer.visitorId);
  if (!isCurrent(bearer, record)) throw new Answer(401, 'unauthorized');
}
