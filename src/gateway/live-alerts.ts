import type { Alerting } from '../alerts/alerting.ts';
import { alertTargets, startAlerts } from './alerts.ts';
import type { LiveConfig } from './live-config.ts';

type AlertsParts = Parameters<typeof startAlerts>[1];

/**
 * Looks after the gateway by the rules and targets as they are now. What fires and what was told is
 * kept in a file: another configuration neither repeats nor forgets it.
 */
export async function startLiveAlerts(
  live: LiveConfig,
  parts: AlertsParts,
): Promise<Pick<Alerting, 'current' | 'stop'>> {
  let alerting = await startAlerts(live.value, parts);
  let stopped = false;
  live.add({
    name: 'alerts',
    reads: ['alerts', 'http.publicUrl'],
    prepare: (next) => {
      // Fails when a target cannot be made; those that are used are made when the old ones ended.
      alertTargets(next);
      return {
        commit: () => undefined,
        after: async () => {
          await alerting.stop();
          if (!stopped) alerting = await startAlerts(next, parts);
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
