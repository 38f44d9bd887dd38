import type { Config } from '../config/config.ts';
import type { ConfigurationView, ReloadResult } from '../console/contract.ts';
import type { IncidentLog } from '../operations/alerts/incident-log.ts';
import type { CollectStatus } from '../observability/status.ts';
import type { Logger } from '../observability/logger.ts';
import type { OperatorStore } from '../spool/operator-store.ts';
import { type ConfigSource, NO_SOURCE } from './config-source.ts';
import { configurationView } from './configuration-view.ts';
import type { LiveConfig } from './live-config.ts';
import { createReloads } from './reload.ts';

/** Shows the running configuration to the console, and reloads it. */
export interface ConfigurationService {
  view(): Promise<ConfigurationView>;
  /**
   * @param who an operator's name, or `signal`
   * @param address the operator's network address
   */
  reload(who: string, address?: string): Promise<ReloadResult>;
  /**
   * Starts no further reload and waits for the one in progress. Called before anything else stops.
   */
  stop(): Promise<void>;
}

export interface ConfigurationServiceOptions {
  /** Where the configuration is reloaded from; without it, no reload is possible. */
  readonly source?: ConfigSource;
  readonly setLogLevel?: (level: Config['log']['level']) => void;
}

export interface ConfigurationServiceParts {
  readonly live: LiveConfig;
  readonly operator: Pick<OperatorStore, 'audit'>;
  readonly incidents: Pick<IncidentLog, 'reloaded'>;
  readonly status: CollectStatus;
  readonly logger: Logger;
  /** Called after each reload, even if nothing changed: the platform may have. */
  readonly onReloaded: () => void;
}

/** Shows the running configuration and reloads it from its source. */
export function createConfigurationService(
  options: ConfigurationServiceOptions,
  parts: ConfigurationServiceParts,
): ConfigurationService {
  const { live, operator, incidents, status, logger } = parts;
  const { source = NO_SOURCE } = options;
  let loadedAt = Date.now();
  live.add({
    name: 'log level',
    reads: ['log.level'],
    prepare: ({ log }) => ({ commit: () => options.setLogLevel?.(log.level) }),
  });
  const reloads = createReloads({
    ...{ live, source, logger, incidents },
    audit: (line) => operator.audit(line),
    onReloaded: () => {
      loadedAt = Date.now();
      parts.onReloaded();
    },
  });
  return {
    view: () => configurationView({ live, source, loadedAt: () => loadedAt, status }),
    reload: (who, address) => reloads.reload(who, address),
    stop: () => reloads.stop(),
  };
}
