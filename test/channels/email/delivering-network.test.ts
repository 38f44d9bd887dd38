import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  createForwarders,
  deliveringNetwork,
} from '../../../src/channels/email/delivering-network.ts';
import {
  DNS_DEFAULTS,
  DnsResolver,
} from '../../../src/channels/email/authentication/dns-resolver.ts';
import { UNKNOWN_NETWORK } from '../../../src/platform-api/schemas.ts';
import type { EmailMeta } from '../../../src/channels/email/stored.ts';
import { DnsServer } from '../../support/dns-server.ts';

const BY = 'by mx.forwarder.example with ESMTPS id 1; Tue, 1 Jul 2025 10:00:00 +0000';

const meta = (more: Partial<EmailMeta>): EmailMeta => ({
  ...{ remoteAddress: '198.51.100.7', heloName: 'h', tls: false, trustedRelay: false },
  ...{ envelopeFrom: 'a@b.example', envelopeTo: [], agentContact: 's@acme.example' },
  ...{
    ourAddressesMatched: [],
    receivedHeader: 'Received: from h ([198.51.100.7])\r\n\tby mx with ESMTP id 1',
  },
  ...more,
});

const networkOf = (more: Partial<EmailMeta>, received?: string, forwarders: string[] = []) =>
  deliveringNetwork(meta(more), createForwarders(forwarders), () => Promise.resolve(received));

describe('the network', () => {
  test.each<[string, Partial<EmailMeta>, string]>([
    ['is that of the client', {}, '198.51.100.0/24'],
    ['is the /48 of IPv6', { remoteAddress: '2001:db8:1:2::3' }, '2001:db8:1::/48'],
    [
      'is not known of LMTP',
      { receivedHeader: 'Received: from x by y with LMTPS id 1' },
      UNKNOWN_NETWORK,
    ],
    [
      'is not known of POST /email/inbound',
      { trustedRelay: true, receivedHeader: 'Received: from x by y with HTTP id 1' },
      UNKNOWN_NETWORK,
    ],
    ['is not known of a command', { remoteAddress: 'ingest' }, UNKNOWN_NETWORK],
  ])('%s', async (_what, more, expected) => {
    expect(await networkOf(more, `from x ([8.8.8.8]) ${BY}`)).toBe(expected);
  });

  test.each<[string, string | undefined, string]>([
    ['Postfix', `from helo.example (mail.example [8.8.4.4]) ${BY}`, '8.8.4.0/24'],
    ['Postfix, IPv6', `from h (unknown [IPv6:2a00:1450:4001::1]) ${BY}`, '2a00:1450:4001::/48'],
    [
      'Postfix, a HELO that is an address',
      `from [1.1.1.1] (unknown [8.8.4.4]) ${BY}`,
      '8.8.4.0/24',
    ],
    ['Exim', `from [8.8.4.4] (helo=[1.1.1.1]) ${BY}`, '8.8.4.0/24'],
    ['Exim, with a name', `from mail.example ([8.8.4.4] helo=[1.1.1.1]) ${BY}`, '8.8.4.0/24'],
    ['qmail', `from unknown (HELO [1.1.1.1]) (8.8.4.4) ${BY}`, '8.8.4.0/24'],
    ['Exchange', `from a.outlook.com (2a01:111:f403::1) ${BY}`, '2a01:111:f403::/48'],
    ['sendmail', `from h (host.example [8.8.4.4] (may be forged)) ${BY}`, '8.8.4.0/24'],
    [
      'Postfix, addresses in a certificate',
      `from h (mail.example [8.8.4.4])\r\n\t(using TLSv1.3 with cipher X (256/256 bits))\r\n\t(Client CN "x[1.1.1.1]", Issuer "[1.1.1.1]" (not verified)) ${BY}`,
      '8.8.4.0/24',
    ],
    ['Exim, ident', `from mail.example ([8.8.4.4] ident=(1.1.1.1)) ${BY}`, '8.8.4.0/24'],
    [
      'Exim, ident in brackets',
      `from mail.example ([8.8.4.4] helo=h ident=[1.1.1.1]) ${BY}`,
      '8.8.4.0/24',
    ],
    [
      'Exim, ident of one without a name',
      `from [8.8.4.4] (helo=h ident=([1.1.1.1])) ${BY}`,
      '8.8.4.0/24',
    ],
    ['Exim, with ports', `from [8.8.4.4]:25 (port=25 helo=h) ${BY}`, '8.8.4.0/24'],
    ['Courier', `from h (unknown [::ffff:8.8.4.4]) ${BY}`, '8.8.4.0/24'],
    ['Yahoo', `from 8.8.4.4 (EHLO h) (8.8.4.4) ${BY}`, '8.8.4.0/24'],
    ['qmail, ident', `from unknown (HELO h) (a@1.1.1.1@8.8.4.4) ${BY}`, '8.8.4.0/24'],
    [
      'qmail, a HELO in parentheses',
      `from unknown (HELO (1.1.1.1)) (ident@8.8.4.4) ${BY}`,
      UNKNOWN_NETWORK,
    ],
    ['a HELO in parentheses', `from h (1.1.1.1) (unknown [8.8.4.4]) ${BY}`, UNKNOWN_NETWORK],
    ['a HELO alone', `from [1.1.1.1] ${BY}`, UNKNOWN_NETWORK],
    ['a private address', `from h ([10.1.2.3]) ${BY}`, UNKNOWN_NETWORK],
    ['no address', `by 10.1.2.3 with SMTP id 1; now`, UNKNOWN_NETWORK],
    ['an address after by', `from h by [8.8.4.4] with SMTP`, UNKNOWN_NETWORK],
    ['no line', undefined, UNKNOWN_NETWORK],
  ])('of a trusted relay is that of the hop before: %s', async (_program, line, expected) => {
    expect(await networkOf({ trustedRelay: true }, line)).toBe(expected);
    expect(await networkOf({}, line, ['198.51.100.0/24'])).toBe(expected);
    // Of anybody else, the line is what they say.
    expect(await networkOf({}, line, ['203.0.113.0/24'])).toBe('198.51.100.0/24');
  });
});

