import { z } from 'zod';
import { type ApiOptions, callJsonApi, ProviderFailed } from '../requests.ts';
import type { WhatsAppAccount } from './account.ts';
import { GRAPH_API } from './graph-versions.ts';

const refusalSchema = z.object({ error: z.object({ code: z.number().transform(String) }) });

/**
 * One call of the Graph API: a POST if there are data, the members of a JSON object.
 * @throws {ProviderFailed}
 */
export async function callGraph(
  {
    accessToken: token,
    apiBaseUrl: baseUrl = GRAPH_API,
  }: Pick<WhatsAppAccount, 'accessToken' | 'apiBaseUrl'>,
  path: string,
  options: ApiOptions,
  data?: object,
): Promise<object> {
  const method = data === undefined ? 'GET' : 'POST';
  try {
    return await callJsonApi({ method, baseUrl, path, token, data }, options, codeIn);
  } catch (error) {
    throw error instanceof ProviderFailed ? byCode(error) : error;
  }
}

const codeIn = (refusal: object): string | undefined =>
  refusalSchema.safeParse(refusal).data?.error.code;

/** Overloaded, in maintenance, or above a rate: of the app, the number, or the pair of numbers. */
const LATER = /^(1|2|4|80007|130429|131000|131016|131048|131056|131057|133004)$/;
/** An operator can correct these: token, permission, payment, registration, a blocked account. */
const CREDENTIALS = /^(0|3|10|190|2\d\d|368|131005|131031|131042|131045|133010)$/;

/** Graph answers 400 to many of these (Meta, "WhatsApp error codes"), so the code decides. */
function byCode(failure: ProviderFailed): ProviderFailed {
  const { code, message, status, retryAfterMs } = failure;
  if (status === undefined) return failure;
  if (code === undefined) {
    // Not Graph's but a proxy's: it does not tell what Graph did.
    return status < 500 ? failure : new ProviderFailed('later', message, { code: message });
  }
  const kind = LATER.test(code) ? 'later' : CREDENTIALS.test(code) ? 'credentials' : failure.kind;
  return new ProviderFailed(kind, message, { status, code, retryAfterMs });
}
