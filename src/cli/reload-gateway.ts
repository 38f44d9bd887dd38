import type { Command } from 'commander';
import { reloadResult } from '../console/server/reference/status-answers.ts';
import { askGateway } from '../operations/running-gateway.ts';
import { counted } from '../runtime/amounts.ts';
import { isServed } from '../spool/locks.ts';
import { gatewayProcess } from '../spool/data-folder.ts';
import { configuration } from './configuration.ts';
import { CommandFailed } from './exit-codes.ts';
import { document } from './json.ts';
import { doesNotAnswer } from './known-state.ts';
import { operatorName } from './open-spool.ts';
import { printable, type Terminal } from './terminal.ts';

export interface ReloadOptions {
  readonly json?: true;
}

const WITHIN_MS = 15_000;

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
  const pid = isServed(dataDir) ? gatewayProcess(dataDir) : undefined;
  if (pid === undefined) {
    throw new CommandFailed('no gateway of this machine is running on this data folder');
  }
  const asked = await askGateway(dataDir, {
    ...{ method: 'POST', path: '/configuration/reload', answer: reloadResult },
    ...{ user: operatorName(terminal.env), within: WITHIN_MS },
  });
  if (asked.kind === 'silent') throw doesNotAnswer(dataDir);
  if (asked.kind !== 'answered') {
    throw new CommandFailed(
      `the gateway cannot be asked (${asked.why}): run the command as its user, when it has started; or: kill -HUP ${pid}`,
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
  terminal.out(`Reloaded: ${outcome}.\n`);
  if (result.needsRestart.length > 0) {
    terminal.out(
      `${counted(result.needsRestart.length, 'setting')} changed that ${result.needsRestart.length === 1 ? 'needs' : 'need'} a restart: ${result.needsRestart.join(', ')}\n`,
    );
  }
}
