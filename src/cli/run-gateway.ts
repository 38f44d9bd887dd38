import type { Command } from 'commander';
import { isatty } from 'node:tty';
import { checkPair } from '../config/certificate.ts';
import { completeConfig, stopDelayMs } from '../config/complete.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { Addresses } from '../gateway/start.ts';
import { configSource } from '../gateway/config-source.ts';
import { bugFields, errorFields, type Logger } from '../observability/logger.ts';
import { createLogger } from '../observability/winston-logger.ts';
import { withinMs } from '../runtime/clock.ts';
import { reachable } from '../runtime/ip-addresses.ts';
import { troubleInWords, unusable } from '../domain/trouble.ts';
import { systemTrouble, type TroubleContext } from '../runtime/system-trouble.ts';
import { banner } from './banner.ts';
import { commandsBeside } from './commands-beside.ts';
import { configFile, configuration } from './configuration.ts';
import { CommandFailed, EXIT } from './exit-codes.ts';
import { watchProcess, type ProcessEnd, type ProcessEvents } from './process-end.ts';
import type { Terminal } from './terminal.ts';
import { statSync } from 'node:fs';
import type { Config } from '../config/config.ts';
import { NEEDED_FOR, neededDescriptors } from '../gateway/needed-descriptors.ts';
import { descriptorLimit, descriptorShortage } from '../runtime/set-up-trouble.ts';
import { openFolderTrouble } from '../runtime/set-up-trouble.ts';
import { dataFolderTrouble } from '../spool/folder-access.ts';

/** A graceful stop that takes longer, after its delay, hangs; acknowledged messages are on the disk anyway. */
const STOP_DEADLINE_MS = 30_000;
/**
 * The same after the store has failed, when a delivery or the disk itself may hang, and after an unexpected
 * error, when nothing is known of the process any more.
 */
const FAILED_DEADLINE_MS = 1200;

/** `serve`: runs a gateway with a configuration until it ends. */
export async function runGateway(
  command: Command,
  terminal: Terminal,
  events: ProcessEvents,
): Promise<void> {
  const { config, warnings } = configuration(command, terminal);
  assertUsableFolder(config.dataDir);
  const complete = await completeConfig(config);
  const logger = createLogger(config.log);
  // Whoever reads JSON gets nothing else, but for the demo, whose banner has the keys to try it.
  const isForPrograms = config.log.format === 'json' && !complete.demo;
  for (const warning of [...warnings, ...setUpWarnings(config)]) {
    if (isForPrograms) logger.warn('config.warning', { warning });
    else terminal.err(`warning: ${warning}\n`);
  }
  const file = configFile(command);
  const named = file === undefined ? {} : { file };
  endWithNpm(terminal.env);
  const open = async () => {
    // Most of the gateway's modules are loaded here, after signal handlers are installed.
    const { createGateway } = await import('../gateway/gateway.ts');
    return createGateway({
      config: complete,
      logger,
      source: configSource({ env: terminal.env, ...named }),
      setLogLevel: (level) => logger.setLevel(level),
      ...(process.argv[1] !== undefined && { runBeside: commandsBeside(process.argv[1], file) }),
    });
  };
  await serve(open, logger, events, {
    context: { dataDir: config.dataDir, ports: portsOf(config) },
    stopDelayMs: stopDelayMs(config),
    onReady: (addresses) => {
      if (terminal.isQuiet === true || isForPrograms) return;
      terminal.out(
        banner(complete, addresses, {
          ...named,
          ...(process.argv[1] !== undefined && { program: process.argv[1] }),
          isPasswordConfigured: config.admin.password !== undefined,
        }),
      );
    },
    onRefused: (mistakes) => {
      if (!isForPrograms) {
        terminal.err(`The configuration was not reloaded:\n\n${mistakes.join('\n\n')}\n`);
        return;
      }
      for (const mistake of mistakes) logger.error('config.mistake', { mistake });
    },
    terminalHasGone: terminalWatch(),
  });
}

const portsOf = ({ smtp, http, admin, localPlatform }: Config) =>
  Object.fromEntries(
    Object.entries({ smtp, http, admin, localPlatform }).map(([door, { port }]) => [
      `${door}.port`,
      port,
    ]),
  );

/** How often to look whether npm is still there. */
const NPM_WATCH_MS = 500;

/**
 * `npx sluice serve` runs the program below a shell, which npm ends on SIGTERM without passing the signal on. A gateway
 * whose shell has gone has another parent, and would keep its ports and its data folder.
 */
function endWithNpm(env: Readonly<Record<string, string | undefined>>): void {
  if (env['npm_command'] === undefined) return;
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    process.kill(process.pid, 'SIGTERM');
  }, NPM_WATCH_MS);
  watch.unref();
}

/**
 * Closing a terminal sends SIGHUP as well; a gateway that was started in it then ends. Under a
 * service manager, in a container or with its output in a file there is no terminal.
 */
function terminalWatch(): () => boolean {
  const STDERR = 2;
  const began = isatty(STDERR);
  return () => began && !isatty(STDERR);
}

export interface ServeHooks {
  /** Used in messages about what the machine lacks. */
  readonly context?: TroubleContext;
  /** How long a stop waits before it closes the ports. */
  readonly stopDelayMs?: number;
  readonly onReady: (addresses: Addresses) => void;
  /** Called when a reload found mistakes in the configuration. */
  readonly onRefused?: (mistakes: readonly string[]) => void;
  /** Whether a SIGHUP means that the terminal was closed. */
  readonly terminalHasGone?: () => boolean;
}

