import type { Leases } from '../../src/runtime/leases.ts';
import { Readable } from 'node:stream';
import { Conversations } from '../../src/delivery/conversations.ts';
import { Dispatcher } from '../../src/delivery/dispatcher.ts';
import { ShopPlatform } from '../../src/delivery/shop-platform.ts';
import { createIntake, type Intake } from '../../src/intake/intake.ts';
import type { Attachment, Normalizer } from '../../src/intake/normalizer.ts';
import type { LogFields, Logger } from '../../src/observability/logger.ts';
import { createMetrics } from '../../src/observability/metrics.ts';
import { PlatformClient } from '../../src/platform-api/client.ts';
import type { CreateMessageRequest } from '../../src/platform-api/schemas.ts';
import type { Send } from '../../src/platform-api/transport.ts';
import type { Entry, Outcome } from '../../src/spool/entry.ts';
import type { Spool } from '../../src/spool/spool.ts';
import { asShopId } from '../../src/domain/ids.ts';
import type { PlatformModel } from './platform-model.ts';
import type { Random } from './random.ts';
import type { VirtualTime } from './virtual-time.ts';

/** The content of a simulated message; stored as its entry's meta. */
export interface Wanted {
  readonly contact: { readonly email?: string; readonly name?: string; readonly phone?: string };
  readonly content: string;
  readonly format: 'TEXT' | 'MARKDOWN' | 'HTML';
  readonly cc: readonly string[];
  readonly attachments: readonly string[];
}

export interface HeartOptions {
  readonly time: VirtualTime;
  readonly spool: Spool;
  readonly leases: Leases;
  readonly platform: Pick<PlatformModel, 'handle'>;
  readonly shops: readonly { readonly shopId: string; readonly apiKey: string }[];
  readonly random: Random;
  /** The offset of this process's clock from the simulated time. */
  readonly skewMs: number;
  readonly concurrency: number;
  readonly requestTimeoutMs: number;
  readonly onSettled: (entry: Entry, outcome: Outcome) => void;
  readonly onLog: (level: string, event: string, fields: LogFields) => void;
}

// Shared by all runs, because no test reads it.
const metrics = createMetrics();
/** Less often than in production: an idle second of virtual time costs as much as a busy one. */
const LOOK_EVERY_MS = 2000;
const AGENTS = { email: 'help@shop.example', sms: '+15550000000', web_chat: undefined } as const;

/** The deliveries of one gateway process: intake, dispatcher and everything behind it. */
export class Heart {
  readonly intake: Intake;
  readonly #options: HeartOptions;
  readonly #dispatcher: Dispatcher;
  #shops: readonly ShopPlatform[];

