import { z } from 'zod';
import { type ApiOptions, callProvider } from '../requests.ts';
import type { TelnyxAccount } from './account.ts';
import { errorCode } from './event.ts';

const API = 'https://api.telnyx.com';

export interface TelnyxCall {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** The members of the JSON object that is sent. */
  readonly data?: object;
  readonly params?: Readonly<Record<string, string>>;
}

/** One call of the API version 2. @throws {ProviderFailed} */
export async function callTelnyx(
  { apiKey, apiBaseUrl = API }: Pick<TelnyxAccount, 'apiKey' | 'apiBaseUrl'>,
  { method, path, data, params }: TelnyxCall,
  options: ApiOptions,
): Promise<object> {
  const { body } = await callProvider(
    {
      ...{ method, data, params },
      url: `${apiBaseUrl.replace(/\/+$/, '')}/v2${path}`,
      credential: { token: apiKey },
      headers: { Accept: 'application/json' },
    },
    options,
    codeIn,
  );
  return body;
}

const refusalSchema = z.object({ errors: z.array(z.object({ code: errorCode })).min(1) });

/** Telnyx's error code, of the first error in a refusal (Telnyx, "API errors"). */
const codeIn = (body: object): string | undefined =>
  refusalSchema.safeParse(body).data?.errors[0]?.code;
