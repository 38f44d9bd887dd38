import { basename, dirname, join, relative } from 'node:path';
import type { CompleteConfig } from '../config/complete.ts';
import type { ShopConfig } from '../config/config.ts';
import type { Addresses } from '../gateway/start.ts';
import { quote } from './quote.ts';
import { SAMPLE_NUMBER, SAMPLE_QUESTION, SAMPLE_SENDER } from './send.ts';
import { reachable } from '../runtime/ip-addresses.ts';
import {
  signedWebhook,
  SMS_PATH,
  type TwilioNumbers,
} from '../gateway/sample-messages/sms-webhook.ts';

export interface BannerOptions {
  /** The path by which the program was started: `process.argv[1]`. */
  readonly program?: string;
  readonly file?: string;
  /** The password was configured rather than generated at the first start. */
  readonly isPasswordConfigured?: boolean;
}

/**
 * What `serve` prints when all listeners are open: their addresses, and a command to try each
 * channel.
 */
export function banner(
  config: CompleteConfig,
  addresses: Addresses,
  options: BannerOptions = {},
): string {
  const configOption = options.file === undefined ? '' : ` --config ${quote(options.file)}`;
  const command = `${programName(options.program)}${configOption}`;
  const sections = [listening(config, addresses)];
  if (config.demo) {
    sections.push(
      keys(config, options),
      ...tries(config, addresses, command),
      answers(config, command),
    );
  } else {
    if (options.isPasswordConfigured !== true) {
      const file = shown(join(config.dataDir, 'keys.json'));
      sections.push(`The console's password was generated: it is adminPassword in ${file}.`);
    }
    sections.push(`Send your own message: ${command} send email|sms|chat --help`);
  }
  return `\nSluice is ready.\n\n${sections.join('\n\n')}\n\n`;
}

/** What a shell runs: a clone's file, or the command that npm has installed into a project or for everyone. */
function programName(path = ''): string {
  if (basename(path) !== 'sluice') return 'node dist/main.js';
  return dirname(path).endsWith('node_modules/.bin') ? 'npx sluice' : 'sluice';
}

function listening(config: CompleteConfig, addresses: Addresses): string {
  const { smtp, http, admin, platform } = addresses;
  const all = (of: (shop: ShopConfig) => readonly string[] | undefined) =>
    config.shops.flatMap((shop) => of(shop) ?? []).join(', ');
  const rows: [string, string, string][] = [];
  const addRow = (channel: string, url: string, what: string): void => {
    if (what !== '') rows.push([channel, url, what]);
  };
  if (smtp) {
    const scheme = config.smtp.lmtp ? 'lmtp' : 'smtp';
    addRow(
      'email',
      `${scheme}://${reachable(smtp)}`,
      all((shop) => shop.email?.addresses),
    );
  }
  if (http) {
    const base = `http://${reachable(http)}`;
    for (const [provider, channel, path] of WEBHOOKS) {
      const numbersOf = ({ sms }: ShopConfig) => (sms?.[provider] ? sms.numbers : undefined);
      addRow(channel, base + path, all(numbersOf));
    }
    addRow(
      'chat',
      `${base}/chat`,
      all((shop) => shop.chat && [`key ${shop.chat.key}`]),
    );
  }
  if (admin) rows.push(['admin', `http://${reachable(admin)}`, 'the console; health, metrics']);
  if (platform) rows.push(['platform', platform.url, 'the local platform; its API: /reference']);
  const width = Math.max(...rows.map(([, url]) => url.length));
  return rows
    .map(([name, url, what]) => `  ${name.padEnd(9)} ${url.padEnd(width)}  ${what}`.trimEnd())
    .join('\n');
}

const WEBHOOKS = [
  ['twilio', 'SMS', SMS_PATH],
  ['telnyx', 'SMS', '/sms/telnyx'],
  ['whatsappCloud', 'WhatsApp', '/sms/whatsapp'],
] as const;

