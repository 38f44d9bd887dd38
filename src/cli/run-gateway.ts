import type { Command } from 'commander';
import { isatty } from 'node:tty';
import { completeConfig } from '../config/complete.ts';
import type { Addresses, Gateway } from '../gateway/gateway.ts';
import { configSource } from '../gateway/config-source.ts';
import { createLogger, errorFields, type Logger } from '../observability/logger.ts';
import { troubleInWords, unusable } from '../runtime/set-up-trouble.ts';
import { systemTrouble } from '../runtime/system-trouble.ts';
import { banner } from './banner.ts';
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

/** A graceful stop that takes longer has hung; what was acknowledged is on disk anyway. */
const STOP_DEADLINE_MS = 30_000;
/** The same after the store has failed, when a delivery or the disk itself may hang. */
const FAILED_DEADLINE_MS = 1200;

/** `serve`: the gateway of a configuration, until it ends. */
export async function runGateway(
  command: Command,
  terminal: Terminal,
  events: ProcessEvents,
): Promise<void> {
  const { config, warnings } = configuration(command, terminal);
  assertUsableFolder(config.dataDir);
  const complete = await completeConfig(config);
  const logger = createLogger(config.log);
  for (const warning of [...warnings, ...setUpWarnings(config)])
    terminal.err(`warning: ${warning}\n`);
  const file = configFile(command);
  const named = file === undefined ? {} : { file };
  const open = async () => {
    // Most of the gateway is loaded here, when signals are heard already.
    const { createGateway } = await import('../gateway/gateway.ts');
    return createGateway({
      config: complete,
      logger,
      source: configSource({ env: terminal.env, ...named }),
      setLogLevel: (level) => logger.setLevel(level),
    });
  };
  await serve(open, logger, events, {
    dataDir: config.dataDir,
    onReady: (addresses) =>
      terminal.out(
        banner(complete, addresses, {
          ...named,
          isPasswordConfigured: config.admin.password !== undefined,
        }),
      ),
    onRefused: (mistakes) =>
      terminal.err(`The configuration was not taken up:\n\n${mistakes.join('\n\n')}\n`),
    terminalHasGone: terminalWatch(),
  });
}

/**
 * A terminal that is closed sends SIGHUP too: then the gateway that was started in it ends. Under a
 * service manager, in a container or with its output in a file there is none, nor can it go.
 */
function terminalWatch(): () => boolean {
  const STDERR = 2;
  const began = isatty(STDERR);
  return () => began && !isatty(STDERR);
}

export interface ServeHooks {
  /** For what is said of files in it. */
  readonly dataDir?: string;
  readonly onReady: (addresses: Addresses) => void;
  /** A configuration that was to be taken up has mistakes. */
  readonly onRefused?: (mistakes: readonly string[]) => void;
  /** Whether SIGHUP means that. */
  readonly terminalHasGone?: () => boolean;
}

/**
 * Runs a gateway until a signal or a failure ends it, and stops it gracefully.
 * @param open loads it. Signals are heard from before on: a hang-up that nobody hears ends a process
 * @throws {CommandFailed} it could not start, failed, or did not stop in time
 */
export async function serve(
  open: () => Promise<Gateway>,
  logger: Logger,
  events: ProcessEvents,
  { dataDir, onReady, onRefused, terminalHasGone = () => false }: ServeHooks,
): Promise<void> {
  const hangUps: { take?: () => void; isOneDue: boolean } = { isOneDue: false };
  const end = watchProcess(
    events,
    (error) => {
      const found = systemTrouble(error)?.found;
      if (found === undefined) logger.error('process.unexpected', bugFields(error));
      else logger.error('process.failed', { ...errorFields(error), found });
    },
    undefined,
    () => {
      if (terminalHasGone()) return true;
      // What is asked for during the start is done after it.
      if (hangUps.take === undefined) hangUps.isOneDue = true;
      else hangUps.take();
      return false;
    },
  );
  try {
    const gateway = await open();
    void gateway.failed.then(() => {
      // Not a graceful stop: it would close the database, which syncs it once more.
      setTimeout(() => events.exit(EXIT.failed), FAILED_DEADLINE_MS).unref();
    });
    onReady(await started(gateway, dataDir));
    logger.info('gateway.ready');
    hangUps.take = () => reload(gateway, logger, onRefused);
    if (hangUps.isOneDue) hangUps.take();
    const failure = await ended(gateway, end, logger);
    await stopped(gateway, logger);
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

/** @throws {SetUpUnusable} what the machine does not give it */
async function started(gateway: Gateway, dataDir: string | undefined): Promise<Addresses> {
  try {
    return await gateway.start();
  } catch (error) {
    const trouble = systemTrouble(error, dataDir === undefined ? {} : { dataDir });
    throw trouble === undefined ? error : unusable(trouble, error);
  }
}

/** Resolves with why the process must end in failure; undefined for an orderly end. */
async function ended(
  gateway: Gateway,
  end: ProcessEnd,
  logger: Logger,
): Promise<string | undefined> {
  const reason = await Promise.race([
    end.first,
    gateway.failed.then((error) => ({ kind: 'failed', error }) as const),
  ]);
  switch (reason.kind) {
    case 'signal':
      logger.info('gateway.stopping', { signal: reason.signal });
      return undefined;
    case 'failed':
      logger.error('gateway.failed', errorFields(reason.error));
      return 'the gateway cannot go on: the store failed. Look at the disk, then start it again.';
    case 'unexpected': {
      const trouble = systemTrouble(reason.error);
      if (trouble !== undefined) return `the gateway stopped: ${troubleInWords(trouble)}`;
      return 'the gateway met an unexpected error and stopped; the log says where.';
    }
  }
}

async function stopped(gateway: Gateway, logger: Logger): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      logger.error('gateway.stop-timed-out');
      reject(new CommandFailed('the gateway did not stop in time'));
    }, STOP_DEADLINE_MS);
  });
  try {
    await Promise.race([gateway.stop(), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** A bug is found by where it happened; its message may quote what a customer wrote. */
function bugFields(error: unknown): Record<string, string> {
  const frames = error instanceof Error ? (error.stack ?? '').match(/^ {4}at .*$/gm) : null;
  const at = (frames ?? []).slice(0, 6).map((frame) => frame.trim().slice(3));
  return {
    ...Object.fromEntries(
      Object.entries(errorFields(error)).map(([key, value]) => [key, String(value)]),
    ),
    at: at.join(' < '),
  };
}

/**
 * Before anything of the data folder is read: what is wrong with it as a whole is told as that.
 * @throws {SetUpUnusable} this user cannot run a gateway with it
 */
function assertUsableFolder(dataDir: string): void {
  const trouble = dataFolderTrouble(dataDir);
  if (trouble !== undefined) throw unusable(trouble, undefined);
}

/** What a gateway can start with, and whoever set it up should know. */
function setUpWarnings(config: Config): string[] {
  const { dataDir } = config;
  const folder = openFolderTrouble(dataDir, statSync(dataDir).mode);
  const descriptors = descriptorShortage(descriptorLimit(), neededDescriptors(config), NEEDED_FOR);
  return [
    ...(folder ? [`the data folder ${dataDir}: ${folder.found}. Run: ${folder.todo}`] : []),
    ...(descriptors ? [troubleInWords(descriptors)] : []),
  ];
}
