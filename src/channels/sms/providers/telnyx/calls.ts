import { z } from 'zod';
import { type ApiOptions, callJsonApi, type JsonCall } from '../requests.ts';
import type { TelnyxAccount } from './account.ts';
import { errorCode } from './event.ts';

const API = 'https://api.telnyx.com';

export type TelnyxCall = Omit<JsonCall, 'baseUrl' | 'token'>;

/** One call of the API version 2. @throws {ProviderFailed} */
export const callTelnyx = (
  { apiKey: token, apiBaseUrl: baseUrl = API }: Pick<TelnyxAccount, 'apiKey' | 'apiBaseUrl'>,
  { path, ...call }: TelnyxCall,
  options: ApiOptions,
): Promise<object> => callJsonApi({ ...call, baseUrl, path: `/v2${path}`, token }, options, codeIn);

const refusalSchema = z.object({ errors: z.array(z.object({ code: errorCode })).min(1) });

/** Telnyx's error code, of the first error in a refusal (Telnyx, "API errors"). */
const codeIn = (body: object): string | undefined =>
  refusalSchema.safeParse(body).data?.errors[0]?.code;