function keys(config: CompleteConfig, { isPasswordConfigured }: BannerOptions): string {
  // A configured password must not be readable in a log.
  const password = isPasswordConfigured ? '(as configured)' : config.admin.password.reveal();
  const [shop] = config.shops;
  const lines = [
    `Keys of the demo shop, generated at the first start and stored in ${shown(config.dataDir)}:`,
    `  admin password      ${password}`,
  ];
  if (shop !== undefined) {
    lines.push(
      `  platform shop id    ${shop.shopId}`,
      `  platform API key    ${shop.apiKey.reveal()}`,
    );
  }
  const twilio = shop?.sms?.twilio;
  if (twilio !== undefined) {
    lines.push(
      `  Twilio account sid  ${twilio.accountSid}`,
      `  Twilio auth token   ${twilio.authTokens[0]?.reveal() ?? ''}`,
    );
  }
  return lines.join('\n');
}

function tries(config: CompleteConfig, addresses: Addresses, command: string): string[] {
  const [shop] = config.shops;
  const sections: string[] = [];
  const inbox = shop?.email?.addresses[0];
  if (addresses.smtp && inbox !== undefined && !config.smtp.lmtp) {
    const server = reachable(addresses.smtp);
    sections.push(`Send an email:\n  ${curlEmail(server, inbox)}\nor\n  ${swaks(server, inbox)}`);
  }
  if (addresses.http && shop?.sms?.twilio !== undefined) {
    const { numbers, twilio } = shop.sms;
    const base = `http://${reachable(addresses.http)}`;
    sections.push(
      `Send an SMS (this line works once; then use: ${command} send sms "Hello"):\n  ${curlSms(config, { numbers, twilio }, base)}`,
    );
  }
  if (addresses.http && shop?.chat !== undefined) {
    const page = `http://${reachable(addresses.http)}/demo`;
    sections.push(
      `Chat: open ${page} in a browser, or\n  ${command} send chat ${quote(SAMPLE_QUESTION, '"')}`,
    );
  }
  return sections;
}

/** The shell generates the Message-ID, because a repeated message would be a duplicate. */
function curlEmail(server: string, inbox: string): string {
  const message = [
    `From: Ada <${SAMPLE_SENDER}>`,
    `To: ${inbox}`,
    `Subject: ${SAMPLE_QUESTION}`,
    'Message-ID: <%s@customer.example>',
    '',
    'Hello, where is my order 1001?',
    '',
  ].join('\\r\\n');
  return (
    `printf '${message}' "$(date +%s)" | curl -sS smtp://${server} ` +
    `--mail-from ${SAMPLE_SENDER} --mail-rcpt ${inbox} --upload-file -`
  );
}

function swaks(server: string, inbox: string): string {
  return (
    `swaks --server ${server} --from ${SAMPLE_SENDER} --to ${inbox} ` +
    `--header ${quote(`Subject: ${SAMPLE_QUESTION}`)} --body 'Hello, where is my order 1001?'`
  );
}

function curlSms(config: CompleteConfig, sms: TwilioNumbers, base: string): string {
  const { params, signature } = signedWebhook(sms, config.http.publicUrl, {
    from: SAMPLE_NUMBER,
    body: SAMPLE_QUESTION,
  });
  const data = Object.entries(params).map(
    ([name, value]) => `--data-urlencode ${quote(`${name}=${value}`)}`,
  );
  return `curl -sS ${base}${SMS_PATH} -H 'X-Twilio-Signature: ${signature}' ${data.join(' ')}`;
}

function answers(config: CompleteConfig, command: string): string {
  const outbox = shown(join(config.dataDir, 'platform', 'outbox'));
  return (
    `Replies by email and SMS are written to ${outbox}, chat replies to the terminal.\n` +
    `List messages: ${command} queue list    Stop: Ctrl-C`
  );
}

/** A relative path, if it is shorter. */
function shown(path: string): string {
  const near = relative(process.cwd(), path);
  return near !== '' && !near.startsWith('..') ? near : path;
}
