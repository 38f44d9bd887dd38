import type { Command } from 'commander';
import { completeFromExisting } from '../../config/complete.ts';
import type { Config, ShopConfig } from '../../config/config.ts';
import { LOCAL } from '../../gateway/platform-url.ts';
import { PlatformClient } from '../../platform-api/client.ts';
import { PlatformError, TransportFailure } from '../../platform-api/errors.ts';
import { configuration } from '../configuration.ts';
import { UsageError, CommandFailed } from '../exit-codes.ts';
import { type Terminal, printable } from '../terminal.ts';

/** What `withConnection` adds to a command. */
interface ConnectionOptions {
  readonly shop?: string;
  readonly url?: string;
  /** Milliseconds. */
  readonly timeout?: number;
}

interface Connection {
  readonly client: PlatformClient;
  readonly shop: ShopConfig;
}

/** Somebody is waiting. */
const RETRY = { retries: 2, minDelayMs: 150, maxRetryAfterMs: 30_000 };

/**
 * Does `work` on the platform of a shop.
 * @param optionOf the option that fills a field of the request, for a field that is refused
 * @throws {CommandFailed} what the platform or the network said, in words
 * @throws {UsageError} it is not clear which shop or which platform is meant
 */
export async function onPlatform<T>(
  command: Command,
  terminal: Terminal,
  work: (connection: Connection) => Promise<T>,
  optionOf: Readonly<Record<string, string>> = {},
): Promise<T> {
  const options = command.optsWithGlobals<ConnectionOptions>();
  const { config } = configuration(command, terminal);
  const where = await find(config, options);
  const client = new PlatformClient({
    baseUrl: where.baseUrl,
    apiKey: where.shop.apiKey.reveal(),
    shopId: where.shop.shopId,
    requestTimeoutMs: options.timeout ?? config.delivery.requestTimeout,
    mediaTimeoutMs: options.timeout ?? config.delivery.mediaTimeout,
    retry: RETRY,
  });
  try {
    return await work({ client, shop: where.shop });
  } catch (error) {
    throw error instanceof PlatformError ? failure(error, where, optionOf) : error;
  } finally {
    client.close();
  }
}

async function find(config: Config, { shop: name, url }: ConnectionOptions): Promise<Where> {
  // Configured shops need no generated key: a remote platform can be used where no gateway ran.
  const { shops } = config.shops.length > 0 ? config : await completeFromExisting(config);
  const shop = choose(shops, name);
  const place = { shop, dataDir: config.dataDir };
  if (url !== undefined) return { ...place, baseUrl: url, by: 'option' };
  const configured = shop.platformUrl ?? config.platform.url;
  if (configured !== LOCAL) return { ...place, baseUrl: configured, by: 'configuration' };
  const { port } = config.localPlatform;
  if (port !== 0) return { ...place, baseUrl: `http://127.0.0.1:${port}`, by: 'embedded' };
  throw new UsageError(
    'localPlatform.port is 0 (any free one): give --url with the address that serve printed',
  );
}

function choose(shops: readonly ShopConfig[], name: string | undefined): ShopConfig {
  const names = shops.map((shop) => shop.name).join(', ');
  if (name !== undefined) {
    const found = shops.find((shop) => shop.name === name || shop.shopId === name);
    if (found !== undefined) return found;
    throw new UsageError(`there is no shop ${name}; there are: ${names}`);
  }
  const [only, ...more] = shops;
  if (only !== undefined && more.length === 0) return only;
  throw new UsageError(`which shop? Give --shop with one of: ${names}`);
}

const EXCERPT_CHARS = 200;

/** Where requests go, and how to call it. */
interface Where {
  readonly baseUrl: string;
  readonly shop: ShopConfig;
  /** What says so: `--url`, `platform.url`, or that it is the platform of a gateway here. */
  readonly by: 'option' | 'configuration' | 'embedded';
  readonly dataDir: string;
}

/** What went wrong with a request, by its kind, and what to do about it. */
function failure(
  error: PlatformError,
  where: Where,
  optionOf: Readonly<Record<string, string>>,
): CommandFailed {
  const told = error.code === 'http' ? refusal(error, where, optionOf) : silence(error, where);
  return new CommandFailed(printable(told), { cause: error });
}

