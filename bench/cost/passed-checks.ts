import { type Gateway, METRICS_TOKEN } from '../support/gateway.ts';

/** The number of emails whose SPF, DKIM and DMARC a gateway has checked, and all of them passed. */
async function passedChecks({ adminPort }: Gateway): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${adminPort}/metrics`, {
    headers: { authorization: `Bearer ${METRICS_TOKEN}` },
  });
  const metrics = await response.text();
  if (!response.ok) throw new Error(`the metrics were answered ${response.status}`);
  const counts = ['spf', 'dkim', 'dmarc'].map((method) => {
    const line = new RegExp(
      `^sluice_authenticated_total\\{method="${method}",result="pass"\\} (\\d+)$`,
      'm',
    );
    return Number(line.exec(metrics)?.[1] ?? 0);
  });
  return Math.min(...counts);
}

/** @throws unless this many emails passed all checks during the work */
export async function requirePassed<Value>(
  gateway: Gateway,
  emails: number,
  work: () => Promise<Value>,
): Promise<Value> {
  const before = await passedChecks(gateway);
  const result = await work();
  const passed = (await passedChecks(gateway)) - before;
  if (passed === emails) return result;
  throw new Error(`SPF, DKIM and DMARC passed for ${passed} of ${emails} emails`);
}
