import { promises as dns } from 'node:dns';
import { type CheckResult, verdicts } from './check-result.ts';
import { codeOf } from '../../runtime/error-code.ts';

/** Hosts by preference; a failure is the resolver's code. */
export type MxAnswer = { readonly exchanges: readonly string[] } | { readonly failure: string };

/**
 * Whether the internet's email for a domain comes to this gateway by itself (RFC 5321 §5.1). A
 * warning at most: mail that is forwarded here by another server needs no MX record.
 */
export function checkMx(domain: string, hostname: string, answer: MxAnswer): CheckResult {
  const { ok, warning } = verdicts('mx', domain, `an MX record that names ${hostname}`);
  if (hostname === 'localhost') {
    return warning(
      'smtp.hostname is localhost, which no MX record can name',
      'set smtp.hostname to the name under which the internet reaches this machine',
    );
  }
  const todo =
    `add an MX record for ${domain} that names smtp.hostname (${hostname}); ` +
    'nothing is to be done when another server forwards its email here';
  if ('failure' in answer) return warning(`no answer (${answer.failure})`, todo);
  const exchanges = answer.exchanges.map(bare);
  if (exchanges.includes(bare(hostname))) return ok(exchanges.join(', '));
  return warning(exchanges.length === 0 ? 'no MX record' : exchanges.join(', '), todo);
}

const bare = (host: string): string => host.toLowerCase().replace(/\.$/, '');

/** @param servers as `dns.servers` has them; empty for the system's */
export async function resolveMx(domain: string, servers: readonly string[]): Promise<MxAnswer> {
  const resolver = new dns.Resolver({ timeout: 2000, tries: 2 });
  if (servers.length > 0) resolver.setServers(servers);
  try {
    const records = await resolver.resolveMx(domain);
    const byPreference = records.toSorted((a, b) => a.priority - b.priority);
    return { exchanges: byPreference.map(({ exchange }) => exchange) };
  } catch (error) {
    const code = codeOf(error) || 'unknown';
    return code === 'ENODATA' || code === 'ENOTFOUND' ? { exchanges: [] } : { failure: code };
  }
}
