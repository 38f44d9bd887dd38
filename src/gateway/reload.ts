import { completeConfig, type CompleteConfig } from '../config/complete.ts';
import type { Config } from '../config/config.ts';
import { renderMistake } from '../config/mistakes.ts';
import { UnusableKeys } from '../config/secret-file.ts';
import type { ReloadResult } from '../console/contract.ts';
import { errorFields, type Logger } from '../observability/logger.ts';
import type { IncidentLog } from '../operations/alerts/incident-log.ts';
import type { NewAuditLine } from '../spool/operator-store.ts';
import { changedPaths } from './config-leaves.ts';
import type { ConfigSource } from './config-source.ts';
import { type LiveConfig, isReloadable, isWithin, mergeReloadable } from './live-config.ts';

export interface ReloadParts {
  readonly live: LiveConfig;
  readonly source: ConfigSource;
  readonly audit: (line: NewAuditLine) => Promise<void>;
  readonly incidents: Pick<IncidentLog, 'reloaded'>;
  readonly logger: Logger;
  /** Called after each successful reload. */
  readonly onReloaded: (warnings: readonly string[]) => void;
}

/** The number of paths shown in one log line. */
const MAX_PATHS_LOGGED = 50;

export interface Reloads {
  /**
   * Applies the current configuration: everything that can change at runtime, or nothing. Reloads
   * run one after the other.
   * @param who requested it: an operator's name, or `signal`
   * @param address the operator's network address
   */
  readonly reload: (who: string, address?: string) => Promise<ReloadResult>;
  /** Starts no further reload; resolves when the one in progress has ended. */
  readonly stop: () => Promise<void>;
}

export function createReloads(parts: ReloadParts): Reloads {
  let last: Promise<unknown> = Promise.resolve();
  let isStopping = false;
  const stopping: ReloadResult = { ok: false, mistakes: ['The gateway is stopping.'] };
  return {
    reload: (who, address) => {
      const by = { who, ...(address !== undefined && { address }) };
      const reloading = last.then(() => (isStopping ? stopping : reload(by, parts)));
      last = reloading.catch(() => undefined);
      return reloading;
    },
    stop: async () => {
      // Parts that a reload starts from now on would not be stopped.
      isStopping = true;
      await last;
    },
  };
}

async function reload(
  by: Pick<NewAuditLine, 'who' | 'address'>,
  parts: ReloadParts,
): Promise<ReloadResult> {
  const { who } = by;
  const result = await applyConfiguration(parts);
  if (result.ok) {
    const { changed, needsRestart } = result;
    parts.logger.info('config.reloaded', {
      who,
      changed: pathList(changed),
      ...(needsRestart.length > 0 && { needsRestart: pathList(needsRestart) }),
    });
  } else {
    parts.logger.error('config.refused', { who, mistakes: result.mistakes.length });
  }
  const outcome = outcomeOf(result);
  parts.incidents.reloaded(outcome, who);
  try {
    await parts.audit({ ...by, action: 'reload', target: 'configuration', outcome });
  } catch (error) {
    parts.logger.error('audit.failed', { action: 'reload', ...errorFields(error) });
  }
  return result;
}

/** The number of paths shown in the audit log and among the incidents. */
const MAX_PATHS_TOLD = 10;

/** `1 changed: delivery.concurrency; 1 needs a restart: smtp.port`. */
function outcomeOf(result: ReloadResult): string {
  if (!result.ok) return 'refused';
  const told = ({ length }: readonly string[], what: string, paths: string) =>
    `${length} ${what}${length === 0 ? '' : `: ${paths}`}`;
  const { changed, needsRestart } = result;
  const parts = [told(changed, 'changed', pathList(changed, MAX_PATHS_TOLD))];
  if (needsRestart.length > 0) {
    const needs = needsRestart.length === 1 ? 'needs a restart' : 'need a restart';
    parts.push(told(needsRestart, needs, pathList(needsRestart, MAX_PATHS_TOLD)));
  }
  return parts.join('; ');
}

async function applyConfiguration({
  live,
  source,
  logger,
  onReloaded,
}: ReloadParts): Promise<ReloadResult> {
  const running = live.value;
  try {
    const loaded = source.load();
    if (!loaded.ok) return { ok: false, mistakes: loaded.mistakes.map(renderMistake) };
    const wanted = await withGeneratedKeys(loaded.config, running);
    const { next, changed, needsRestart } = planReload(running, wanted, loaded.config.dataDir);
    await live.apply(next, changed);
    onReloaded(loaded.warnings);
    return { ok: true, changed, needsRestart };
  } catch (error) {
    if (error instanceof UnusableKeys) return { ok: false, mistakes: [error.message] };
    logger.error('config.reload_failed', errorFields(error));
    const kind = error instanceof Error ? error.name : 'an error';
    return {
      ok: false,
      mistakes: [`The configuration could not be applied (${kind}; see the log) and is unchanged.`],
    };
  }
}

/** Adds the generated keys of the running data folder: changing the folder needs a restart. */
export async function withGeneratedKeys(
  config: Config,
  running: CompleteConfig,
): Promise<CompleteConfig> {
  const { dataDir } = running;
  // An empty list of shops is more likely a mistake than a request for the demo shop.
  if (config.shops.length === 0 && !running.demo) {
    return { ...(await completeConfig({ ...config, dataDir, shops: running.shops })), shops: [] };
  }
  return completeConfig({ ...config, dataDir });
}

export interface Plan {
  /** The configuration that will run. */
  readonly next: CompleteConfig;
  readonly changed: readonly string[];
  readonly needsRestart: readonly string[];
}

/** Splits the changes into those that a reload applies and those that need a restart. Pure. */
export function planReload(
  running: CompleteConfig,
  wanted: CompleteConfig,
  dataDir: string = wanted.dataDir,
): Plan {
  const emptied = wanted.shops.length === 0 && running.shops.length > 0;
  const differing = changedPaths(running, { ...wanted, dataDir }).filter(
    (path) => path !== 'demo' && !(emptied && isWithin(path, 'shops')),
  );
  const usable = emptied ? { ...wanted, shops: running.shops, demo: running.demo } : wanted;
  return {
    next: mergeReloadable(running, usable),
    changed: differing.filter(isReloadable),
    needsRestart: [
      ...differing.filter((path) => !isReloadable(path)),
      ...(emptied ? ['shops'] : []),
    ].toSorted(),
  };
}

function pathList(paths: readonly string[], most = MAX_PATHS_LOGGED): string {
  const more = paths.length - most;
  return paths.slice(0, most).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
