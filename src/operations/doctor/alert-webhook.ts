import { get } from './answer.ts';
import { type CheckResult, verdicts } from './check-result.ts';

/**
 * Whether the host that alerts are posted to answers at all. Nothing is posted, and its URL, which
 * is a secret, is not shown. Any answer will do: a webhook refuses a GET.
 */
export async function checkAlertWebhook(
  url: string,
  timeoutMs: number,
  clock: () => number,
): Promise<CheckResult> {
  const { host, origin } = new URL(url);
  const { ok, failed } = verdicts('alerts', 'alerts.webhook.url', `${host} answers`);
  const answer = await get(`${origin}/`, timeoutMs, clock);
  return 'failure' in answer
    ? failed(
        `${host}: ${answer.failure}`,
        'correct alerts.webhook.url, and see that this machine may reach that host: alerts are lost until then',
      )
    : ok(`${host} answers`);
}

/** Nobody is told when something goes wrong. */
export function noAlerts(): CheckResult {
  const { warning } = verdicts('alerts', 'alerts', 'somebody is told when messages do not flow');
  return warning('nobody is told', 'give alerts.webhook.url, or alerts.email.to with a relay');
}
