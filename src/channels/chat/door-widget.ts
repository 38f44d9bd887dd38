import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { type NextFunction, type Request, type Response, Router } from 'express';
import { fileTypeFromBuffer } from 'file-type';
import type { Logger } from '../../observability/logger.ts';
import { MAX_PICTURE_BYTES } from '../../domain/widget-files.ts';
import { codeOf } from '../../runtime/error-code.ts';
import {
  WIDGET_CONFIG_PATH,
  WIDGET_TEXTS_PATH,
  type WidgetConfig,
  type WidgetRefusal,
} from './events.ts';
import type { RefusedOrigins } from './refused-origins.ts';
import type { ReplyTimes } from './reply-times.ts';
import { type ChatShop, Origins } from './shop.ts';
import { WidgetTexts } from './widget-texts.ts';

export interface WidgetRoutesOptions {
  readonly shops: readonly ChatShop[];
  /** `http.publicUrl` */
  readonly publicUrl: string;
  /** The folder of the built widget. */
  readonly folder: string;
  readonly replyTimes: Pick<ReplyTimes, 'usualSeconds'>;
  readonly refused: Pick<RefusedOrigins, 'note'>;
  readonly logger: Logger;
}

/**
 * All pages get an upgrade within this time. The loader must not be stale, since it names the main
 * part's file.
 */
const LOADER_CACHE = 'public, max-age=300, must-revalidate';
/** The name contains a hash of the content. */
const MAIN_CACHE = 'public, max-age=31536000, immutable';
const CONFIG_CACHE = 'public, max-age=60';
/** Changed texts keep their URL, */
const TEXTS_CACHE = 'public, max-age=300';
/** and so does a replaced picture. */
const PICTURE_CACHE = 'public, max-age=300';
/** The language subtag of BCP 47, and so no path. */
const LANGUAGE = /^[a-z]{2,3}$/;
const MISSING_CACHE = 'no-store';
const RETRY_AFTER_SECONDS = '5';

