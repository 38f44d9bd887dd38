import {
  AggregatorRegistry,
  collectDefaultMetrics,
  Counter,
  Gauge,
  Histogram,
  Registry,
} from 'prom-client';
import { createStatusMetrics, type StatusSources } from './status-metrics.ts';

const counter =
  <Label extends string = never>(name: string, help: string, labelNames: readonly Label[] = []) =>
  (registers: Registry[]) =>
    new Counter({ name, help, labelNames, registers });

const gauge =
  <Label extends string = never>(name: string, help: string, labelNames: readonly Label[] = []) =>
  (registers: Registry[]) =>
    new Gauge({ name, help, labelNames, registers });

const histogram =
  <Label extends string = never>(
    name: string,
    help: string,
    buckets: number[],
    labelNames: readonly Label[] = [],
  ) =>
  (registers: Registry[]) =>
    new Histogram({ name, help, buckets, labelNames, registers });

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/**
 * Labels have small closed sets of values (a channel, a state, a shop's configured name): never an
 * address, a number or anything that a sender chooses.
 */
const METRICS = {
  buildInfo: gauge(
    'sluice_build_info',
    'Always 1; the labels are the versions of the program and of Node.js',
    ['version', 'node'],
  ),
  accepted: counter('sluice_accepted_total', 'Messages acknowledged after they were durable', [
    'channel',
    'duplicate',
  ]),
  refused: counter('sluice_refused_total', 'Arrivals answered with an error, by reason', [
    'channel',
    'reason',
  ]),
  ackSeconds: histogram(
    'sluice_ack_seconds',
    'From the last byte of an arrival to its acknowledgement',
    SECONDS,
    ['channel'],
  ),
  settled: counter('sluice_settled_total', 'Attempts by their outcome', [
    'shop',
    'channel',
    'outcome',
  ]),
  deliverySeconds: histogram(
    'sluice_delivery_seconds',
    'From acceptance to delivery',
    [...SECONDS, 60, 300, 3600, 86400],
    ['channel'],
  ),
  platformSeconds: histogram(
    'sluice_platform_request_seconds',
    'Requests to the platform by operation and response',
    SECONDS,
    ['operation', 'status'],
  ),
  entries: gauge('sluice_entries', 'Entries in the spool', ['shop', 'channel', 'state']),
  oldestQueuedSeconds: gauge(
    'sluice_oldest_queued_seconds',
    'Age of the oldest entry that waits for delivery',
    ['shop', 'channel'],
  ),
  chatSockets: gauge('sluice_chat_sockets', 'Connected chat sockets'),
  chatReplySeconds: histogram(
    'sluice_chat_reply_seconds',
    "From the creation of a reply, by the platform's clock, to the visitor's chat, including the time until an absent visitor returns",
    [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3600, 86400],
  ),
  authenticated: counter(
    'sluice_authenticated_total',
    'Checks of email senders, by method (spf, dkim, arc, dmarc) and result',
    ['method', 'result'],
  ),
  smtpConnections: gauge('sluice_smtp_connections', 'Open SMTP connections'),
  httpConnections: gauge(
    'sluice_http_connections',
    'Open HTTP connections, by door (public, console); WebSockets are not among them',
    ['door'],
  ),
  httpCutOff: counter(
    'sluice_http_cut_off_total',
    'HTTP connections refused or cut off, by door and reason',
    ['door', 'reason'],
  ),
  webhookSignatureFailures: counter(
    'sluice_webhook_signature_failures_total',
    'Webhooks whose signature did not match: an attack, or a wrong http.publicUrl',
  ),
  smsStatusCallbacks: counter(
    'sluice_sms_status_callbacks_total',
    'Status reports of SMS providers on outbound messages',
    ['status'],
  ),
  smsEchoes: counter(
    'sluice_sms_echoes_total',
    "Messages that a shop sent from its own phone, which are no customer's",
    ['shop'],
  ),
  smsReconciled: counter(
    'sluice_sms_reconciled_total',
    "Inbound texts that no webhook had delivered, found through the provider's API",
    ['shop'],
  ),
  operatorActions: counter(
    'sluice_operator_actions_total',
    'Lines of the audit log that the console wrote, by action (login, login_failed, retry, discard ...)',
    ['action'],
  ),
  alarms: counter('sluice_alarms_total', "Events that need an operator's attention", ['alarm']),
  alertsFiring: gauge(
    'sluice_alerts_firing',
    'Firing alerts of the gateway itself, by rule and severity',
    ['rule', 'severity'],
  ),
  alertNotifications: counter(
    'sluice_alert_notifications_total',
    'Notices to the targets of alerts, by result after all retries (sent, refused, busy, unreachable, timeout, failed)',
    ['target', 'outcome'],
  ),
  slowTurns: counter(
    'sluice_slow_turns_total',
    'Turns of the main thread with more than 500 ms of processor time, by what was at work (smtp, texts, chat, http, console, platform, agent, other)',
    ['work'],
  ),
  traceSpans: counter(
    'sluice_trace_spans_total',
    'Spans handed to the trace collector, by outcome (sent, failed)',
    ['outcome'],
  ),
  commitSeconds: histogram(
    'sluice_spool_commit_seconds',
    'One durable commit of the spool',
    SECONDS,
  ),
  commitEntries: histogram(
    'sluice_spool_commit_operations',
    'Operations that shared one commit',
    [1, 2, 5, 10, 20, 50, 100, 200, 500],
  ),
};

