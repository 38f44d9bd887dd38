import { generateKeyPairSync } from 'node:crypto';
import { dkimSign } from 'mailauth';
import { DnsServer } from '../../test/support/dns-server.ts';
import { type Email, type EmailKind, makeEmails, SENDER_DOMAIN } from './email-messages.ts';

const SELECTOR = 'bench';
const FAKE_SIGNATURE = /^DKIM-Signature:.*\r\n(?:[ \t].*\r\n)*/m;
/** Its RSA key is what most servers use. */
const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const KEY = {
  signingDomain: SENDER_DOMAIN,
  selector: SELECTOR,
  privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }),
};

/**
 * A name server that knows how the senders' domain sends: from this machine, signed, and no other
 * way; and one that knows no domain.
 */
export async function start() {
  const key = publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
  const server = await DnsServer.start({
    [`${SENDER_DOMAIN} TXT`]: ['v=spf1 ip4:127.0.0.1 -all'],
    [`_dmarc.${SENDER_DOMAIN} TXT`]: ['v=DMARC1; p=reject'],
    [`${SELECTOR}._domainkey.${SENDER_DOMAIN} TXT`]: [`v=DKIM1; k=rsa; p=${key}`],
  });
  const empty = await DnsServer.start({});
  return {
    address: () => server.address,
    emptyAddress: () => empty.address,
    make: makeSignedEmails,
  };
}

/** Messages, each signed; what they have in common is in memory once. */
async function makeSignedEmails(kind: EmailKind, count: number): Promise<Email[]> {
  const signed: Email[] = [];
  for (const { sender, chunks } of makeEmails(kind, count)) {
    // Only the first part has a header.
    const unsigned = chunks.map((chunk, part) => (part === 0 ? withoutSignature(chunk) : chunk));
    const { signatures, errors } = await dkimSign(Buffer.concat(unsigned), {
      ...KEY,
      canonicalization: 'relaxed/relaxed',
      // Without it the library reads the clock twice, and a signature made at the end of a second is wrong.
      signTime: new Date(),
      // Where the library looks for the key; its types have it one level above.
      signatureData: [KEY],
    });
    if (errors.length > 0) throw new Error('not signed', { cause: errors[0] });
    signed.push({ sender, chunks: [Buffer.from(signatures), ...unsigned] });
  }
  return signed;
}

const withoutSignature = (head: Buffer): Buffer =>
  Buffer.from(head.toString('latin1').replace(FAKE_SIGNATURE, ''), 'latin1');