/**
 * Runs a gateway until a signal or a failure ends it, and stops it gracefully.
 * @param open loads the gateway. Signal handlers are installed before: an unhandled SIGHUP ends a
 * process
 * @throws {CommandFailed} it could not start, failed, or did not stop in time
 */
export async function serve(
  open: () => Promise<Gateway>,
  logger: Logger,
  events: ProcessEvents,
  {
    context,
    stopDelayMs: delayMs = 0,
    onReady,
    onRefused,
    terminalHasGone = () => false,
  }: ServeHooks,
): Promise<void> {
  const hangUps: { take?: () => void; isOneDue: boolean } = { isOneDue: false };
  const endSoon = () => setTimeout(() => events.exit(EXIT.failed), FAILED_DEADLINE_MS).unref();
  const onUnexpected = (error: unknown) => {
    endSoon();
    const found = systemTrouble(error)?.found;
    if (found === undefined) logger.error('process.unexpected', bugFields(error));
    else logger.error('process.failed', { ...errorFields(error), found });
  };
  const end = watchProcess(events, onUnexpected, undefined, () => {
    if (terminalHasGone()) return true;
    // A reload that is requested during the start runs after it.
    if (hangUps.take === undefined) hangUps.isOneDue = true;
    else hangUps.take();
    return false;
  });
  try {
    const gateway = await open();
    void gateway.failed.then(({ part, error }) => {
      if (part === 'delivery') onUnexpected(error);
      // A graceful stop would close the database, which syncs it once more.
      else endSoon();
    });
    const addresses = await started(gateway, context);
    onReady(addresses);
    logger.info('gateway.ready', listening(addresses));
    hangUps.take = () => reload(gateway, logger, onRefused);
    if (hangUps.isOneDue) hangUps.take();
    const failure = await ended(gateway, end, logger);
    await stopped(gateway, logger, delayMs);
    logger.info('gateway.stopped');
    if (failure !== undefined) throw new CommandFailed(failure);
  } finally {
    end.stop();
  }
}

function reload(gateway: Gateway, logger: Logger, onRefused: ServeHooks['onRefused']): void {
  gateway.reload('signal').then(
    (result) => {
      if (!result.ok) onRefused?.(result.mistakes);
    },
    (error: unknown) => logger.error('config.reload_failed', errorFields(error)),
  );
}

/** Where it listens, by listener. */
const listening = (addresses: Addresses): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(addresses).map(
      ([name, at]: [string, NonNullable<Addresses[keyof Addresses]>]) => [
        name,
        'url' in at ? at.url : reachable(at),
      ],
    ),
  );

/** @throws {SetUpUnusable} the machine lacks something that the gateway needs */
async function started(gateway: Gateway, context?: TroubleContext): Promise<Addresses> {
  try {
    return await gateway.start();
  } catch (error) {
    const trouble = systemTrouble(error, context);
    throw trouble === undefined ? error : unusable(trouble, error);
  }
}

/** Resolves with the reason for an exit with failure; undefined for an orderly end. */
async function ended(
  gateway: Gateway,
  end: ProcessEnd,
  logger: Logger,
): Promise<string | undefined> {
  const reason = await Promise.race([
    end.first,
    gateway.failed.then(
      ({ part, error }) => ({ kind: part === 'store' ? 'failed' : 'unexpected', error }) as const,
    ),
  ]);
  switch (reason.kind) {
    case 'signal':
      logger.info('gateway.stopping', { signal: reason.signal });
      return undefined;
    case 'failed':
      logger.error('gateway.failed', errorFields(reason.error));
      return 'the store failed and the gateway stopped. Check the disk, then start the gateway again.';
    case 'unexpected': {
      const trouble = systemTrouble(reason.error);
      if (trouble !== undefined) return `the gateway stopped: ${troubleInWords(trouble)}`;
      return 'the gateway stopped because of an unexpected error; see the log.';
    }
  }
}

async function stopped(gateway: Gateway, logger: Logger, delayMs: number): Promise<void> {
  await withinMs(gateway.stop(), delayMs + STOP_DEADLINE_MS, () => {
    logger.error('gateway.stop_timed_out');
    throw new CommandFailed('the gateway did not stop in time');
  });
}

/**
 * Checked before anything in the data folder is read, so that a problem of the folder is reported
 * as such.
 * @throws {SetUpUnusable} this user cannot run a gateway with it
 */
function assertUsableFolder(dataDir: string): void {
  const trouble = dataFolderTrouble(dataDir);
  if (trouble !== undefined) throw unusable(trouble, undefined);
}

/** Problems that do not prevent a start but that the operator should know. */
function setUpWarnings(config: Config): string[] {
  const { dataDir } = config;
  const folder = openFolderTrouble(dataDir, statSync(dataDir).mode);
  const descriptors = descriptorShortage(descriptorLimit(), neededDescriptors(config), NEEDED_FOR);
  return [
    ...(folder ? [`the data folder ${dataDir}: ${folder.found}. Run: ${folder.todo}`] : []),
    ...(descriptors ? [troubleInWords(descriptors)] : []),
    ...checkPair(config, Date.now()).warnings,
  ];
}
