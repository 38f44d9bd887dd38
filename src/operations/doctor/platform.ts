import { PlatformClient } from '../../platform-api/client.ts';
import { PlatformError } from '../../platform-api/errors.ts';
import { type CheckResult, verdicts } from './check.ts';

/** How a shop is known to its platform. */
export interface PlatformShop {
  readonly name: string;
  readonly shopId: string;
  readonly apiKey: string;
  readonly baseUrl: string;
  /** It is the embedded platform, which runs with the gateway and only then. */
  readonly embedded: boolean;
}

/** Whether the platform answers a harmless list call of this shop. */
export async function checkPlatform(shop: PlatformShop, timeoutMs: number): Promise<CheckResult> {
  const client = new PlatformClient({
    baseUrl: shop.baseUrl,
    apiKey: shop.apiKey,
    shopId: shop.shopId,
    requestTimeoutMs: timeoutMs,
    mediaTimeoutMs: timeoutMs,
  });
  try {
    await client.listContacts({ limit: 1 });
    return judgePlatform(shop, undefined);
  } catch (error) {
    if (error instanceof PlatformError) return judgePlatform(shop, error);
    throw error;
  } finally {
    client.close();
  }
}

/** @param error how the list call failed, if it did */
export function judgePlatform(
  shop: Pick<PlatformShop, 'name' | 'baseUrl' | 'embedded'>,
  error: Pick<PlatformError, 'code' | 'status'> | undefined,
): CheckResult {
  const { ok, skipped, failed } = verdicts(
    'platform',
    shop.name,
    `${shop.baseUrl} answers and accepts the key`,
  );
  if (error === undefined) return ok('reached, and the key is accepted');
  const { code, status } = error;
  if (code === 'network' && shop.embedded) {
    return skipped('the embedded platform runs with the gateway, which does not run now');
  }
  if (status === 401 || status === 403) {
    return failed(
      `${status}: refused`,
      "set the shop's shopId and apiKey as the dashboard has them",
    );
  }
  if (code === 'http' && status !== undefined && status < 500 && status !== 429) {
    return failed(`${status}: refused`, 'check platform.url or platformUrl: without /v2026-04');
  }
  if (code === 'http') return failed(`${status ?? ''}: trouble`, 'try again later');
  if (code === 'network' || code === 'timeout') {
    return failed(`no answer (${code})`, 'check platform.url or platformUrl, and the network');
  }
  return failed(
    `what answers is not the platform (${code})`,
    'check platform.url or platformUrl: something else answers there',
  );
}
