import { z } from 'zod';
import { ProviderFailed } from '../../channels/sms/providers/requests.ts';
import type { TelnyxAccount } from '../../channels/sms/providers/telnyx/account.ts';
import { callTelnyx } from '../../channels/sms/providers/telnyx/calls.ts';
import { type CheckResult, resultsFor } from './check.ts';
import { calledUrl, shownUrl, TELNYX } from './public-url.ts';

/** A shop with numbers at Telnyx. */
export interface TelnyxShop {
  readonly name: string;
  readonly numbers: readonly string[];
  readonly telnyx: TelnyxAccount;
}

export interface TelnyxCheckOptions {
  readonly publicUrl: string;
  /** For one call. */
  readonly timeoutMs: number;
}

const numberSchema = z.object({
  data: z.object({ messaging_profile_id: z.string().nullish() }),
});
const profileSchema = z.object({
  data: z.object({
    name: z.string().catch(''),
    enabled: z.boolean().catch(true),
    webhook_url: z.string().nullish(),
    webhook_failover_url: z.string().nullish(),
    webhook_api_version: z.string().nullish(),
  }),
});
type Profile = z.output<typeof profileSchema>['data'];

/**
 * Checks the API key of one shop, and where Telnyx sends the texts of its numbers: to the webhook
 * of the messaging profile that a number is assigned to. Nothing is changed. The public key cannot
 * be checked: the API does not say it.
 */
export async function checkTelnyxShop(
  { name, numbers, telnyx }: TelnyxShop,
  options: TelnyxCheckOptions,
): Promise<CheckResult[]> {
  const { timeoutMs } = options;
  const get = (path: string): Promise<object> =>
    callTelnyx(telnyx, { method: 'GET', path }, { timeoutMs });
  const key = resultsFor('telnyx.api-key', name, 'accepted by Telnyx');
  try {
    await get('/messaging_profiles');
  } catch (error) {
    return [failedKey(key, failureIn(error))];
  }
  const results: CheckResult[] = [key.ok('accepted')];
  for (const number of numbers) {
    const { failed } = resultsFor('telnyx.number', `${name} ${number}`, PROFILE);
    try {
      results.push(...(await checkNumber(name, number, get, options.publicUrl)));
    } catch (error) {
      results.push(failed(shown(failureIn(error)), 'try again later'));
    }
  }
  return results;
}

const PROFILE = 'a number of the account with a messaging profile';

function failedKey(
  { failed }: ReturnType<typeof resultsFor>,
  failure: ProviderFailed,
): CheckResult {
  return failure.kind === 'credentials'
    ? failed(shown(failure), "set sms.telnyx.apiKey to a key from Telnyx's portal, API Keys")
    : failed(shown(failure), 'check that this machine can reach sms.telnyx.baseUrl');
}

/** @throws {ProviderFailed} */
async function checkNumber(
  shop: string,
  number: string,
  get: (path: string) => Promise<object>,
  publicUrl: string,
): Promise<CheckResult[]> {
  const { ok, failed } = resultsFor('telnyx.number', `${shop} ${number}`, PROFILE);
  let found: object;
  try {
    found = await get(`/messaging_phone_numbers/${encodeURIComponent(number)}`);
  } catch (error) {
    if (failureIn(error).status !== 404) throw error;
    const todo = 'add the number to this account, or correct sms.numbers and sms.telnyx.apiKey';
    return [failed('the account has no such number', todo)];
  }
  const id = numberSchema.safeParse(found).data?.data.messaging_profile_id ?? '';
  if (id === '') {
    const todo = "assign the number to a messaging profile in Telnyx's portal, My Numbers";
    return [failed('it has no messaging profile, so its texts are lost', todo)];
  }
  const profile = profileSchema.safeParse(await get(`/messaging_profiles/${id}`)).data?.data;
  if (profile === undefined) throw new ProviderFailed('later', 'unreadable');
  const title = `messaging profile ${profile.name || id}`;
  return [ok(title), ...checkProfile(`${shop} ${number}`, title, profile, publicUrl)];
}

const IN_THE_PORTAL =
  "set it in Telnyx's portal, Messaging, at the inbound settings of the profile";

function checkProfile(
  subject: string,
  title: string,
  profile: Profile,
  publicUrl: string,
): CheckResult[] {
  const copy = calledUrl(publicUrl, TELNYX);
  const webhook = resultsFor('telnyx.webhook', subject, copy);
  const failed = (found: string): CheckResult => ({
    ...webhook.failed(`${title}: ${found}`, IN_THE_PORTAL),
    copy,
  });
  const { webhook_url: url = '', webhook_failover_url: failover } = profile;
  const version = resultsFor('telnyx.version', subject, 'webhook API version 2');
  const fallback = resultsFor('telnyx.failover', subject, 'a second URL for failed webhooks');
  return [
    url === copy
      ? webhook.ok(shownUrl(url))
      : failed(url === '' || url === null ? 'no URL is set' : shownUrl(url)),
    profile.webhook_api_version === '2'
      ? version.ok('2')
      : version.failed(
          `${title}: version ${profile.webhook_api_version ?? 'unknown'}`,
          IN_THE_PORTAL,
        ),
    ...(profile.enabled ? [] : [failed('it is disabled')]),
    failover === copy
      ? fallback.ok(shownUrl(failover))
      : fallback.warning(
          `${title}: ${shownUrl(failover ?? '')}`,
          'set the same URL as failover URL, so that Telnyx tries three more times',
        ),
  ];
}

function failureIn(error: unknown): ProviderFailed {
  if (error instanceof ProviderFailed) return error;
  // Anything else is a bug.
  throw error;
}

function shown({ status, code, message }: ProviderFailed): string {
  if (status === undefined) return `no response from Telnyx (${code ?? message})`;
  return `Telnyx responded with ${status}${code === undefined ? '' : ` (error ${code})`}`;
}
