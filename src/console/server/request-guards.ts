import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { errorFields, type Logger } from '../../observability/logger.ts';
import { Refusal, refuse } from './refusal.ts';

/** No foreign page can send it without asking first (Fetch §3.2.2), and nothing answers that. */
export const CONSOLE_HEADER = 'x-sluice-console';
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
/** What a browser says of a request by the page itself, or by a person (a bookmark, the address bar). */
const OWN_SITES: ReadonlySet<string> = new Set(['same-origin', 'none']);

/**
 * Refuses names that are not the console's: a foreign page whose name was pointed at this address
 * afterwards would be of the same origin (DNS rebinding). An address cannot be rebound, and whoever
 * sends the password along is no browser that was tricked.
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
    // Logged once per name and only for a few names, since clients choose the header.
    if (seen.size < 10 && !seen.has(host)) {
      seen.add(host);
      logger.warn('console.unknown_host', { todo: 'add the name to admin.hosts' });
    }
    const message = 'The console is not known by this name: add it to admin.hosts';
    refuse(res, new Refusal('forbidden', message, { status: 421 }));
  };
}

function isOwnName(host: string, known: ReadonlySet<string>): boolean {
  if (host === 'localhost' || host.endsWith('.localhost') || isIP(host) !== 0) return true;
  return known.has(host);
}

/** Of a Host header, without port, brackets and the dot at the end. */
function hostName(header: string): string {
  const [, bracketed, plain = ''] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d{0,5})?$/.exec(header) ?? [];
  return (bracketed ?? plain.replace(/\.$/, '')).toLowerCase();
}

/**
 * Lets only the console's own page, and programs, ask under `/api`. The session's cookie is
 * SameSite=Strict already, but another port of this machine is the same site.
 * @param hosts names under which a proxy that rewrites `Host` shows the console
 */
export function requireOwnPage(hosts: readonly string[]): RequestHandler {
  const known = new Set(hosts.map((host) => host.toLowerCase()));
  return (req: Request, _res: Response, next: NextFunction) => {
    if (isFromElsewhere(req)) throw foreign();
    if (!SAFE_METHODS.has(req.method)) {
      if (req.headers[CONSOLE_HEADER] !== '1') {
        throw new Refusal('forbidden', 'What changes something carries X-Sluice-Console: 1');
      }
      if (!isOwnOrigin(req, known)) throw foreign();
    }
    next();
  };
}

/** What a browser says that another site made it ask. */
export function isFromElsewhere({ headers }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site'];
  return typeof site === 'string' && !OWN_SITES.has(site);
}

const foreign = () => new Refusal('forbidden', 'Not from another site');

/** Programs send none. `null` is the origin of a sandboxed frame: a message, not the page. */
function isOwnOrigin({ headers }: IncomingMessage, known: ReadonlySet<string>): boolean {
  const { origin, host } = headers;
  if (origin === undefined) return true;
  if (!URL.canParse(origin)) return false;
  const url = new URL(origin);
  return url.host === host?.toLowerCase() || (url.port === '' && known.has(hostName(url.host)));
}

/** The one place where what was thrown behind `/api` becomes an answer. */
export function answerFailures(logger: Logger) {
  // oxlint-disable-next-line no-unused-vars -- express tells it by its four parameters
  return (error: unknown, _req: Request, res: Response, _next: NextFunction): void => {
    const refusal = asRefusal(error);
    if (refusal.status >= 500) logger.warn('console.failed', errorFields(refusal.cause ?? error));
    // An answer that has begun is cut off: a clean end would look complete.
    if (res.headersSent) res.destroy();
    else refuse(res, refusal);
  };
}

function asRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof URIError) return new Refusal('invalid', 'The path is not valid');
  const status = statusOf(error);
  if (status === 413) return new Refusal('invalid', 'Too large', { status });
  if (status === 415) return new Refusal('invalid', 'Not in this encoding', { status });
  if (status === 400) return new Refusal('invalid', 'Not valid JSON');
  return new Refusal('internal', 'Something went wrong; see the log', {
    status: 500,
    cause: error,
  });
}

/** Of what the body parser throws. */
function statusOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('status' in error)) return undefined;
  return typeof error.status === 'number' ? error.status : undefined;
}