  constructor(options: HeartOptions) {
    const { time, spool, leases, skewMs, random } = options;
    this.#options = options;
    const clock = () => Math.round(time.now + skewMs);
    const jitter = random.fork('jitter');
    this.#shops = this.#connect();
    this.intake = createIntake({
      // The tables of the chat channel are not used here.
      ...{ spool, chat: undefined as never, metrics, clock },
      onAccepted: () => this.#dispatcher.wake(),
    });
    this.#dispatcher = new Dispatcher(
      this.#shops,
      {
        ...{ spool, leases, intake: this.intake, metrics, clock, logger: loggerOf(options.onLog) },
        conversations: new Conversations(spool, clock),
        normalizers: { email: normalize, sms: normalize, web_chat: normalize },
        random: () => jitter.fraction(),
        giveUpAfterMs: 5 * 24 * 3_600_000,
        onSettled: options.onSettled,
      },
      { concurrency: options.concurrency, lookEveryMs: LOOK_EVERY_MS },
    );
  }

  async start(): Promise<void> {
    await this.#options.spool.recover();
    this.#dispatcher.start();
  }

  /** Reloads the configuration after a change that does not affect deliveries. */
  reload(): void {
    this.#shops = this.#connect(this.#shops);
    for (const shop of this.#shops) shop.tryNow();
    this.#dispatcher.serve(this.#shops, {
      concurrency: this.#options.concurrency,
      lookEveryMs: LOOK_EVERY_MS,
    });
  }

  #connect(before: readonly ShopPlatform[] = []): readonly ShopPlatform[] {
    const { shops, random, requestTimeoutMs, time, skewMs } = this.#options;
    const jitter = random.fork('probes');
    return shops.map(({ shopId, apiKey }, index) => {
      const client = new PlatformClient({
        ...{ baseUrl: 'http://platform.example', apiKey, shopId, requestTimeoutMs },
        mediaTimeoutMs: 4 * requestTimeoutMs,
        send: this.#sender(shopId, apiKey),
      });
      return new ShopPlatform(
        {
          ...{ shopId: asShopId(shopId), name: `shop ${index}`, client },
          platformUrl: 'http://platform.example',
          mediaPermission: { email: 'private', sms: 'private', web_chat: 'private' },
        },
        { clock: () => Math.round(time.now + skewMs), random: () => jitter.fraction() },
        before[index],
      );
    });
  }

  #sender(shopId: string, apiKey: string): Send {
    const { time, platform } = this.#options;
    const headers = {
      authorization: `Bearer ${apiKey}`,
      'x-shop-id': shopId,
      host: 'platform.example',
    };
    return ({ method, path, query, body }, signal) =>
      new Promise((resolve, reject) => {
        const answer = platform.handle({
          ...{ method, headers },
          path: query ? `${path}?${query}` : path,
          ...(body !== undefined && { body: sent(body) }),
        });
        signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true });
        if (answer.kind === 'silence') return;
        const afterMs = answer.kind === 'refused' ? 1 : answer.afterMs;
        time.reach(time.now + afterMs, () => {
          if (answer.kind !== 'answer') {
            const code = answer.kind === 'refused' ? 'ECONNREFUSED' : 'ECONNRESET';
            reject(Object.assign(new Error(code), { code }));
            return;
          }
          const { status, body: text, headers: received } = answer;
          resolve({ status, text, retryAfter: received['retry-after'] });
        });
      });
  }
}

const sent = (body: string | Readable): unknown =>
  typeof body === 'string'
    ? JSON.parse(body)
    : { file: { name: 'a.txt', type: 'text/plain', size: 5 }, permission: 'private' };

const normalize: Normalizer = ({ entry }) => {
  const { contact, content, format, cc, attachments } = entry.meta as unknown as Wanted;
  const agent = AGENTS[entry.channel];
  const request: CreateMessageRequest = {
    contact,
    conversation: {
      ...{ direction: 'inbound', type: entry.channel },
      ...(agent !== undefined && { agent_contact: agent }),
    },
    message: {
      ...{ content, format, remote_id: entry.remoteId },
      timestamp: new Date(entry.receivedAt).toISOString(),
      ...(entry.channel === 'email' && {
        email: { subject: 'x', cc: cc.map((email) => ({ email, name: 'x' })) },
      }),
    },
  };
  return Promise.resolve({
    ...{ verdict: { kind: 'deliver' }, request, findings: {} },
    attachments: attachments.map((name): Attachment => ({
      part: name,
      placeholder: `[missing: ${name}]`,
      open: () =>
        Promise.resolve({
          ...{ name, type: 'text/plain', size: 5 },
          stream: () => Readable.from([Buffer.from('bytes')]),
        }),
    })),
    dispose: () => Promise.resolve(),
  });
};

function loggerOf(onLog: HeartOptions['onLog']): Logger {
  const write =
    (level: string) =>
    (event: string, fields: LogFields = {}) =>
      onLog(level, event, fields);
  const logger: Logger = {
    ...{ error: write('error'), warn: write('warn') },
    info: () => undefined,
    debug: () => undefined,
    with: () => logger,
  };
  return logger;
}
