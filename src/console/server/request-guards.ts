import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { errorFields, type Logger } from '../../observability/logger.ts';
import { SpoolFull, SpoolUnavailable } from '../../spool/errors.ts';
import { Refusal, refuse } from './refusal.ts';

/**
 * A page of another origin cannot send this header without a preflight request (Fetch §3.2.2),
 * which is never answered.
 */
export const CONSOLE_HEADER = 'x-sluice-console';
/** Methods that change nothing (RFC 9110 §9.2.1). */
export const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
/** The values of `Sec-Fetch-Site` for the console's page and for direct navigation. */
const OWN_SITES: ReadonlySet<string> = new Set(['same-origin', 'none']);

/**
 * Refuses unknown host names, against DNS rebinding: a foreign name that resolves to this address
 * would share the console's origin. IP addresses cannot be rebound, and browsers tricked this way
 * send no `Authorization`.
 */
export function requireKnownHost(names: readonly string[], logger: Logger): RequestHandler {
  const known = new Set(names.map((name) => name.toLowerCase()));
  const seen = new Set<string>();
  return (req: Request, res: Response, next: NextFunction) => {
    const host = hostName(req.headers.host ?? '');
    if (isOwnName(host, known) || req.headers.authorization !== undefined) {
      next();
      return;
    }
    // Logged once per name and for few names, since clients choose the header.
    if (seen.size < 10 && !seen.has(host)) {
      seen.add(host);
      logger.warn('console.unknown_host', { todo: 'add the name to admin.hosts' });
    }
    const message = 'Unknown host name: add it to admin.hosts';
    refuse(res, new Refusal('forbidden', message, { status: 421 }));
  };
}

function isOwnName(host: string, known: ReadonlySet<string>): boolean {
  if (host === 'localhost' || host.endsWith('.localhost') || isIP(host) !== 0) return true;
  return known.has(host);
}

/** The name in a Host header, without port, brackets and trailing dot. */
function hostName(header: string): string {
  const [, bracketed, plain = ''] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d{0,5})?$/.exec(header) ?? [];
  return (bracketed ?? plain.replace(/\.$/, '')).toLowerCase();
}

/**
 * Admits only the console's page and programs to `/api`. The session cookie is SameSite=Strict, but
 * other ports of this host are the same site.
 * @param hosts host names of the console behind a proxy that rewrites `Host`
 */
export function requireOwnPage(hosts: readonly string[]): RequestHandler {
  const known = new Set(hosts.map((host) => host.toLowerCase()));
  return (req: Request, _res: Response, next: NextFunction) => {
    if (isCrossSite(req)) throw crossSite();
    if (!SAFE_METHODS.has(req.method)) {
      if (req.headers[CONSOLE_HEADER] !== '1') {
        throw new Refusal('forbidden', 'The header X-Sluice-Console: 1 is required');
      }
      if (!isOwnOrigin(req, known)) throw crossSite();
    }
    next();
  };
}

/** Whether a browser marks the request as caused by another site. */
export function isCrossSite({ headers }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site'];
  return typeof site === 'string' && !OWN_SITES.has(site);
}

const crossSite = () => new Refusal('forbidden', 'Cross-site requests are refused');

/** Programs send no Origin. `null` is the origin of a sandboxed frame with a message. */
function isOwnOrigin({ headers }: IncomingMessage, known: ReadonlySet<string>): boolean {
  const { origin, host } = headers;
  if (origin === undefined) return true;
  if (!URL.canParse(origin)) return false;
  const url = new URL(origin);
  return url.host === host?.toLowerCase() || (url.port === '' && known.has(hostName(url.host)));
}

/** Converts errors thrown below `/api` to responses. */
export function answerFailures(logger: Logger) {
  // oxlint-disable-next-line no-unused-vars -- express tells it by its four parameters
  return (error: unknown, _req: Request, res: Response, _next: NextFunction): void => {
    const refusal = asRefusal(error);
    if (refusal.status >= 500) logger.warn('console.failed', errorFields(refusal.cause ?? error));
    // A response in progress is aborted, since a regular end would look complete.
    if (res.headersSent) res.destroy();
    else refuse(res, refusal);
  };
}

function asRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof URIError) return new Refusal('invalid', 'The path is not valid');
  if (error instanceof SpoolUnavailable || error instanceof SpoolFull) {
    const message = `The gateway’s store cannot be used: ${error.message}. Until it can, messages are refused, and senders retry. Run sluice doctor on the gateway’s machine`;
    return new Refusal('unavailable', message, { cause: error });
  }
  const status = statusOf(error);
  if (status === 413) return new Refusal('invalid', 'The request is too large', { status });
  if (status === 415) return new Refusal('invalid', 'Unsupported encoding', { status });
  if (status === 400) return new Refusal('invalid', 'The request is not valid JSON');
  return new Refusal('internal', 'Internal error; see the gateway’s log', {
    status: 500,
    cause: error,
  });
}

/** The status of an error of the body parser. */
function statusOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('status' in error)) return undefined;
  return typeof error.status === 'number' ? error.status : undefined;
}
