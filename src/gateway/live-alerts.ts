import type { Alerting } from '../operations/alerts/alerting.ts';
import { alertTargets, startAlerts } from './alerts.ts';
import type { LiveConfig } from './live-config.ts';

type AlertsParts = Parameters<typeof startAlerts>[2];

/**
 * Looks after the gateway by the rules and targets as they are now. What fires and what was told is
 * kept in a file: another configuration neither repeats nor forgets it.
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
