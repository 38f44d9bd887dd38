import { isIPv6 } from 'node:net';

export interface ReceivedFacts {
  readonly heloName: string;
  readonly remoteAddress: string;
  readonly hostname: string;
  /** `ESMTPS` and its kin (RFC 3848). */
  readonly protocol: string;
  readonly id: string;
  /** Set when the message has one recipient only: with more it would tell on the others. */
  readonly recipient?: string;
  readonly at: number;
}

/** The trace line of RFC 5321 §4.4, folded; nothing a client says can break out of it. */
export function receivedHeader(facts: ReceivedFacts): string {
  const { remoteAddress, recipient } = facts;
  const literal = isIPv6(remoteAddress) ? `[IPv6:${remoteAddress}]` : `[${remoteAddress}]`;
  const helo = facts.heloName.replace(/[^\w.:[\]-]/g, '?');
  const target =
    recipient === undefined ? '' : `\r\n\tfor <${recipient.replace(/[\s<>;\p{Cc}]/gu, '?')}>`;
  return (
    `Received: from ${helo === '' ? literal : helo} (${literal})\r\n` +
    `\tby ${facts.hostname} with ${facts.protocol} id ${facts.id}${target};\r\n` +
    `\t${rfc5322Date(facts.at)}`
  );
}

/** `Tue, 01 Jul 2025 10:00:00 +0000` (RFC 5322 §3.3). */
function rfc5322Date(at: number): string {
  return `${new Date(at).toUTCString().slice(0, -'GMT'.length)}+0000`;
}
