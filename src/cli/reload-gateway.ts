import type { Command } from 'commander';
import { reloadResult } from '../console/server/reference/status-answers.ts';
import { askGateway } from '../operations/running-gateway.ts';
import { counted } from '../runtime/amounts.ts';
import { isServed } from '../spool/locks.ts';
import { gatewayProcess } from '../spool/data-folder.ts';
import { configuration } from './configuration.ts';
import { CommandFailed } from './exit-codes.ts';
import { document } from './json.ts';
import { operatorName } from './open-spool.ts';
import { printable, type Terminal } from './terminal.ts';

export interface ReloadOptions {
  readonly json?: true;
}

const TIMEOUT_MS = 15_000;

/**
 * `reload`: has the running gateway read its configuration again, and prints the result.
 * @throws {ConfigurationRefused} the configuration of this command line has mistakes; the gateway is not asked
 * @throws {CommandFailed} no gateway runs, it refused, or it did not answer
 */
export async function reloadGateway(
  options: ReloadOptions,
  command: Command,
  terminal: Terminal,
): Promise<void> {
  const { dataDir } = configuration(command, terminal).config;
  const asked = await askGateway(dataDir, {
    ...{ method: 'POST', path: '/configuration/reload', answer: reloadResult },
    ...{ user: operatorName(terminal.env), timeoutMs: TIMEOUT_MS },
  });
  if (asked.kind !== 'answered') {
    const { kind, why } = asked;
    throw new CommandFailed(
      kind === 'absent'
        ? absent(dataDir)
        : `the gateway has not answered (${why}), and may still reload: see its log`,
    );
  }
  const { ok, ...result } = asked.answer;
  const outcome = 'changed' in result ? `${result.changed.length} changed` : 'refused';
  if (options.json) terminal.out(document({ ok, outcome, ...result }));
  if ('mistakes' in result) {
    throw new CommandFailed(
      `the gateway refused the configuration:\n${result.mistakes.map(printable).join('\n')}`,
    );
  }
  if (options.json) return;
  terminal.out(`Reloaded: ${outcome}${listed(result.changed)}.\n`);
  const { needsRestart } = result;
  if (needsRestart.length > 0) {
    const verb = needsRestart.length === 1 ? 'needs' : 'need';
    terminal.out(
      `${counted(needsRestart.length, 'other changed setting')} ${verb} a restart${listed(needsRestart)}.\n`,
    );
  }
}

const MAX_LISTED = 20;

function listed(paths: readonly string[]): string {
  if (paths.length === 0) return '';
  const more = paths.length > MAX_LISTED ? ' and others' : '';
  return `: ${paths.slice(0, MAX_LISTED).join(', ')}${more}`;
}

function absent(dataDir: string): string {
  const pid = isServed(dataDir) ? gatewayProcess(dataDir) : undefined;
  return pid === undefined
    ? 'no gateway of this machine is running on this data folder'
    : `the gateway does not take commands yet, or its data folder takes no sockets; to reload it all the same: kill -HUP ${pid}`;
}
