import { X509Certificate } from 'node:crypto';
import { type CheckResult, verdicts } from './check-result.ts';

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
