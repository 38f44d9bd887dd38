import { z } from 'zod';
import { ProviderFailed } from '../../channels/sms/providers/requests.ts';
import type { WhatsAppAccount } from '../../channels/sms/providers/whatsapp-cloud/account.ts';
import { callGraph } from '../../channels/sms/providers/whatsapp-cloud/calls.ts';
import {
  GRAPH_API,
  GRAPH_VERSIONS,
} from '../../channels/sms/providers/whatsapp-cloud/graph-versions.ts';
import { counted } from '../../runtime/amounts.ts';
import { type CheckResult, resultsFor } from './check.ts';
import { calledUrl, shownUrl, WHATSAPP } from './public-url.ts';

/** A shop with numbers at Meta. */
export interface WhatsAppShop {
  readonly name: string;
  readonly whatsapp: WhatsAppAccount;
}

export interface WhatsAppCheckOptions {
  readonly publicUrl: string;
  /** For one call. */
  readonly timeoutMs: number;
  /** In milliseconds since the epoch. */
  readonly now: number;
}

const DAY_MS = 86_400_000;
/** Time to install a release for another version. */
const WARN_DAYS = 90;
const UNKNOWN = 'sms.whatsappCloud.baseUrl ends in no version whose end Sluice knows';

/**
 * Of a number (Meta, "Business phone numbers", "Webhook overrides"): a URL of the number comes
 * before one of the account, and that one before the URL of the app.
 */
const numberSchema = z.object({
  display_phone_number: z.string().catch(''),
  webhook_configuration: z
    .object({
      phone_number: z.string().optional(),
      whatsapp_business_account: z.string().optional(),
      application: z.string().optional(),
    })
    .catch({}),
});
const PATH = '?fields=display_phone_number,webhook_configuration';

/**
 * Checks the version of the API that one shop calls, its access token, the ids of its numbers, and
 * where Meta sends their messages. Nothing is changed. App secrets and the verify token cannot be
 * checked: the API does not say them.
 */
export async function checkWhatsAppShop(
  { name, whatsapp }: WhatsAppShop,
  { publicUrl, timeoutMs, now }: WhatsAppCheckOptions,
): Promise<CheckResult[]> {
  const results = [checkVersion(name, whatsapp, now)];
  for (const { number, phoneNumberId } of whatsapp.senders) {
    const subject = `${name} ${number}`;
    try {
      const answer = await callGraph(whatsapp, `/${phoneNumberId}${PATH}`, { timeoutMs });
      results.push(...checkNumber(subject, number, numberSchema.parse(answer), publicUrl));
    } catch (error) {
      // Anything else is a bug.
      if (!(error instanceof ProviderFailed)) throw error;
      results.push(failedNumber(subject, error));
    }
  }
  return results;
}

function checkVersion(
  shop: string,
  { apiBaseUrl = GRAPH_API }: WhatsAppAccount,
  now: number,
): CheckResult {
  const { ok, skipped, warning, failed } = resultsFor(
    'whatsapp.version',
    shop,
    `a version of the Graph API that Meta serves for ${WARN_DAYS} more days`,
  );
  const version = apiBaseUrl.replace(/\/$/, '').split('/').at(-1) ?? '';
  if (!GRAPH_VERSIONS.has(version)) return skipped(UNKNOWN);
  const ends = GRAPH_VERSIONS.get(version);
  if (ends === undefined) return ok(`${version}; Meta has not said when it ends`);
  const todo =
    'install a later release of Sluice; until then set sms.whatsappCloud.baseUrl to a later version';
  const days = Math.floor((Date.parse(ends) - now) / DAY_MS);
  if (days < 0) return failed(`${version} ended on ${ends}`, todo);
  const found = `${version} ends on ${ends}`;
  const left = days === 0 ? 'today' : `in ${counted(days, 'day')}`;
  return days < WARN_DAYS ? warning(`${found}, ${left}`, todo) : ok(found);
}

const numberResults = (subject: string) =>
  resultsFor('whatsapp.number', subject, 'a phone number ID that the access token may read');

function failedNumber(subject: string, failure: ProviderFailed): CheckResult {
  const { kind, status, code, message } = failure;
  const { failed } = numberResults(subject);
  if (status === undefined) {
    const todo = 'check that this machine can reach sms.whatsappCloud.baseUrl';
    return failed(`no response from Meta (${code ?? message})`, todo);
  }
  const found = `Meta responded with ${status}${code === undefined ? '' : ` (error ${code})`}`;
  if (kind === 'later') return failed(found, 'try again later');
  return failed(
    found,
    kind === 'credentials'
      ? 'set sms.whatsappCloud.accessToken to a token of a system user with whatsapp_business_messaging and whatsapp_business_management'
      : "set sms.whatsappCloud.phoneNumberIds to the ids in Meta's WhatsApp Manager",
  );
}

function checkNumber(
  subject: string,
  number: string,
  { display_phone_number: shown, webhook_configuration: urls }: z.output<typeof numberSchema>,
  publicUrl: string,
): CheckResult[] {
  const { ok, failed } = numberResults(subject);
  const copy = calledUrl(publicUrl, WHATSAPP);
  const webhook = resultsFor('whatsapp.webhook', subject, copy);
  const url = urls.phone_number ?? urls.whatsapp_business_account ?? urls.application ?? '';
  return [
    `+${shown.replace(/\D/g, '')}` === number
      ? ok(shown)
      : failed(
          `the id is that of ${shown}`,
          'put sms.numbers and phoneNumberIds in the same order',
        ),
    url === copy
      ? webhook.ok(shownUrl(url))
      : {
          ...webhook.failed(
            url === '' ? 'no URL is set' : shownUrl(url),
            "set it in Meta's app dashboard, WhatsApp, Configuration, and subscribe to messages",
          ),
          copy,
        },
  ];
}
