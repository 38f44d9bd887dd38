import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { createFactMetrics } from './fact-metrics.ts';

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/**
 * All metrics of the gateway. Labels have small closed sets of values (a channel, a state, a shop's
 * configured name): never an address, a number or anything that a sender chooses.
 */
export type Metrics = ReturnType<typeof createMetrics>;

export function createMetrics() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  return {
    registry,
    ...createFactMetrics(registers),
    buildInfo: new Gauge({
      name: 'sluice_build_info',
      help: 'Always 1; the labels are the versions of the program and of Node.js',
      labelNames: ['version', 'node'] as const,
      registers,
    }),
    accepted: new Counter({
      name: 'sluice_accepted_total',
      help: 'Messages acknowledged after they were durable',
      labelNames: ['channel', 'duplicate'] as const,
      registers,
    }),
    refused: new Counter({
      name: 'sluice_refused_total',
      help: 'Arrivals answered with an error, by reason',
      labelNames: ['channel', 'reason'] as const,
      registers,
    }),
    ackSeconds: new Histogram({
      name: 'sluice_ack_seconds',
      help: 'From the last byte of an arrival to its acknowledgement',
      labelNames: ['channel'] as const,
      buckets: SECONDS,
      registers,
    }),
    settled: new Counter({
      name: 'sluice_settled_total',
      help: 'Attempts by their outcome',
      labelNames: ['shop', 'channel', 'outcome'] as const,
      registers,
    }),
    deliverySeconds: new Histogram({
      name: 'sluice_delivery_seconds',
      help: 'From acceptance to delivery',
      labelNames: ['channel'] as const,
      buckets: [...SECONDS, 60, 300, 3600, 86400],
      registers,
    }),
    platformSeconds: new Histogram({
      name: 'sluice_platform_request_seconds',
      help: 'Requests to the platform by operation and response',
      labelNames: ['operation', 'status'] as const,
      buckets: SECONDS,
      registers,
    }),
    entries: new Gauge({
      name: 'sluice_entries',
      help: 'Entries in the spool',
      labelNames: ['shop', 'channel', 'state'] as const,
      registers,
    }),
    oldestQueuedSeconds: new Gauge({
      name: 'sluice_oldest_queued_seconds',
      help: 'Age of the oldest entry that waits for delivery',
      labelNames: ['shop', 'channel'] as const,
      registers,
    }),
    chatSockets: new Gauge({
      name: 'sluice_chat_sockets',
      help: 'Connected chat sockets',
      registers,
    }),
    chatReplySeconds: new Histogram({
      name: 'sluice_chat_reply_seconds',
      help: "From the creation of a reply, by the platform's clock, to the visitor's chat, including the time until an absent visitor returns",
      buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3600, 86400],
      registers,
    }),
    authenticated: new Counter({
      name: 'sluice_authenticated_total',
      help: 'Checks of email senders, by method (spf, dkim, arc, dmarc) and result',
      labelNames: ['method', 'result'] as const,
      registers,
    }),
    smtpConnections: new Gauge({
      name: 'sluice_smtp_connections',
      help: 'Open SMTP connections',
      registers,
    }),
    httpConnections: new Gauge({
      name: 'sluice_http_connections',
      help: 'Open HTTP connections, by door (public, console); WebSockets are not among them',
      labelNames: ['door'] as const,
      registers,
    }),
    httpCutOff: new Counter({
      name: 'sluice_http_cut_off_total',
      help: 'HTTP connections refused or cut off, by door and reason',
      labelNames: ['door', 'reason'] as const,
      registers,
    }),
    webhookSignatureFailures: new Counter({
      name: 'sluice_webhook_signature_failures_total',
      help: 'Webhooks whose signature did not match: an attack, or a wrong http.publicUrl',
      registers,
    }),
    smsStatusCallbacks: new Counter({
      name: 'sluice_sms_status_callbacks_total',
      help: "Twilio's status reports on outbound messages, which are only counted",
      labelNames: ['status'] as const,
      registers,
    }),
    smsReconciled: new Counter({
      name: 'sluice_sms_reconciled_total',
      help: "Inbound texts that no webhook had delivered, found through Twilio's REST API",
      labelNames: ['shop'] as const,
      registers,
    }),
    operatorActions: new Counter({
      name: 'sluice_operator_actions_total',
      help: 'Lines of the audit log that the console wrote, by action (login, login_failed, retry, discard ...)',
      labelNames: ['action'] as const,
      registers,
    }),
    alarms: new Counter({
      name: 'sluice_alarms_total',
      help: "Events that need an operator's attention",
      labelNames: ['alarm'] as const,
      registers,
    }),
    alertsFiring: new Gauge({
      name: 'sluice_alerts_firing',
      help: 'Firing alerts of the gateway itself, by rule and severity',
      labelNames: ['rule', 'severity'] as const,
      registers,
    }),
    alertNotifications: new Counter({
      name: 'sluice_alert_notifications_total',
      help: 'Notices to the targets of alerts, by result after all retries (sent, refused, busy, unreachable, timeout, failed)',
      labelNames: ['target', 'outcome'] as const,
      registers,
    }),
    traceSpans: new Counter({
      name: 'sluice_trace_spans_total',
      help: 'Spans handed to the trace collector, by outcome (sent, failed)',
      labelNames: ['outcome'] as const,
      registers,
    }),
    commitSeconds: new Histogram({
      name: 'sluice_spool_commit_seconds',
      help: 'One durable commit of the spool',
      buckets: SECONDS,
      registers,
    }),
    commitEntries: new Histogram({
      name: 'sluice_spool_commit_operations',
      help: 'Operations that shared one commit',
      buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500],
      registers,
    }),
  };
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
