import type { Config } from '../config/config.ts';
import type { ConfigurationView, ReloadResult } from '../console/contract.ts';
import type { CollectFacts } from '../observability/facts.ts';
import type { Logger } from '../observability/logger.ts';
import type { OperatorStore } from '../spool/operator-store.ts';
import { type ConfigSource, NO_SOURCE } from './config-source.ts';
import { configurationView } from './configuration-view.ts';
import type { LiveConfig } from './live-config.ts';
import { createReloads } from './reload.ts';

/** What the console asks about the configuration. */
export interface ConfigurationDesk {
  view(): Promise<ConfigurationView>;
  /** @param who an operator's name, or `signal` */
  reload(who: string): Promise<ReloadResult>;
  /** Before anything else stops: begins no reload any more, and lets one under way end. */
  stop(): Promise<void>;
}

export interface DeskOptions {
  /** Where the configuration is read again; without one it stays as it is. */
  readonly source?: ConfigSource;
  readonly setLogLevel?: (level: Config['log']['level']) => void;
}

export interface DeskParts {
  readonly live: LiveConfig;
  readonly operator: Pick<OperatorStore, 'audit'>;
  readonly facts: CollectFacts;
  readonly logger: Logger;
  /** Called after each reload, also of an unchanged file: the platform's side may have changed. */
  readonly onReloaded: () => void;
}

/** Shows the configuration that runs, and takes up the one that is in the file now. */
export function createConfigurationDesk(options: DeskOptions, parts: DeskParts): ConfigurationDesk {
  const { live, operator, facts, logger } = parts;
  const { source = NO_SOURCE } = options;
  let loadedAt = Date.now();
  live.add({
    name: 'log level',
    reads: ['log.level'],
    prepare: ({ log }) => ({ commit: () => options.setLogLevel?.(log.level) }),
  });
  const reloads = createReloads({
    ...{ live, source, logger },
    audit: (line) => operator.audit(line),
    onReloaded: () => {
      loadedAt = Date.now();
      parts.onReloaded();
    },
  });
  return {
    view: () => configurationView({ live, source, loadedAt: () => loadedAt, facts }),
    reload: (who) => reloads.reload(who),
    stop: () => reloads.stop(),
  };
}