/** No answer, or one that is not the platform's. */
function silence(error: PlatformError, { baseUrl, by }: Where): string {
  const { host } = new URL(baseUrl);
  switch (error.code) {
    case 'timeout':
      return `${host} gave no answer in time; --timeout waits longer`;
    case 'too_large':
      return `the answer of ${host} is too large; a smaller --limit makes smaller pages`;
    case 'network':
      return unreachable(error.cause, host, by);
    case 'aborted':
      return 'interrupted';
    case 'invalid':
      return 'nothing has such an id';
    case 'http':
    case 'not_json':
    case 'unexpected':
      return `what answers at ${baseUrl} is not the platform's API; ${doubt(by)}`;
  }
}

function unreachable(cause: unknown, host: string, by: Where['by']): string {
  const { code, message } =
    cause instanceof TransportFailure ? cause : { code: '', message: 'unknown failure' };
  if (code === 'ECONNREFUSED' && by === 'embedded') {
    return (
      `nothing listens at ${host}: start the gateway first (npm start); ` +
      'if its local platform listens elsewhere, give --url'
    );
  }
  if (code === 'ECONNREFUSED') return `nothing listens at ${host}; ${doubt(by)}`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return `there is no host ${host} (${code}); ${doubt(by)}`;
  }
  return `${host} cannot be reached: ${message} (${code})`;
}

function doubt(by: Where['by']): string {
  switch (by) {
    case 'option':
      return 'is --url right?';
    case 'configuration':
      return "is the shop's platformUrl right, or platform.url?";
    case 'embedded':
      return 'is localPlatform.port the one that the gateway runs on?';
  }
}

function refusal(
  error: PlatformError,
  where: Where,
  optionOf: Readonly<Record<string, string>>,
): string {
  const { status = 0 } = error;
  const { shop, baseUrl, by, dataDir } = where;
  switch (status) {
    case 401:
      return (
        `the API key of shop ${shop.name} is not known (401): ` +
        (by === 'embedded'
          ? `does the gateway that listens at ${baseUrl} run with the data folder ${dataDir}?`
          : "is the shop's apiKey right?")
      );
    case 403:
      return `the API key of shop ${shop.name} is not for ${shop.shopId} (403): are its shopId and apiKey right?`;
    case 404:
      return missing(error, optionOf) ?? `${baseUrl} has no such path (404); ${doubt(by)}`;
    case 429:
      return `too many requests (429)${again(error.retryAfterMs)}`;
    default:
      if (status >= 300 && status < 400) {
        return `${baseUrl} points elsewhere (${status}), and the key must not follow; ${doubt(by)}`;
      }
      return `${status >= 500 ? 'the platform failed' : 'refused'} (${status})${reason(error, optionOf)}`;
  }
}

/** What is asked for by its id is not there, or something that the request names. */
function missing(
  { path, problem }: PlatformError,
  optionOf: Readonly<Record<string, string>>,
): string | undefined {
  if (problem !== undefined && Object.keys(problem.fields).length > 0) {
    return `refused (404)${explained(problem.message, problem.fields, optionOf)}`;
  }
  const [, kind, id] =
    /\/(ticket|message|conversation|contact)s\/([0-9a-f-]{36})\/$/i.exec(path) ?? [];
  return kind === undefined || id === undefined ? undefined : `there is no ${kind} ${id}`;
}

function again(afterMs: number | undefined): string {
  return afterMs === undefined ? '' : `: again in ${Math.ceil(afterMs / 1000)} s`;
}

function reason(error: PlatformError, optionOf: Readonly<Record<string, string>>): string {
  const { problem, answer = '' } = error;
  if (problem?.message !== undefined) {
    return explained(problem.message, problem.fields, optionOf);
  }
  const text = answer.trim();
  if (text === '' || text.startsWith('<')) return '';
  return `: ${text.slice(0, EXCERPT_CHARS)}`;
}

function explained(
  message: string | undefined,
  fields: Readonly<Record<string, string>>,
  optionOf: Readonly<Record<string, string>>,
): string {
  const lines = Object.entries(fields).map(([field, what]) => {
    // The place within a list has no option of its own.
    const option = optionOf[field] ?? optionOf[field.replace(/\.\d+(?:\..*)?$/, '')];
    return `\n  ${field}${option === undefined ? '' : ` (${option})`}: ${what}`;
  });
  return `${message === undefined ? '' : `: ${message}`}${lines.join('')}`;
}