describe('a forwarder that is a host name', () => {
  let dns: DnsServer;
  beforeAll(async () => {
    dns = await DnsServer.start({
      '. NS': [],
      '7.100.51.198.in-addr.arpa PTR': ['out1.MAIL.host.example'],
      'out1.mail.host.example A': ['198.51.100.9', '198.51.100.7'],
      // Whoever has the address can say so; the name does not lead back.
      '8.100.51.198.in-addr.arpa PTR': ['out1.mail.host.example'],
      '9.100.51.198.in-addr.arpa PTR': ['mail.host.example.evil.example'],
      'mail.host.example.evil.example A': ['198.51.100.9'],
      '3.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.2.0.0.0.1.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa PTR': [
        'mail.host.example',
      ],
      'mail.host.example AAAA': ['2001:db8:1:2:0:0:0:3'],
    });
  });
  afterAll(() => dns.stop());

  test.each([
    ['198.51.100.7', '8.8.8.0/24'],
    ['2001:db8:1:2::3', '8.8.8.0/24'],
    ['198.51.100.8', '198.51.100.0/24'],
    ['198.51.100.9', '198.51.100.0/24'],
    ['198.51.100.10', '198.51.100.0/24'],
  ])('counts if reverse and forward DNS agree: %s', async (remoteAddress, expected) => {
    const resolver = new DnsResolver({ ...DNS_DEFAULTS, servers: [dns.address] }, Date.now);
    const network = await deliveringNetwork(
      meta({ remoteAddress }),
      createForwarders(['mail.host.example']),
      () => Promise.resolve(`from h ([8.8.8.8]) ${BY}`),
      (name, type) => resolver.resolve(name, type),
    );
    resolver.close();
    expect(network).toBe(expected);
  });
});
