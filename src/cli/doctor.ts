import { readFileSync } from 'node:fs';
import { Option, type Command } from 'commander';
import { completeFromExisting, NeverStarted, type CompleteConfig } from '../config/complete.ts';
import type { Config } from '../config/config.ts';
import type { CheckResult } from '../doctor/check-result.ts';
import { CHECKS, examine, type CheckName, type Patient } from '../doctor/doctor.ts';
import { webhookUrl } from '../doctor/webhook-url.ts';
import { LOCAL } from '../gateway/platforms.ts';
import { smsShops } from '../gateway/shops.ts';
import { configuration } from './configuration.ts';
import { CommandFailed } from './exit-codes.ts';
import { printable, type Terminal } from './terminal.ts';

interface DoctorOptions {
  readonly only?: readonly CheckName[];
  readonly fix?: true;
  readonly json?: true;
}

const TIMEOUT_MS = 15_000;

const EXIT_CODES = `
Exit codes:
  0  nothing failed
  1  something failed
  2  a mistake on the command line or in the configuration`;

export function registerDoctor(parent: Command, terminal: Terminal): void {
  parent
    .command('doctor')
    .description('checks the outside: Twilio, the platform, MX record, certificate, disk, clock')
    .addOption(new Option('--only <name...>', 'only these checks').choices(CHECKS))
    .option('--fix', "sets at Twilio what is wrong with a number's webhook, and says what it was")
    .option('--json', 'for programs: an object with all checks')
    .addHelpText(
      'after',
      `\nWithout --fix nothing is changed.\n\nExample:\n` +
        `  $ sluice doctor --only twilio --config sluice.yaml\n${EXIT_CODES}`,
    )
    .action(async (options: DoctorOptions, command: Command) => {
      const { config } = configuration(command, terminal);
      const patient = patientOf(config, await shopsOf(config));
      const results = await examine(patient, {
        ...(options.only && { only: options.only }),
        fix: options.fix === true,
        timeoutMs: TIMEOUT_MS,
        clock: Date.now,
      });
      const url = patient.smsShops.length > 0 ? webhookUrl(patient.publicUrl) : undefined;
      terminal.out(options.json ? json(results, url) : lines(results, url));
      const failed = count(results, 'failed');
      if (failed > 0) throw new CommandFailed(`${failed} of ${results.length} checks failed`);
    });
}

type Shops = Pick<CompleteConfig, 'shops' | 'demo'>;

/** The configured shops need no generated key, so they can be checked before the first start. */
async function shopsOf(config: Config): Promise<Shops> {
  if (config.shops.length > 0) return { shops: config.shops, demo: false };
  try {
    return await completeFromExisting(config);
  } catch (error) {
    if (error instanceof NeverStarted) return { shops: [], demo: true };
    throw error;
  }
}

/** The demo shop has no account at Twilio and no domain: only its platform can be looked at. */
function patientOf(config: Config, { shops, demo }: Shops): Patient {
  const { smtp, http, dataDir } = config;
  const certFile = smtp.tls?.cert;
  return {
    publicUrl: http.publicUrl,
    smsShops: demo ? [] : smsShops({ shops }),
    platforms: shops.flatMap(({ name, shopId, apiKey, platformUrl = config.platform.url }) => {
      const embedded = platformUrl === LOCAL;
      const { port } = config.localPlatform;
      // On any free port nobody outside the gateway knows which.
      if (embedded && port === 0) return [];
      const baseUrl = embedded ? `http://127.0.0.1:${port}` : platformUrl;
      return [{ name, shopId, apiKey: apiKey.reveal(), baseUrl, embedded }];
    }),
    dataDir,
    maxMessageBytes: smtp.maxMessageBytes,
    ...(smtp.enabled && {
      mail: {
        hostname: smtp.hostname,
        domains: demo ? [] : domainsOf(shops),
        dnsServers: config.dns.servers,
        ...(certFile !== undefined && { certificate: readFileSync(certFile, 'utf8') }),
      },
    }),
  };
}

function domainsOf(shops: Shops['shops']): string[] {
  const addresses = shops.flatMap(({ email }) => email?.addresses ?? []);
  return [...new Set(addresses.map((address) => address.slice(address.lastIndexOf('@') + 1)))];
}

const count = (results: readonly CheckResult[], status: CheckResult['status']): number =>
  results.filter((result) => result.status === status).length;

function json(results: readonly CheckResult[], url: string | undefined): string {
  const failed = count(results, 'failed');
  const report = {
    ok: failed === 0,
    ...(url !== undefined && { webhookUrl: url }),
    checks: results,
  };
  return `${JSON.stringify(report, null, 2)}\n`;
}

function lines(results: readonly CheckResult[], url: string | undefined): string {
  const width = Math.max(0, ...results.map(({ check }) => check.length));
  const summary = (['ok', 'warning', 'failed', 'skipped'] as const)
    .map((status) => `${count(results, status)} ${status}`)
    .join(', ');
  const toSet = url === undefined ? '' : `To set at Twilio for every number, by POST: ${url}\n`;
  return printable(`${results.map((result) => line(result, width)).join('')}${summary}\n${toSet}`);
}

/** One line, and what was expected and what to do under it unless all is well. */
function line(result: CheckResult, width: number): string {
  const { check, subject, status, expected, found, todo, changed = [] } = result;
  const head = `${status.padEnd(7)}  ${check.padEnd(width)}  ${subject}: ${found}\n`;
  const indent = ' '.repeat(9);
  return [
    head,
    ...(status === 'warning' || status === 'failed' ? [`${indent}expected: ${expected}\n`] : []),
    ...(todo === undefined ? [] : [`${indent}to do: ${todo}\n`]),
    ...changed.map((each) => `${indent}changed ${each.setting}: ${each.before} -> ${each.after}\n`),
  ].join('');
}
