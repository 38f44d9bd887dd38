import { isIP } from 'node:net';
import { canonicalDomain } from '../domain/email-addresses.ts';
import { type Cures, field } from './field.ts';
import { Secret } from './secret.ts';
import { withoutEnd } from '../runtime/without-end.ts';

const isHost = (value: string): boolean =>
  isIP(value) !== 0 ||
  (value.length <= 253 && /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9-]+)*$/i.test(value));

export const host = (example: string) =>
  field(
    {
      expected: 'a host name or an IP address, without a port',
      example,
      hint: (value) => {
        const [, bare = ''] =
          /^(?:\w{1,10}:\/\/)?\[?([a-z0-9.:-]{1,253}?)[.\]/]?$/i.exec(value) ?? [];
        return isHost(bare) ? (bare.includes(':') ? `"${bare}"` : bare) : undefined;
      },
      cures: [
        [
          /^[^:]{1,253}:\d{1,5}$/,
          'write what stands before the colon: the port has a key of its own',
        ],
      ],
    },
    (value) => (isHost(value) ? value : undefined),
  );

export const ipAddress = (example: string) =>
  field({ expected: 'an IP address, not a network', example }, (value) =>
    isIP(value) ? value : undefined,
  );

/** The address of a name server; the port is 53 by default. */
export const dnsServer = (example: string) =>
  field(
    {
      expected: 'an IP address, with :port if the port is not 53',
      example,
      cures: [
        [
          /^(?:https|tls|quic):|[a-z]\.[a-z]/i,
          'write the IP address of a name server: it is asked in plain DNS',
        ],
      ],
    },
    (value) => {
      if (isIP(value)) return value;
      const [, address = '', port] = /^(\[[^\]]*\]|[^:]*):(\d{1,5})$/.exec(value) ?? [];
      const version = isIP(address.replace(/^\[(.*)\]$/, '$1'));
      if (version === 0 || (version === 6) !== address.startsWith('[')) return undefined;
      return Number(port) > 0 && Number(port) < 65_536 ? value : undefined;
    },
  );

/** An address or a network in CIDR form (RFC 4632, RFC 4291 §2.3). */
function isNetwork(value: string): boolean {
  const [address = '', prefix, ...rest] = value.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  if (prefix === undefined) return true;
  return /^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128);
}

export const network = (example: string) =>
  field(
    {
      expected: 'an IP address or a network such as 10.0.0.0/8',
      example,
      hint: networkHint,
      cures: [
        [/^[\d.]{7,15}\s?-/, 'write the networks that the range consists of, each by itself'],
        [/[\d)][;\s]+[\d:]/, 'write each network as an item of its own'],
        [/^\*$/, 'name your own servers: whoever is trusted has no limits'],
        [
          /^[a-z][\w-]{0,62}(?:\.[\w-]{1,63})+$/i,
          'write its IP address: names are not looked up here',
        ],
      ],
    },
    (value) => (isNetwork(value) ? value : undefined),
  );

/** Of a netmask, a wildcard, or a name that other programs have. */
function networkHint(value: string): string | undefined {
  if (/^(?:localhost|loopback)$/i.test(value)) return '127.0.0.0/8';
  const [, address = '', mask = ''] =
    /^([\d.]{7,15})\/(\d{1,3}(?:\.\d{1,3}){3})$/.exec(value) ?? [];
  const bits = mask.split('.').map((byte) => Number(byte).toString(2).padStart(8, '0'));
  if (/^1+0*$/.test(bits.join(''))) return `${address}/${bits.join('').indexOf('0')}`;
  const fixed = /^(\d{1,3}(?:\.\d{1,3}){0,2})(?:\.\*)+$/.exec(value)?.[1]?.split('.') ?? [];
  const network = `${[...fixed, 0, 0, 0].slice(0, 4).join('.')}/${8 * fixed.length}`;
  return fixed.length > 0 && isNetwork(network) ? network : undefined;
}

/** A network, or a host name with a dot, which also stands for the hosts below it. */
export const forwarder = (example: string) =>
  field(
    {
      expected: 'a network such as 192.0.2.0/24, or a host name, with all hosts below it',
      example,
      hint: (value) => parseForwarder(value.replace(/^(?:\*?\.|\*?@)/, '')),
    },
    parseForwarder,
  );

function parseForwarder(value: string): string | undefined {
  if (isNetwork(value)) return value;
  const name = value.includes('.') && !/^[\d.]+$/.test(value) ? canonicalDomain(value) : undefined;
  return name !== undefined && !value.includes('@') ? name : undefined;
}

