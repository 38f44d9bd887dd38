import type { Command } from 'commander';
import { gatewayProcess } from '../spool/data-folder.ts';
import { isServed } from '../spool/locks.ts';
import { configuration } from './configuration.ts';
import { CommandFailed } from './exit-codes.ts';
import { document } from './json.ts';
import { withSpool } from './open-spool.ts';
import { interruptible, type ProcessEvents } from './process-end.ts';
import type { Terminal } from './terminal.ts';
import { codeOf } from '../runtime/error-code.ts';
import { setTimeout as delay } from 'node:timers/promises';

export interface ReloadOptions {
  readonly json?: true;
}

const RESULT_WITHIN_MS = 15_000;
const LOOK_EVERY_MS = 100;
/** Other actions may be audited meanwhile. */
const LINES_READ = 50;

/**
 * `reload`: has the running gateway read its configuration again, waits for the result and prints it.
 * @throws {ConfigurationRefused} the configuration of this command line has mistakes; the gateway is not asked
 * @throws {CommandFailed} no gateway runs, it refused, or it did not answer
 */
export async function reloadGateway(
  options: ReloadOptions,
  command: Command,
  terminal: Terminal,
  events: ProcessEvents,
): Promise<void> {
  configuration(command, terminal);
  await withSpool(command, terminal, async ({ config, operator }) => {
    const pid = isServed(config.dataDir) ? gatewayProcess(config.dataDir) : undefined;
    if (pid === undefined) {
      throw new CommandFailed('no gateway of this machine is running on this data folder');
    }
    const [last] = await operator.auditLines({ limit: 1 });
    hangUp(pid);
    const outcome = await interruptible(events, async (signal) => {
      const until = performance.now() + RESULT_WITHIN_MS;
      while (performance.now() < until) {
        const lines = await operator.auditLines({ limit: LINES_READ });
        const own = lines.find(
          ({ no, who, action }) => no > (last?.no ?? 0) && who === 'signal' && action === 'reload',
        );
        if (own !== undefined) return own.outcome;
        await delay(LOOK_EVERY_MS, undefined, { signal });
      }
      return undefined;
    });
    const ok = outcome !== undefined && outcome !== 'refused';
    if (options.json) terminal.out(document({ ok, ...(outcome !== undefined && { outcome }) }));
    if (outcome === undefined) {
      throw new CommandFailed('the gateway has not answered; see its log');
    }
    if (!ok) {
      throw new CommandFailed('the gateway refused the configuration; its log has the mistakes');
    }
    if (!options.json) terminal.out(`Reloaded: ${outcome}.\n`);
  });
}

function hangUp(pid: number): void {
  try {
    process.kill(pid, 'SIGHUP');
  } catch (error) {
    throw new CommandFailed(
      codeOf(error) === 'EPERM'
        ? `this user may not signal the gateway (process ${pid}): run the command as the gateway's user`
        : `the gateway (process ${pid}) cannot be signalled: ${codeOf(error)}`,
      { cause: error },
    );
  }
}
