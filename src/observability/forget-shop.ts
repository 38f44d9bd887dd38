import { Counter, Gauge, Histogram } from 'prom-client';
import type { Metrics } from './metrics.ts';

/**
 * Takes the series of a shop that is served no more out of the metrics: a gauge would show its last
 * value for ever, and an open breaker keep an alert firing.
 * @param name as the `shop` label has it
 */
export async function forgetShop({ registry }: Metrics, name: string): Promise<void> {
  for (const metric of registry.getMetricsAsArray()) {
    if (!(metric instanceof Counter || metric instanceof Gauge || metric instanceof Histogram)) {
      continue;
    }
    const { values } = await metric.get();
    const gone = new Map(
      values
        .filter(({ labels }) => labels['shop'] === name)
        // A histogram's series have a label of their own for each bucket.
        .map(({ labels: { le: _bucket, ...labels } }) => [JSON.stringify(labels), labels]),
    );
    for (const labels of gone.values()) metric.remove(labels);
  }
}