/** All metrics of the gateway. */
export type Metrics = {
  readonly [Name in keyof typeof METRICS]: ReturnType<(typeof METRICS)[Name]>;
} & {
  /** Those of the declarations above. */
  readonly registry: Registry;
  /** Those of the process and of this thread: memory, the event loop. */
  readonly process: Registry;
  readonly readFrom: (sources: StatusSources) => void;
};

/**
 * A gateway at rest takes 0.12 ms of processor time for each sample, with the library's 10 ms more than for all else
 * together. `docs/metrics.md` and the alert rules know this value.
 */
const LAG_SAMPLE_MS = 500;

/** @param ofProcess whether figures of the process belong to them: memory, the event loop's delay */
export function createMetrics({ ofProcess = true } = {}): Metrics {
  const registry = new Registry();
  const process = new Registry();
  if (ofProcess) {
    collectDefaultMetrics({ register: process, eventLoopMonitoringPrecision: LAG_SAMPLE_MS });
  }
  const registers = [registry];
  const created = Object.entries(METRICS).map(([name, create]) => [name, create(registers)]);
  return {
    // The type of each metric is the return type of its declaration.
    ...(Object.fromEntries(created) as Metrics),
    ...{ registry, process, readFrom: createStatusMetrics(registers) },
  };
}

/** The values of a thread's metrics, as they can be passed to another thread. */
export type MetricValues = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

/** Its counters and histograms. Gauges are those of the main thread: they cannot be added. */
export async function valuesOf({ registry }: Metrics): Promise<MetricValues> {
  const values = await registry.getMetricsAsJSON();
  return values.filter(({ name }) => !(registry.getSingleMetric(name) instanceof Gauge));
}

/** All metrics as a scraper reads them. Counts of other threads are added. */
export async function metricsText(
  { registry, process }: Metrics,
  others: readonly MetricValues[],
): Promise<string> {
  const all =
    others.length === 0
      ? registry
      : AggregatorRegistry.aggregate([await registry.getMetricsAsJSON(), ...others]);
  return `${await process.metrics()}\n${await all.metrics()}`;
}

/**
 * Removes the series of shops that are no longer served; otherwise every name that was ever
 * configured would stay until the process ends. It is repeated, because an attempt that was in
 * progress when its shop was removed is counted later. Gauges are recomputed as a whole.
 * @param served names, as in the `shop` label
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
        // A histogram's series have an additional label for each bucket.
        .map(({ labels: { le: _bucket, ...labels } }) => [JSON.stringify(labels), labels]),
    );
    for (const labels of gone.values()) metric.remove(labels);
  }
}
