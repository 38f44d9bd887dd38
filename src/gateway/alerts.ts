import { join } from 'node:path';
import { AlertFile } from '../operations/alerts/alert-file.ts';
import { Alerting, type AlertingParts } from '../operations/alerts/alerting.ts';
import { createEmailTarget } from '../operations/alerts/email-target.ts';
import type { Target } from '../operations/alerts/target.ts';
import { createWebhookTarget } from '../operations/alerts/webhook-target.ts';
import type { Config } from '../config/config.ts';
import type { DurableFiles } from '../runtime/durable-files.ts';
import { relayOf } from './relay-options.ts';
import type { LiveConfig } from './live-config.ts';

/** The configured targets of alerts; empty when none is configured. */
export function alertTargets({ alerts, smtp }: Config): Target[] {
  const { webhook, email } = alerts;
  const relay = relayOf(email, smtp.hostname);
  return [
    ...(webhook.url === undefined
      ? []
      : [createWebhookTarget({ url: webhook.url.reveal(), timeoutMs: webhook.timeout })]),
    ...(relay === undefined || email.from === undefined || email.to.length === 0
      ? []
      : [createEmailTarget({ to: email.to, from: email.from, relay })]),
  ];
}

/** The public name of this gateway, which alerts show as their source. */
export function alertSource({ http, smtp }: Config): string {
  const { host } = new URL(http.publicUrl);
  return host.startsWith('localhost') && smtp.hostname.includes('.') ? smtp.hostname : host;
}

/**
 * Starts the alerting of the gateway.
 * @param targets are closed when it stops
 */
export async function startAlerts(
  config: Config,
  targets: readonly Target[],
  {
    files,
    ...parts
  }: Pick<AlertingParts, 'status' | 'leases' | 'metrics' | 'clock' | 'logger' | 'incidents'> & {
    readonly files: DurableFiles;
  },
): Promise<Alerting> {
  const { every, group, repeat, settle, rules } = config.alerts;
  const alerting = new Alerting(
    {
      everyMs: every,
      settleMs: settle,
      groupMs: group,
      repeatMs: repeat,
      source: alertSource(config),
      rules: { thresholds: rules, forMs: config.alerts.for },
    },
    {
      ...parts,
      file: new AlertFile(join(config.dataDir, 'alerts.json'), files),
      targets,
    },
  );
  await alerting.start();
  return alerting;
}

type AlertsParts = Parameters<typeof startAlerts>[2];

/**
 * Starts alerting with the current rules and targets, and restarts it when they change. Firing
 * alerts and sent notices are stored in a file, so a new configuration neither repeats nor loses
 * any.
 */
export async function startLiveAlerts(
  live: LiveConfig,
  parts: AlertsParts,
): Promise<Pick<Alerting, 'current' | 'stop'>> {
  let alerting = await startAlerts(live.value, alertTargets(live.value), parts);
  let stopped = false;
  live.add({
    name: 'alerts',
    reads: ['alerts', 'http.publicUrl'],
    prepare: (next) => {
      const targets = alertTargets(next);
      const close = () => {
        for (const target of targets) target.close();
      };
      return {
        commit: () => undefined,
        after: async () => {
          await alerting.stop();
          if (stopped) close();
          else alerting = await startAlerts(next, targets, parts);
        },
        undo: () => {
          close();
          return Promise.resolve();
        },
      };
    },
  });
  return {
    get current() {
      return alerting.current;
    },
    stop: async () => {
      stopped = true;
      await alerting.stop();
    },
  };
}
