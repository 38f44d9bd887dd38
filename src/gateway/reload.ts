import { completeConfig, type CompleteConfig } from '../config/complete.ts';
import type { Config } from '../config/config.ts';
import { renderMistake } from '../config/mistakes.ts';
import { UnusableKeys } from '../config/secret-file.ts';
import type { ReloadResult } from '../console/contract.ts';
import { errorFields, type Logger } from '../observability/logger.ts';
import type { NewAuditLine } from '../spool/operator-store.ts';
import { changedPaths } from './config-leaves.ts';
import type { ConfigSource } from './config-source.ts';
import { type LiveConfig, isTakenUp, isWithin, merged } from './live-config.ts';

export interface ReloadParts {
  readonly live: LiveConfig;
  readonly source: ConfigSource;
  readonly audit: (line: NewAuditLine) => Promise<void>;
  readonly logger: Logger;
  /** Told after each reload that took something up. */
  readonly onReloaded: (warnings: readonly string[]) => void;
}

/** Paths in one line of the log. */
const PATHS_TOLD = 50;

export interface Reloads {
  /**
   * Takes the configuration up as it is now: all of it that can be, or nothing. One after the other.
   * @param who asks: an operator's name, or `signal`
   */
  readonly reload: (who: string) => Promise<ReloadResult>;
  /** Begins none any more; resolves when what is under way has ended. */
  readonly stop: () => Promise<void>;
}

export function createReloads(parts: ReloadParts): Reloads {
  let last: Promise<unknown> = Promise.resolve();
  let isStopping = false;
  const stopping: ReloadResult = { ok: false, mistakes: ['The gateway is stopping.'] };
  return {
    reload: (who) => {
      const reloading = last.then(() => (isStopping ? stopping : reload(who, parts)));
      last = reloading.catch(() => undefined);
      return reloading;
    },
    stop: async () => {
      // What a reload starts now would outlive what stops it.
      isStopping = true;
      await last;
    },
  };
}

async function reload(who: string, parts: ReloadParts): Promise<ReloadResult> {
  const result = await takeUp(parts);
  if (result.ok) {
    const { changed, needsRestart } = result;
    parts.logger.info('config.reloaded', {
      who,
      changed: told(changed),
      ...(needsRestart.length > 0 && { needsRestart: told(needsRestart) }),
    });
  } else {
    parts.logger.error('config.refused', { who, mistakes: result.mistakes.length });
  }
  const outcome = result.ok ? `${result.changed.length} changed` : 'refused';
  try {
    await parts.audit({ who, action: 'reload', target: 'configuration', outcome });
  } catch (error) {
    parts.logger.error('audit.failed', { action: 'reload', ...errorFields(error) });
  }
  return result;
}

async function takeUp({ live, source, logger, onReloaded }: ReloadParts): Promise<ReloadResult> {
  const running = live.value;
  try {
    const loaded = source.load();
    if (!loaded.ok) return { ok: false, mistakes: loaded.mistakes.map(renderMistake) };
    const wanted = await completed(loaded.config, running);
    const { next, changed, needsRestart } = planned(running, wanted, loaded.config.dataDir);
    await live.changeOver(next, changed);
    onReloaded(loaded.warnings);
    return { ok: true, changed, needsRestart };
  } catch (error) {
    if (error instanceof UnusableKeys) return { ok: false, mistakes: [error.message] };
    logger.error('config.reload_failed', errorFields(error));
    const kind = error instanceof Error ? error.name : 'an error';
    return {
      ok: false,
      mistakes: [`It could not be taken up (${kind}, the log has more): what ran before runs on.`],
    };
  }
}

/** With the generated keys of the folder that is in use: another one needs a restart. */
export async function completed(config: Config, running: CompleteConfig): Promise<CompleteConfig> {
  const { dataDir } = running;
  // A list of shops that has become empty is more likely a slip than a wish for the demo shop.
  if (config.shops.length === 0 && !running.demo) {
    return { ...(await completeConfig({ ...config, dataDir, shops: running.shops })), shops: [] };
  }
  return completeConfig({ ...config, dataDir });
}

export interface Plan {
  /** What will run. */
  readonly next: CompleteConfig;
  readonly changed: readonly string[];
  readonly needsRestart: readonly string[];
}

/** What of a configuration is taken up. Pure. */
export function planned(
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
    next: merged(running, usable),
    changed: differing.filter(isTakenUp),
    needsRestart: [
      ...differing.filter((path) => !isTakenUp(path)),
      ...(emptied ? ['shops'] : []),
    ].toSorted(),
  };
}

function told(paths: readonly string[]): string {
  const more = paths.length - PATHS_TOLD;
  return paths.slice(0, PATHS_TOLD).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
