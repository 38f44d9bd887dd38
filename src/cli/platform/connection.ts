import type { Command } from 'commander';
import { completeFromExisting } from '../../config/complete.ts';
import type { Config, ShopConfig } from '../../config/config.ts';
import { LOCAL } from '../../gateway/platform-url.ts';
import { PlatformClient } from '../../platform-api/client.ts';
import { PlatformError, TransportFailure } from '../../platform-api/errors.ts';
import { configuration } from '../configuration.ts';
import { UsageError, CommandFailed } from '../exit-codes.ts';
import { type Terminal, printable } from '../terminal.ts';

/** The options that `withConnection` adds to a command. */
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

/** Short, because the user waits. */
const RETRY = { retries: 2, minDelayMs: 150, maxRetryAfterMs: 30_000 };

/**
 * Runs `work` with a client for a shop's platform.
 * @param optionOf the option that sets a field of the request, for errors that name the field
 * @throws {CommandFailed} the error of the platform or the network, explained
 * @throws {UsageError} the shop or the platform is ambiguous
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
  // Configured shops need no generated key, so a remote platform can be used without a gateway.
  const { shops } = config.shops.length > 0 ? config : await completeFromExisting(config);
  const shop = choose(shops, name);
  const place = { shop, dataDir: config.dataDir };
  if (url !== undefined) return { ...place, baseUrl: url, by: 'option' };
  const configured = shop.platformUrl ?? config.platform.url;
  if (configured !== LOCAL) return { ...place, baseUrl: configured, by: 'configuration' };
  const { port } = config.localPlatform;
  if (port !== 0) return { ...place, baseUrl: `http://127.0.0.1:${port}`, by: 'embedded' };
  throw new UsageError(
    'localPlatform.port is 0 (any free port): give --url with the address that serve printed',
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

/** The target of the requests, and how messages refer to it. */
interface Where {
  readonly baseUrl: string;
  readonly shop: ShopConfig;
  /** Where the URL comes from: `--url`, `platform.url`, or the local platform of a gateway. */
  readonly by: 'option' | 'configuration' | 'embedded';
  readonly dataDir: string;
}

/** Explains a failed request and what to do about it. */
function failure(
  error: PlatformError,
  where: Where,
  optionOf: Readonly<Record<string, string>>,
): CommandFailed {
  const text = error.code === 'http' ? refusal(error, where, optionOf) : noResponse(error, where);
  return new CommandFailed(printable(text), { cause: error });
}

/** Explains a missing response, or one that is not the platform's. */
function noResponse(error: PlatformError, { baseUrl, by }: Where): string {
  const { host } = new URL(baseUrl);
  switch (error.code) {
    case 'timeout':
      return `${host} did not respond in time; --timeout waits longer`;
    case 'too_large':
      return `the response of ${host} is too large; a smaller --limit makes smaller pages`;
    case 'network':
      return unreachable(error.cause, host, by);
    case 'aborted':
      return 'interrupted';
    case 'invalid':
      return 'nothing has this id';
    case 'http':
    case 'not_json':
    case 'unexpected':
    case 'reports_error':
      return `${baseUrl} does not serve the platform's API; ${checkHint(by)}`;
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
  if (code === 'ECONNREFUSED') return `nothing listens at ${host}; ${checkHint(by)}`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return `there is no host ${host} (${code}); ${checkHint(by)}`;
  }
  return `${host} cannot be reached: ${message} (${code})`;
}

function checkHint(by: Where['by']): string {
  switch (by) {
    case 'option':
      return 'is --url right?';
    case 'configuration':
      return "is the shop's platformUrl right, or platform.url?";
    case 'embedded':
      return 'is localPlatform.port that of the running gateway?';
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
        `the API key of shop ${shop.name} is unknown (401): ` +
        (by === 'embedded'
          ? `does the gateway at ${baseUrl} use the data folder ${dataDir}?`
          : "is the shop's apiKey right?")
      );
    case 403:
      return `the API key of shop ${shop.name} is not valid for ${shop.shopId} (403): are its shopId and apiKey right?`;
    case 404:
      return missing(error, optionOf) ?? `${baseUrl} has no such path (404); ${checkHint(by)}`;
    case 429:
      return `too many requests (429)${again(error.retryAfterMs)}`;
    default:
      if (status >= 300 && status < 400) {
        return `${baseUrl} redirects (${status}), which the API key must not follow; ${checkHint(by)}`;
      }
      return `${status >= 500 ? 'the platform failed' : 'refused'} (${status})${reason(error, optionOf)}`;
  }
}

/** The requested resource, or one that the request refers to, does not exist. */
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
  return afterMs === undefined ? '' : `: try again in ${Math.ceil(afterMs / 1000)} s`;
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
    // An index within a list has no option.
    const option = optionOf[field] ?? optionOf[field.split(/\.\d+(?:\.|$)/, 1)[0] ?? ''];
    return `\n  ${field}${option === undefined ? '' : ` (${option})`}: ${what}`;
  });
  return `${message === undefined ? '' : `: ${message}`}${lines.join('')}`;
}
