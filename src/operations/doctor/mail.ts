import { X509Certificate } from 'node:crypto';
import { promises as dns } from 'node:dns';
import { codeOf } from '../../runtime/error-code.ts';
import { type KeyPair, type PairTrouble, pairTroubles, WARN_DAYS } from '../../runtime/key-pair.ts';
import { type RelayOptions, relayTransport } from '../../runtime/relay-transport.ts';
import { type CheckResult, resultsFor } from './check.ts';

/** The hosts by preference, or the resolver's error code. */
export type MxAnswer = { readonly exchanges: readonly string[] } | { readonly failure: string };

/**
 * Whether an MX record directs the email of a domain to this gateway (RFC 5321 §5.1). At most a
 * warning, since mail forwarded by another server needs no MX record.
 */
export function checkMx(domain: string, hostname: string, answer: MxAnswer): CheckResult {
  const { ok, warning } = resultsFor('mx', domain, `an MX record that names ${hostname}`);
  if (hostname === 'localhost') {
    return warning(
      'smtp.hostname is localhost, which cannot be used in an MX record',
      'set smtp.hostname to the public host name of this machine',
    );
  }
  const todo =
    `add an MX record for ${domain} that names smtp.hostname (${hostname}); ` +
    'not needed if another server forwards its email to this gateway';
  const copy = `${domain}. IN MX 10 ${normalizedHost(hostname)}.`;
  if ('failure' in answer) return warning(`no response (${answer.failure})`, todo);
  const exchanges = answer.exchanges.map(normalizedHost);
  if (exchanges.includes(normalizedHost(hostname))) return ok(exchanges.join(', '));
  const found = exchanges.length === 0 ? 'no MX record' : exchanges.join(', ');
  return { ...warning(found, todo), copy };
}

const normalizedHost = (host: string): string => host.toLowerCase().replace(/\.$/, '');

/** @param servers the value of `dns.servers`; empty for those of the system */
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

/** Proposes forwarders: their mail counts as that of one sender, and soon gets no automatic answers. */
export function checkSources(
  find: (() => readonly { readonly shop: string; readonly network: string }[]) | undefined,
): CheckResult[] {
  const { warning } = resultsFor('mx', 'email.forwarders', 'the servers that forward mail to it');
  try {
    return (find?.() ?? []).map(({ shop, network }) => ({
      ...warning(
        `most email of ${shop} whose sender nothing confirms comes from ${network}`,
        `if that network forwards your mail, add it or its host name to email.forwarders of ${shop}; if not, somebody there sends forged mail`,
      ),
      shops: [shop],
    }));
  } catch (error) {
    return [
      warning(
        `the local platform's database cannot be read (${codeOf(error) || 'unknown'})`,
        'check who owns the files in the folder platform of dataDir',
      ),
    ];
  }
}

/**
 * Checks the files of `smtp.tls`.
 * @param pair undefined when none is configured; the gateway then generates a self-signed one
 */
export function checkCertificate(
  pair: KeyPair | PairTrouble | undefined,
  hostname: string,
  nowMs: number,
): CheckResult[] {
  const results = (of: keyof KeyPair) =>
    resultsFor(
      'certificate',
      `smtp.tls.${of}`,
      `a certificate for ${hostname} and its key, valid for ${WARN_DAYS} more days`,
    );
  const { ok, skipped } = results('cert');
  if (pair === undefined) {
    return [
      skipped(
        'not configured: a self-signed certificate is generated, which is sufficient for STARTTLS',
      ),
    ];
  }
  const troubles = pairTroubles(pair, hostname, nowMs);
  if (troubles.length === 0 && 'cert' in pair) {
    const endsAt = Date.parse(new X509Certificate(pair.cert).validTo);
    return [ok(`valid until ${new Date(endsAt).toISOString().slice(0, 10)}`)];
  }
  return troubles.map(({ kind, of, found, todo }) => {
    const { warning, failed } = results(of);
    return kind === 'doubtful' ? warning(found, todo) : failed(found, todo);
  });
}

/** A server for outgoing email. */
export interface RelayToCheck {
  /** Its configuration key: `localPlatform.replies.relay`. */
  readonly key: string;
  readonly options: RelayOptions;
}

/**
 * Whether a relay accepts a connection with its configured encryption and password. Sends no email.
 */
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

/** @param code nodemailer's error code; undefined for success */
export function judgeRelay(
  key: string,
  { host, port }: Pick<RelayOptions, 'host' | 'port'>,
  code: string | undefined,
): CheckResult {
  const where = `${host}:${port}`;
  const { ok, failed } = resultsFor('relay', key, `${where} accepts email`);
  switch (code) {
    case undefined:
      return ok(`${where} responds`);
    case 'EAUTH':
      return failed(
        `${where} refused the user name or password`,
        `correct the user and password in ${key}`,
      );
    case 'ETLS':
      return failed(
        `${where} does not offer trusted encryption`,
        `check that its certificate is valid, set relayCa for a private certificate authority, or correct relayTls`,
      );
    default:
      return failed(
        `${where} does not respond as a mail server (${code})`,
        `correct ${key}, and check that this machine can reach the port`,
      );
  }
}
