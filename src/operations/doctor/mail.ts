import { X509Certificate } from 'node:crypto';
import { promises as dns } from 'node:dns';
import { codeOf } from '../../runtime/error-code.ts';
import { type RelayOptions, relayTransport } from '../../runtime/relay-transport.ts';
import { type CheckResult, verdicts } from './check.ts';

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

const DAY_MS = 86_400_000;
/** Automatic renewals come a month before the end. */
const WARN_DAYS = 14;

/**
 * The certificate of `smtp.tls`.
 * @param pem undefined when none is configured: a self-signed one is made then
 */
export function checkCertificate(
  pem: string | undefined,
  hostname: string,
  nowMs: number,
): CheckResult {
  const { ok, skipped, warning, failed } = verdicts(
    'certificate',
    'smtp.tls.cert',
    `a certificate for ${hostname}, valid for ${WARN_DAYS} more days`,
  );
  if (pem === undefined) {
    return skipped('none is configured: a self-signed one is made, which is enough for STARTTLS');
  }
  const certificate = parse(pem);
  if (certificate === undefined) return failed('not a certificate', 'give a PEM file');
  const endsAt = Date.parse(certificate.validTo);
  const until = new Date(endsAt).toISOString().slice(0, 10);
  const days = Math.floor((endsAt - nowMs) / DAY_MS);
  const todo = 'renew it; a changed file is taken up without a restart';
  if (endsAt <= nowMs) return failed(`it ended on ${until}`, todo);
  if (Date.parse(certificate.validFrom) > nowMs) {
    return failed('it is not valid yet', 'check the clock, or use the certificate before it');
  }
  if (days < WARN_DAYS) return warning(`it ends on ${until}, in ${days} days`, todo);
  if (certificate.checkHost(hostname) === undefined) {
    return warning(
      `it is for other names than ${hostname}`,
      'get one for smtp.hostname, or set smtp.hostname to the name in it',
    );
  }
  return ok(`valid until ${until}`);
}

function parse(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}

/** A server through which email leaves. */
export interface RelayToCheck {
  /** The key that names it: `localPlatform.replies.relay`. */
  readonly key: string;
  readonly options: RelayOptions;
}

/** Whether a relay answers, with the encryption and the password that it is given. Sends nothing. */
export async function checkRelay(
  { key, options }: RelayToCheck,
  timeoutMs: number,
): Promise<CheckResult> {
  const timeouts = {
    connectMs: timeoutMs,
    greetingMs: timeoutMs,
    silenceMs: timeoutMs,
    totalMs: timeoutMs,
  };
  const transport = relayTransport({ ...options, timeouts });
  try {
    await transport.verify();
    return judgeRelay(key, options, undefined);
  } catch (error) {
    return judgeRelay(key, options, codeOf(error) || 'unknown');
  } finally {
    transport.close();
  }
}

/** @param code nodemailer's word for what went wrong, if anything did */
export function judgeRelay(
  key: string,
  { host, port }: Pick<RelayOptions, 'host' | 'port'>,
  code: string | undefined,
): CheckResult {
  const where = `${host}:${port}`;
  const { ok, failed } = verdicts('relay', key, `${where} takes our mail`);
  switch (code) {
    case undefined:
      return ok(`${where} answers`);
    case 'EAUTH':
      return failed(
        `${where} refuses the user name or password`,
        `correct the user and password in ${key}`,
      );
    case 'ETLS':
      return failed(
        `${where} offers no encryption that can be trusted`,
        `see that its certificate is valid, give relayCa for a private authority, or correct relayTls`,
      );
    default:
      return failed(
        `${where} does not answer as a mail server (${code})`,
        `correct ${key}, and see that this machine may reach that port`,
      );
  }
}
