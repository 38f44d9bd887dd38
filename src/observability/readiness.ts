import type { IncomingMessage, ServerResponse } from 'node:http';
import { errorFields } from './logger.ts';

/**
 * Resolves if the part works; otherwise rejects or throws `NotReady`. The signal is aborted when
 * the result would be too late.
 */
export type Check = (signal: AbortSignal) => void | Promise<void>;

/** Why a part is not ready, in words that may be public. */
export class NotReady extends Error {
  override name = 'NotReady';
}

export interface CheckResult {
  readonly name: string;
  readonly ok: boolean;
  readonly why?: string;
}

export interface ReadinessReport {
  readonly ok: boolean;
  readonly checks: readonly CheckResult[];
}

export type CheckHandler = (request: IncomingMessage, response: ServerResponse) => void;

export interface Readiness {
  /** Names are unique; adding a name again replaces its check. */
  add(name: string, check: Check): void;
  report(): Promise<ReadinessReport>;
  /** `/healthz`: 200 as long as the process responds. */
  readonly healthz: CheckHandler;
  /** `/readyz`: 200 if every check passes, otherwise 503; JSON with the result of each check. */
  readonly readyz: CheckHandler;
}

export interface ReadinessOptions {
  /** A check that takes longer has failed. */
  readonly timeoutMs?: number;
  /** The result is cached for this long, because the endpoint is public. */
  readonly maxAgeMs?: number;
}

/** Named checks with two handlers that any HTTP server can mount. */
export function createReadiness(options: ReadinessOptions = {}): Readiness {
  const { timeoutMs = 2000, maxAgeMs = 1000 } = options;
  const checks = new Map<string, Check>();
  let latest: { readonly at: number; readonly report: Promise<ReadinessReport> } | undefined;

  const report = (): Promise<ReadinessReport> => {
    const now = performance.now();
    if (latest === undefined || now - latest.at > maxAgeMs) {
      latest = { at: now, report: runAll(checks, timeoutMs) };
    }
    return latest.report;
  };

  return {
    add(name, check) {
      checks.set(name, check);
      latest = undefined;
    },
    report,
    healthz: (_request, response) => answer(response, 200, { ok: true }),
    readyz: (_request, response) => {
      // `report` never rejects: a failed check is part of the report.
      void report().then((found) => answer(response, found.ok ? 200 : 503, found));
    },
  };
}

async function runAll(
  checks: ReadonlyMap<string, Check>,
  timeoutMs: number,
): Promise<ReadinessReport> {
  const results = await Promise.all(
    [...checks].map(([name, check]) => runOne(name, check, timeoutMs)),
  );
  return { ok: results.every(({ ok }) => ok), checks: results };
}

async function runOne(name: string, check: Check, timeoutMs: number): Promise<CheckResult> {
  const controller = new AbortController();
  const { signal } = controller;
  const late = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new NotReady('no answer in time')));
  });
  const timer = setTimeout(() => controller.abort(), timeoutMs);
  try {
    await Promise.race([Promise.resolve(signal).then(check), late]);
    return { name, ok: true };
  } catch (error) {
    return { name, ok: false, why: reason(error) };
  } finally {
    clearTimeout(timer);
  }
}

/** An unexpected error's message may contain anything, so only its kind and code are shown. */
function reason(error: unknown): string {
  if (error instanceof NotReady) return error.message;
  const { error: kind, code } = errorFields(error);
  return code === undefined ? String(kind) : `${String(kind)} ${String(code)}`;
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  if (response.headersSent || response.destroyed) return;
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
  });
  response.end(text);
}
