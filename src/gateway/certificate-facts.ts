import { X509Certificate } from 'node:crypto';
import type { Facts } from '../observability/facts.ts';

type CertificateFacts = NonNullable<Facts['certificate']>;

/** What is told of a PEM certificate: of a chain, of its first, which is the server's own. */
export function certificateFacts(pem: string): CertificateFacts {
  const certificate = new X509Certificate(pem);
  return {
    subject: hostOf(certificate),
    endsAt: Date.parse(certificate.validTo),
    // Not `checkIssued`: the gateway's own may sign nothing but what it says itself.
    selfSigned:
      certificate.issuer === certificate.subject && certificate.verify(certificate.publicKey),
  };
}

/** The first name that it is for: modern certificates have it among the alternatives only. */
function hostOf({ subject, subjectAltName = '' }: X509Certificate): string {
  const [, alternative] = /\b(?:DNS|IP Address):"?([^\s,"]+)/.exec(subjectAltName) ?? [];
  const [, common] = /^CN=(.+)$/m.exec(subject) ?? [];
  return alternative ?? common ?? '';
}

/** Parses a certificate once for as long as it is the same. */
export function rememberedCertificate(): (pem: string) => CertificateFacts {
  let last: { readonly pem: string; readonly facts: CertificateFacts } | undefined;
  return (pem) => {
    if (last?.pem !== pem) last = { pem, facts: certificateFacts(pem) };
    return last.facts;
  };
}
