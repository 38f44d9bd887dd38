import { type NextFunction, type Request, type Response, Router } from 'express';
import type { ChatShop } from './shop.ts';
import { WIDGET_CONFIG_PATH } from './widget-config.ts';
import { type Encoding, LOADER_FILE, type WidgetFile, WidgetFiles } from './widget-files.ts';

export interface WidgetRoutesOptions {
  readonly shops: readonly ChatShop[];
  /** Where the build has put the widget. */
  readonly folder: string;
}

/** An upgrade reaches every page within this: never stale, since it names the main part's file. */
const LOADER_CACHE = 'public, max-age=300, must-revalidate';
/** The name holds a hash of the content. */
const MAIN_CACHE = 'public, max-age=31536000, immutable';
const CONFIG_CACHE = 'public, max-age=60';
const MISSING_CACHE = 'no-store';
const RETRY_AFTER_SECONDS = '5';

/** The widget's files and each shop's wishes for it: public, the same for everyone, any origin. */
export function createWidgetRoutes({ shops, folder }: WidgetRoutesOptions): Router {
  const files = new WidgetFiles(folder);
  const configs = new Map(shops.map(({ key, widget }) => [key, JSON.stringify(widget ?? {})]));

  const serve =
    (nameOf: (request: Request) => string, cache: string) =>
    (request: Request, response: Response, next: NextFunction): void => {
      forEveryone(response);
      const name = nameOf(request);
      find(files, name)
        .then((found) => {
          if (typeof found === 'string') refuse(response, found);
          else send(request, response, found, cache);
        })
        .catch(next);
    };

  const router = Router();
  router.get(
    `/${LOADER_FILE}`,
    serve(() => LOADER_FILE, LOADER_CACHE),
  );
  router.get(`${WIDGET_CONFIG_PATH}:key`, (request, response) => {
    forEveryone(response);
    const config = configs.get(request.params.key);
    response.type('application/json');
    if (config !== undefined) {
      response.set('Cache-Control', CONFIG_CACHE).end(config);
      return;
    }
    response.status(404).set('Cache-Control', MISSING_CACHE).end('{"error":"unknown_key"}');
  });
  router.get(
    '/widget/:file',
    // The loader has one address only, where it is not kept for a year.
    serve(
      ({ params }) => (params['file'] === LOADER_FILE ? '' : String(params['file'])),
      MAIN_CACHE,
    ),
  );
  return router;
}

type Missing = 'not built' | 'no such file';

async function find(files: WidgetFiles, name: string): Promise<WidgetFile | Missing> {
  const file = await files.get(name);
  if (file !== undefined) return file;
  const isBuilt = name !== LOADER_FILE && (await files.get(LOADER_FILE)) !== undefined;
  return isBuilt ? 'no such file' : 'not built';
}

/** Any page may load it, with or without CORS, under `Cross-Origin-Embedder-Policy` too. */
function forEveryone(response: Response): void {
  response.set({
    'Access-Control-Allow-Origin': '*',
    'Cross-Origin-Resource-Policy': 'cross-origin',
    'X-Content-Type-Options': 'nosniff',
  });
}

function refuse(response: Response, why: Missing): void {
  response.type('text/plain').set('Cache-Control', MISSING_CACHE);
  if (why === 'no such file') {
    const reload = 'This version of the widget is not here (any more); reload the page.\n';
    response.status(404).end(reload);
    return;
  }
  response.status(503).set('Retry-After', RETRY_AFTER_SECONDS);
  response.end('The widget is not built: run "npm run build" where the gateway is installed.\n');
}

function send(request: Request, response: Response, file: WidgetFile, cache: string): void {
  const encoding = encodingFor(request);
  // Each form has an ETag of its own (RFC 9110 §8.8.3.3).
  const etag = `"${file.hash}-${encoding}"`;
  response.set({ 'Cache-Control': cache, ETag: etag, Vary: 'Accept-Encoding' });
  if (isNamed(etag, request.headers['if-none-match'])) {
    response.status(304).end();
    return;
  }
  const body = file.forms[encoding];
  response.set({
    'Content-Type': 'text/javascript; charset=utf-8',
    'Content-Length': String(body.length),
  });
  if (encoding !== 'identity') response.set('Content-Encoding', encoding);
  response.end(body);
}

/** The smallest that the client takes, whatever order it names them in. */
function encodingFor(request: Request): Encoding {
  const preferred = ['br', 'gzip'] as const;
  return preferred.find((each) => request.acceptsEncodings(each) === each) ?? 'identity';
}

/** `If-None-Match`, RFC 9110 §13.1.2: a list, compared weakly. */
function isNamed(etag: string, header: string | undefined): boolean {
  if (header === undefined) return false;
  return header.split(',').some((each) => {
    const named = each.trim().replace(/^W\//, '');
    return named === '*' || named === etag;
  });
}
