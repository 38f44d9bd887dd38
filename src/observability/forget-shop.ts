import { Counter, Histogram } from 'prom-client';
import type { Metrics } from './metrics.ts';

/**
 * Takes the series of shops that are served no more out of what is counted: each name that was ever
 * configured would stay until the process ends. Again and again, since an attempt that was under way
 * when its shop was taken out is counted afterwards. Gauges are set anew as a whole.
 * @param served names, as the `shop` label has them
 */
export async function forgetShops(
  { registry }: Metrics,
  served: ReadonlySet<string>,
): Promise<void> {
  for (const metric of registry.getMetricsAsArray()) {
    if (!(metric instanceof Counter || metric instanceof Histogram)) continue;
    const { values } = await metric.get();
    const gone = new Map(
      values
        .filter(({ labels: { shop } }) => shop !== undefined && !served.has(String(shop)))
        // A histogram's series have a label of their own for each bucket.
        .map(({ labels: { le: _bucket, ...labels } }) => [JSON.stringify(labels), labels]),
    );
    for (const labels of gone.values()) metric.remove(labels);
  }
}