/** Serves the widget's files and each shop's widget settings: public, for any origin. */
export function createWidgetRoutes(options: WidgetRoutesOptions): Router {
  const { shops, publicUrl, folder, replyTimes, refused, logger } = options;
  const files = new WidgetFiles(folder);
  const texts = new WidgetTexts({ folder: join(folder, 'texts'), logger });
  const byKey = new Map(shops.map((shop) => [shop.key, shop]));
  const sendTexts = textsSender();
  const pictures = new Map(shops.flatMap((shop) => [...(shop.pictures ?? [])]));

  const serve =
    (nameOf: (request: Request) => string, cache: string) =>
    (request: Request, response: Response, next: NextFunction): void => {
      allowAnyOrigin(response);
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
  router.get(`${WIDGET_CONFIG_PATH}:key`, async (request, response) => {
    const shop = byKey.get(request.params.key);
    response.vary('Origin');
    if (shop === undefined) {
      refuseJson(response, 404, 'unknown_key' satisfies WidgetRefusal);
      return;
    }
    const [asking, ...others] = askingOrigins(request, publicUrl);
    if (asking !== undefined && ![asking, ...others].some((each) => Origins.admits(shop, each))) {
      refused.note(shop, asking, publicUrl);
      refuseJson(response, 403, 'origin' satisfies WidgetRefusal);
      return;
    }
    const usualReplySeconds = replyTimes.usualSeconds(shop.shopId);
    const languages = await texts.launchersOf(shop);
    sendJson(response, CONFIG_CACHE, {
      ...shop.widget,
      ...(usualReplySeconds && { usualReplySeconds }),
      ...(languages && { languages }),
    } satisfies WidgetConfig);
  });
  const serveTexts = async (
    shop: Pick<ChatShop, 'texts'> | undefined,
    language: string,
    request: Request,
    response: Response,
  ): Promise<void> => {
    const found =
      shop !== undefined && LANGUAGE.test(language) ? await texts.of(shop, language) : undefined;
    if (found === undefined) refuseJson(response, 404, 'unknown_language');
    else await sendTexts(request, response, found);
  };
  router.get(`${WIDGET_TEXTS_PATH}:key/:language`, async (request, response) => {
    const { key, language } = request.params;
    await serveTexts(byKey.get(key), language, request, response);
  });
  // The widget's own, for a page that is refused: its key may be unknown.
  router.get(`${WIDGET_TEXTS_PATH}:language`, async (request, response) => {
    await serveTexts({}, request.params.language, request, response);
  });
  router.get('/widget/picture/:name', (request, response, next) => {
    allowAnyOrigin(response);
    readPicture(pictures.get(request.params.name))
      .then((picture) => {
        if (picture === undefined) refuse(response, 'no such file');
        else response.set('Cache-Control', PICTURE_CACHE).type(picture.type).send(picture.bytes);
      })
      .catch(next);
  });
  router.get(
    '/widget/:file',
    // The loader has a single URL, under which it is not cached for a year.
    serve(
      ({ params }) => (params['file'] === LOADER_FILE ? '' : String(params['file'])),
      MAIN_CACHE,
    ),
  );
  return router;
}

function sendJson(response: Response, cache: string, body: object): void {
  allowAnyOrigin(response);
  response.type('application/json').set('Cache-Control', cache).end(JSON.stringify(body));
}

/**
 * Sends texts compressed, since they count to what a page loads before the first message. Each is
 * compressed once: the route is public.
 */
function textsSender() {
  const zipped = new Map<string, Promise<Buffer>>();
  return async (request: Request, response: Response, texts: object): Promise<void> => {
    response.vary('Accept-Encoding');
    if (request.acceptsEncodings('gzip') !== 'gzip') {
      sendJson(response, TEXTS_CACHE, texts);
      return;
    }
    const json = JSON.stringify(texts);
    const found = zipped.get(json) ?? zip(json, { level: 9 });
    if (zipped.size >= MAX_KEPT) zipped.clear();
    zipped.set(json, found);
    const bytes = await found;
    allowAnyOrigin(response);
    response.set({ 'Cache-Control': TEXTS_CACHE, 'Content-Encoding': 'gzip' });
    response.type('application/json').end(bytes);
  };
}

/**
 * The origins that the asking page may have; none when that cannot be told. Browsers send no Origin
 * when a page asks its own, the gateway's, whose scheme and host a reverse proxy may have changed.
 */
function askingOrigins({ headers }: Request, publicUrl: string): readonly string[] {
  const { origin, host = '' } = headers;
  if (origin !== undefined) return [origin];
  if (headers['sec-fetch-site'] !== 'same-origin') return [];
  return [new URL(publicUrl).origin, `https://${host}`, `http://${host}`];
}

function refuseJson(response: Response, status: 403 | 404, error: string): void {
  response.status(status);
  sendJson(response, MISSING_CACHE, { error });
}

type Missing = 'not built' | 'no such file';

async function find(files: WidgetFiles, name: string): Promise<WidgetFile | Missing> {
  const file = await files.get(name);
  if (file !== undefined) return file;
  const isBuilt = name !== LOADER_FILE && (await files.get(LOADER_FILE)) !== undefined;
  return isBuilt ? 'no such file' : 'not built';
}

/** Any page may load it, with or without CORS, and with `Cross-Origin-Embedder-Policy`. */
function allowAnyOrigin(response: Response): void {
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
  response.set({
    'Content-Type': 'text/javascript; charset=utf-8',
    'Cache-Control': cache,
    // Each encoding has its own ETag (RFC 9110 §8.8.3.3).
    ETag: `"${file.hash}-${encoding}"`,
    Vary: 'Accept-Encoding',
  });
  if (encoding !== 'identity' && !request.fresh) response.set('Content-Encoding', encoding);
  // 304 if the request names this ETag.
  response.send(file.forms[encoding]);
}

/** The smallest encoding that the client accepts, in any order. */
function encodingFor(request: Request): Encoding {
  const preferred = ['br', 'gzip'] as const;
  return preferred.find((each) => request.acceptsEncodings(each) === each) ?? 'identity';
}

/** The file name of the loader, which the page's script tag requests. */
const LOADER_FILE = 'widget.js';
/** Only these names are read, so no path can lead out of the folder. */
const NAME = /^(?:widget|(?:main|part)-[\w-]{1,64})\.js$/;

/** One file of the widget in all encodings. */
interface WidgetFile {
  /** Of the content, without quotes. */
  readonly hash: string;
  readonly forms: Readonly<Record<Encoding, Buffer>>;
}

type Encoding = 'br' | 'gzip' | 'identity';

interface Known {
  readonly version: string;
  readonly file: Promise<WidgetFile>;
}

/**
 * The number of files in memory. There is room for this build and some earlier ones, whose files open
 * pages may still request.
 */
const MAX_KEPT = 80;

/**
 * The built widget, read and compressed once. A changed file is read again, so a rebuild needs no
 * restart. A removed file is served from memory as long as the process runs: a build removes the
 * folder briefly, and a page that was opened before an upgrade requests the main part that its
 * loader names.
 */
class WidgetFiles {
  readonly #folder: string;
  readonly #known = new Map<string, Known>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The file with this name; undefined if it has never existed. */
  async get(name: string): Promise<WidgetFile | undefined> {
    if (!NAME.test(name)) return undefined;
    const path = join(this.#folder, name);
    const version = await versionOf(path);
    const known = this.#known.get(name);
    if (version === undefined || version === known?.version) return known?.file;
    const file = readFileForms(path);
    this.#keep(name, { version, file });
    try {
      return await file;
    } catch (error) {
      // It was removed between the two calls; the earlier version is served.
      if (known === undefined) this.#known.delete(name);
      else this.#known.set(name, known);
      if (isMissing(error)) return known?.file;
      throw error;
    }
  }

  #keep(name: string, known: Known): void {
    this.#known.delete(name);
    this.#known.set(name, known);
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= MAX_KEPT) break;
      if (oldest !== LOADER_FILE) this.#known.delete(oldest);
    }
  }
}

/** What browsers decode, without markup. */
const PICTURE_TYPES = new Set(['image/png', 'image/jpeg', 'image/webp', 'image/gif', 'image/avif']);

/** Undefined: it is missing, too large, or no picture. */
async function readPicture(
  path: string | undefined,
): Promise<{ readonly type: string; readonly bytes: Buffer } | undefined> {
  if (path === undefined) return undefined;
  try {
    const { size } = await stat(path);
    if (size > MAX_PICTURE_BYTES) return undefined;
    const bytes = await readFile(path);
    const type = (await fileTypeFromBuffer(bytes))?.mime ?? '';
    return PICTURE_TYPES.has(type) ? { type, bytes } : undefined;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

async function versionOf(path: string): Promise<string | undefined> {
  try {
    const { ino, mtimeMs, size } = await stat(path);
    return `${ino}/${mtimeMs}/${size}`;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

const isMissing = (error: unknown): boolean => ['ENOENT', 'ENOTDIR'].includes(codeOf(error));

const brotli = promisify(brotliCompress);
const zip = promisify(gzip);

async function readFileForms(path: string): Promise<WidgetFile> {
  const identity = await readFile(path);
  const [br, gz] = await Promise.all([
    brotli(identity, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: identity.length } }),
    zip(identity, { level: 9 }),
  ]);
  const hash = createHash('sha256').update(identity).digest('base64url').slice(0, 22);
  return { hash, forms: { br, gzip: gz, identity } };
}
