import { PlatformClient } from '../../platform-api/client.ts';
import { PlatformError } from '../../platform-api/errors.ts';
import { type CheckResult, resultsFor } from './check.ts';

/** A shop's credentials and URL at its platform. */
export interface PlatformShop {
  readonly name: string;
  readonly shopId: string;
  readonly apiKey: string;
  readonly baseUrl: string;
  /** Whether it is the embedded platform, which runs only within the gateway. */
  readonly embedded: boolean;
}

/** Whether the platform accepts a read-only list request of this shop. */
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

/** @param error the error of the list request, if it failed */
export function judgePlatform(
  shop: Pick<PlatformShop, 'name' | 'baseUrl' | 'embedded'>,
  error: Pick<PlatformError, 'code' | 'status'> | undefined,
): CheckResult {
  const { ok, skipped, failed } = resultsFor(
    'platform',
    shop.name,
    `${shop.baseUrl} responds and accepts the key`,
  );
  if (error === undefined) return ok('reachable; the key is accepted');
  const { code, status } = error;
  if (code === 'network' && shop.embedded) {
    return skipped('the embedded platform is not running, since the gateway is not');
  }
  if (status === 401 || status === 403) {
    return failed(
      `${status}: refused`,
      "set the shop's shopId and apiKey to the values in the dashboard",
    );
  }
  if (code === 'http' && status !== undefined && status < 500 && status !== 429) {
    return failed(
      `${status}: refused`,
      'check platform.url or platformUrl, which must not include /v2026-04',
    );
  }
  if (code === 'http')
    return failed(`${status ?? ''}: server error or rate limit`, 'try again later');
  if (code === 'network' || code === 'timeout') {
    return failed(`no response (${code})`, 'check platform.url or platformUrl, and the network');
  }
  return failed(
    `the response is not from the platform (${code})`,
    'check platform.url or platformUrl: another server responds there',
  );
}
