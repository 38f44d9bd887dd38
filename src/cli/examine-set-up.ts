import type { Command } from 'commander';
import { completeFromExisting } from '../config/complete.ts';
import type { Config } from '../config/config.ts';
import { UninitializedDataFolder } from '../config/uninitialized-data-folder.ts';
import { UnusableKeys } from '../config/secret-file.ts';
import type { CheckName, CheckResult } from '../operations/doctor/check.ts';
import { examine, providersOf } from '../operations/doctor/doctor.ts';
import { urlToSet } from '../operations/doctor/public-url.ts';
import { doctorTargets, type DoctorShops } from '../gateway/doctor-targets.ts';
import { inspectDataFolder } from '../spool/data-folder.ts';
import { configuration } from './configuration.ts';
import { CommandFailed } from './exit-codes.ts';
import { document } from './json.ts';
import { printable, type Terminal } from './terminal.ts';

export interface DoctorOptions {
  readonly only?: readonly CheckName[];
  readonly fix?: true;
  readonly json?: true;
}

const TIMEOUT_MS = 15_000;

/**
 * `doctor`: runs all checks, or the requested ones.
 * @throws {CommandFailed} a check failed
 */
export async function examineSetUp(
  options: DoctorOptions,
  command: Command,
  terminal: Terminal,
): Promise<void> {
  const { config } = configuration(command, terminal);
  // Before the keys are read, because reading them restores their file modes.
  const dataFolder = inspectDataFolder(config.dataDir, Date.now());
  const targets = doctorTargets(config, await shopsOf(config), undefined, () => dataFolder);
  const results = await examine(targets, {
    ...(options.only && { only: options.only }),
    fix: options.fix === true,
    timeoutMs: TIMEOUT_MS,
    clock: Date.now,
  });
  const webhooks = providersOf(targets).map((provider) => ({
    provider: provider.title,
    how: provider.how,
    url: urlToSet(targets.publicUrl, provider),
  }));
  terminal.out(options.json ? json(results, webhooks) : lines(results, webhooks));
  const failed = count(results, 'failed');
  if (failed > 0) throw new CommandFailed(`${failed} of ${results.length} checks failed`);
}

/**
 * Includes the generated keys if there are any. Configured shops need none, so they can be checked
 * before the first start.
 */
async function shopsOf(config: Config): Promise<DoctorShops> {
  try {
    const { shops, demo } = await completeFromExisting(config);
    return { shops, demo };
  } catch (error) {
    // The check of the data folder reports what is wrong with it.
    if (!(error instanceof UninitializedDataFolder || error instanceof UnusableKeys)) throw error;
    return { shops: config.shops, demo: config.shops.length === 0 };
  }
}

const NOTHING_CHECKED =
  'Nothing was checked: the configuration has nothing that these checks are about.';

const count = (results: readonly CheckResult[], status: CheckResult['status']): number =>
  results.filter((result) => result.status === status).length;

/** The URL to set at a provider of texts. */
interface Webhook {
  readonly provider: string;
  readonly how: string;
  readonly url: string;
}

function json(results: readonly CheckResult[], webhooks: readonly Webhook[]): string {
  const [first] = webhooks;
  const failed = count(results, 'failed');
  const report = {
    ok: failed === 0,
    ...(first !== undefined && { webhookUrl: first.url }),
    ...(webhooks.length > 1 && { webhookUrls: webhooks.map(({ url }) => url) }),
    checks: results,
  };
  return document(report);
}

function lines(results: readonly CheckResult[], webhooks: readonly Webhook[]): string {
  const width = Math.max(0, ...results.map(({ check }) => check.length));
  const summary = (['ok', 'warning', 'failed', 'skipped'] as const)
    .map((status) => `${count(results, status)} ${status}`)
    .join(', ');
  const hasChecked = results.some(({ status }) => status !== 'skipped');
  const isAsked = results.some(({ check }) =>
    /^(?:public-url$|twilio|telnyx|whatsapp)/.test(check),
  );
  const toSet = (isAsked ? webhooks : [])
    .map(
      ({ provider, how, url }) =>
        `Webhook URL to set at ${provider} for every number${how}: ${url}\n`,
    )
    .join('');
  return printable(
    `${results.map((result) => line(result, width)).join('')}${hasChecked ? summary : NOTHING_CHECKED}\n${toSet}`,
  );
}

/** One line; for a warning or a failure also what was expected and what to do. */
function line(result: CheckResult, width: number): string {
  const { check, subject, status, expected, found, todo, copy, changed = [] } = result;
  const head = `${status.padEnd(7)}  ${check.padEnd(width)}  ${subject}: ${found}\n`;
  const indent = ' '.repeat(9);
  return [
    head,
    ...(status === 'warning' || status === 'failed' ? [`${indent}expected: ${expected}\n`] : []),
    ...(todo === undefined ? [] : [`${indent}to do: ${todo}\n`]),
    ...(copy === undefined ? [] : [`${indent}to enter: ${copy}\n`]),
    ...changed.map((each) => `${indent}changed ${each.setting}: ${each.before} -> ${each.after}\n`),
  ].join('');
}