/** An `http` or `https` URL without credentials, query or trailing slash. */
export const httpUrl = (expected: string, example: string, cures: Cures = []) =>
  field({ expected, example, hint: urlHint, cures }, parseBaseUrl);

function parseBaseUrl(value: string): string | undefined {
  const url = cleanUrl(value);
  if (url === undefined || url !== withoutEnd(value, /\//)) return undefined;
  return OF_A_REQUEST.test(url) ? undefined : url;
}

/** What every path of an API adds to its base URL: the platform's version (API §9), Twilio's, a call of a model, traces. */
const OF_A_REQUEST =
  /\/v\d{4}-\d\d(?![\w-])[^]*|(?:\/(?:chat\/)?completions|\/v1\/traces|\/2010-04-01(?:\/Accounts)?)$/;

const urlHint = (value: string): string | undefined =>
  cleanUrl(value.includes('://') ? value : `https://${value}`)?.replace(OF_A_REQUEST, '');

export const platformUrl = () =>
  field(
    {
      expected: 'local, or the base URL of the platform without /v2026-04',
      example: 'https://api.example.com',
      hint: urlHint,
    },
    (value) => (value === 'local' ? value : parseBaseUrl(value)),
  );

const parseUrl = (value: string): URL | undefined =>
  URL.canParse(value) ? new URL(value) : undefined;

function cleanUrl(value: string): string | undefined {
  const url = parseUrl(value);
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.hostname === '') return undefined;
  if (url.username !== '' || url.password !== '' || value.includes('@')) return undefined;
  return `${url.origin}${withoutEnd(url.pathname, /\//)}`;
}

/** A web origin (RFC 6454 §6.2), exactly as a browser sends it. */
export const origin = () =>
  field(
    {
      expected: 'the origin of a web site: scheme and host, without a path',
      example: '"https://acme.example"',
      hint: (value) => {
        const url = cleanUrl(value.includes('://') ? value : `https://${value}`);
        // Browsers send `null` for a page that was opened as a file.
        return value === 'null' ? undefined : url && new URL(url).origin;
      },
      cures: [
        [/\*/, 'list each origin by itself: wildcards are not supported'],
        [/^\/|[\\^$()]/, 'list each origin by itself: patterns are not supported'],
      ],
    },
    (value) => {
      const url = cleanUrl(value);
      return url !== undefined && new URL(url).origin === value ? value : undefined;
    },
  );

/** Of an address or a URL that was given where a domain belongs. */
const hostIn = (value: string): string =>
  value
    .slice(value.lastIndexOf('@') + 1)
    .replace(/^https?:\/\//, '')
    .split('/', 1)[0] ?? '';

export const domain = (example: string) =>
  field(
    {
      expected: 'a domain name',
      example,
      hint: (value) => canonicalDomain(hostIn(value)),
    },
    (value) => (value.includes('@') ? undefined : canonicalDomain(value)),
  );

/** A password that its URL would read otherwise (RFC 3986 §2.1). */
const UNENCODED: Cures = [
  [/^\w{1,20}:\/\/[^/\s]{0,500}@[^/\s]{0,500}@/, 'write %40 for an @ in the password'],
  [
    /^\w{1,20}:\/\/(?:[^/\s@%]|%[0-9a-f]{2}){0,500}%(?![0-9a-f]{2})/i,
    'write %25 for a % in the password',
  ],
];

/** As libpq reads it, with one host or several: `postgres://user@one:5432,two:5432/db?…`. */
const POSTGRES_URL = /^postgres(?:ql)?:\/\/(?:[^@/\s#?]+@)?[^@/\s#?]+\/[^/?\s]+(?:\?\S*)?$/;

/** The embedded store, or a URL that may contain a password; it is a secret as a whole. */
export const spoolUrl = () =>
  field<'sqlite' | Secret>(
    {
      expected:
        'sqlite, whose place is dataDir, or a postgres:// URL with a host and the name of a database; special characters of the password %-encoded',
      example: 'postgres://sluice:password@db.example:5432/sluice',
      secret: true,
      shown: (value) => /^\w+:\/\//.exec(value)?.[0].concat(' and more (not shown)'),
      cures: [
        [
          /[?&]sslmode=(?!(?:disable|allow|prefer|require|verify-ca|verify-full|no-verify)(?:&|$))/,
          'write sslmode=require, verify-ca or verify-full',
        ],
        [/^jdbc:/, 'remove jdbc: before postgresql://'],
        [/^[\w.-]{1,253}(?::\d{1,5})?\/\w/, 'write postgres:// before it'],
        ...UNENCODED,
        [/^postgres(?:ql)?\+\w+:/, 'write postgresql://, without the name of a driver'],
        [/^(?:host|user|dbname)=/, 'write it as a URL: postgres://user:password@host:5432/name'],
        [
          /^(?:mysql|mariadb|mongodb|redis|mssql)/,
          'write sqlite, or a postgres:// URL: there is no other store',
        ],
        [
          /^(?:sqlite:|file:|\/|(?!postgres).{0,1000}\.(?:db|sqlite3?)$)/,
          'write sqlite: its files are in dataDir',
        ],
      ],
    },
    (value) =>
      value === 'sqlite' ? value : POSTGRES_URL.test(value) ? new Secret(value) : undefined,
  );

/** The names of buckets, and the parameters that the store knows. */
const S3_URL =
  /^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](?:\?(?:(?:endpoint|region)=[^&\s]+(?:&|$))+)?$/;

/** Where blobs of a shared store are. */
export const blobsUrl = () =>
  field(
    {
      expected:
        'postgres, or s3:// with the name of a bucket, and its endpoint and region if needed; its credentials are in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
      example: 's3://sluice-mail?region=eu-central-1',
      // Keys are written before its @ or into its query by mistake.
      besideSecret: true,
      shown: (value) =>
        /^(?:s3:\/\/|https?:\/\/|\/)[\w./:-]{1,100}$/.test(value)
          ? JSON.stringify(value)
          : undefined,
      cures: [
        [/^s3:\/\/[^/?]{1,100}\/./, 'write the bucket alone: it has no prefix'],
        [/^arn:aws:s3:::/, 'write s3:// and the name after the last colon'],
        [
          /^(?:gs:|https?:\/\/storage\.googleapis)/,
          'write s3://NAME?endpoint=https://storage.googleapis.com, with HMAC keys of the bucket',
        ],
        [
          /^(?:azure|wasbs?|abfss?):|\.blob\.core\.windows\.net/,
          'write postgres, or the URL of a bucket with the API of S3: this store has none',
        ],
        [/^(?:\.|\/|file:|\w+\/)/, 'write postgres, or the URL of a bucket: no folder is shared'],
        [/^https?:/, 'write s3:// and the name of the bucket, and after ?region= its region'],
        [
          /^s3:\/\/.{0,200}(?:@|[?&][\w-]{0,30}key)/i,
          'write it without keys: they are set as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
        ],
        [/[?&]endpoint=(?!https?(?::\/\/|%3A%2F%2F)[^/])/i, 'begin the endpoint with https://'],
      ],
    },
    (value) => (value === 'postgres' || S3_URL.test(value) ? value : undefined),
  );

/** A URL that may contain a password; it is a secret as a whole. */
export const relayUrl = () =>
  field(
    {
      expected:
        'smtp:// or smtps:// and a host, without a path; user and password only together, with special characters %-encoded',
      example: 'smtp://user:password@mail.example:587',
      secret: true,
      shown: (value) => /^(?:smtps?|https?):/.exec(value)?.[0].concat('// and more (not shown)'),
      cures: [
        ...UNENCODED,
        [/^https?:/, 'write smtp:// with the name of a mail server'],
        [/^smtp:\/\/\S{1,1000}:465\/?$/, 'write smtps:// with port 465'],
        [
          /^smtps:\/\/\S{1,1000}:(?:25|587)\/?$/,
          'write smtp:// with this port: TLS begins there with STARTTLS',
        ],
        [/^[\w.-]{1,253}(?::\d{1,5})?$/, 'write smtp:// before it'],
      ],
    },
    (value) => (isRelay(parseUrl(value)) ? new Secret(value) : undefined),
  );

function isRelay(url: URL | undefined): boolean {
  if (url === undefined || !/^smtps?:$/.test(url.protocol)) return false;
  if (!isHost(url.hostname.replace(/^\[|\]$/g, ''))) return false;
  if (!/^\/?$/.test(url.pathname) || url.search !== '' || url.hash !== '') return false;
  if ((url.username === '') !== (url.password === '') || url.port === '0') return false;
  return isEncoded(url.username) && isEncoded(url.password);
}

function isEncoded(text: string): boolean {
  try {
    // A line break in a user name could inject an SMTP command.
    return !/[\r\n\0]/.test(decodeURIComponent(text));
  } catch {
    return false;
  }
}
