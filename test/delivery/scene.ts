import { type Leases, soleLeases } from '../../src/runtime/leases.ts';
import { Readable } from 'node:stream';
import { Conversations } from '../../src/delivery/conversations.ts';
import { Dispatcher } from '../../src/delivery/dispatcher.ts';
import { ShopPlatform } from '../../src/delivery/shop-platform.ts';
import { createIntake } from '../../src/intake/intake.ts';
import {
  type Attachment,
  type Normalizer,
  NotYet,
  type Verdict,
} from '../../src/intake/normalizer.ts';
import { type Logger, silentLogger } from '../../src/observability/logger.ts';
import { createMetrics } from '../../src/observability/metrics.ts';
import { PlatformClient } from '../../src/platform-api/client.ts';
import { ConnectionPool } from '../../src/platform-api/transport.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import type { Entry, NewEntry, Outcome } from '../../src/spool/entry.ts';
import type { EntryState } from '../../src/domain/entry-state.ts';
import type { Store } from '../../src/spool/store.ts';
import { openStore } from '../support/store.ts';
import { asShopId, type ShopId } from '../../src/domain/ids.ts';
import { ends } from '../support/ends.ts';
import { anEntry, SHOP } from '../support/entries.ts';
import { type Answer, ScriptedPlatform, type Seen } from '../support/scripted-platform.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait-for.ts';

/** What a test wants normalized; it travels as the entry's meta. */
export interface Wanted {
  readonly content?: string;
  readonly verdict?: Verdict;
  readonly attachments?: readonly string[];
  readonly format?: 'TEXT' | 'MARKDOWN';
  /** Instead of a phone number. */
  readonly email?: string;
  readonly cc?: readonly string[];
  readonly references?: readonly string[];
  /** What it made cannot be removed. */
  readonly leavesFiles?: boolean;
  /** The first attempt notes this and puts the entry back; the next one has it as its content. */
  readonly memo?: string;
}

export interface SceneOptions {
  readonly shops?: number;
  readonly concurrency?: number;
  readonly requestTimeoutMs?: number;
  readonly leases?: Leases;
  /** The dispatcher's. */
  readonly clock?: Clock;
  /** Another store than the one in files; it stays open. */
  readonly store?: Pick<Store, 'spool' | 'chat' | 'operator'>;
}

export type Scene = Awaited<ReturnType<typeof deliveryScene>>;

export const json = (status: number, body: unknown = {}) => ({ status, body });
export const isCreate = ({ method, path }: Seen): boolean =>
  method === 'POST' && path === '/messages/';
/** Answers create message so, and everything else as ever. */
export const toCreate =
  (answer: Answer | ((seen: Seen, nth: number) => Answer | undefined)) =>
  (seen: Seen, nth: number): Answer | undefined => {
    if (!isCreate(seen)) return undefined;
    return typeof answer === 'function' ? answer(seen, nth) : answer;
  };

export const message = (meta: Wanted = {}, change: Partial<NewEntry> = {}): NewEntry =>
  anEntry({ meta: { ...meta }, ...change });

/** Delivery as it runs in the gateway, before a platform that answers what the test says. */
export async function deliveryScene({
  shops: shopCount = 1,
  concurrency = 8,
  requestTimeoutMs = 2000,
  leases = soleLeases,
  clock = Date.now,
  store: given,
}: SceneOptions = {}) {
  const dir = tempDir();
  ends(() => dir.remove());
  const platform = new ScriptedPlatform();
  const platformUrl = await platform.start();
  ends(() => platform.stop());
  const store = given ?? (await openStore(dir.path));
  if (given === undefined) ends(() => store.spool.close());
  const pool = new ConnectionPool();
  ends(() => pool.close());

  const settled: { entry: Entry; outcome: Outcome }[] = [];
  const logged: string[] = [];
  const opened: string[] = [];
  const metrics = createMetrics();
  /** The shops' clock is ahead by so much. */
  const ahead = { ms: 0 };
  const files = { open: (name: string) => Promise.resolve(Buffer.from(`bytes of ${name}`)) };
  const normalize = normalizerOf(files, opened);
  const shops = Array.from({ length: shopCount }, (_, n) => {
    const shopId = n === 0 ? SHOP : asShopId(`00000000-0000-4000-8000-00000000010${n}`);
    return new ShopPlatform(
      {
        ...{ shopId, name: `shop ${n}`, platformUrl },
        mediaPermission: { email: 'private', sms: 'private', web_chat: 'private' },
        client: new PlatformClient({
          ...{ baseUrl: platformUrl, apiKey: 'secret-key', shopId, pool },
          ...{ requestTimeoutMs, mediaTimeoutMs: requestTimeoutMs },
        }),
      },
      { clock: () => Date.now() + ahead.ms, random: () => 0 },
    );
  });
  const intake = createIntake({
    ...{ spool: store.spool, chat: store.chat, metrics, clock: Date.now },
    onAccepted: () => dispatcher.wake(),
  });
  const dispatcher: Dispatcher = new Dispatcher(
    shops,
    {
      ...{ spool: store.spool, leases, intake, metrics, clock, random: () => 0 },
      conversations: new Conversations(store.spool, Date.now),
      normalizers: { email: normalize, sms: normalize, web_chat: normalize },
      logger: recording(logged),
      giveUpAfterMs: 3_600_000,
      onSettled: (entry, outcome) => settled.push({ entry, outcome }),
    },
    { concurrency },
  );
  const [shop] = shops;
  if (shop === undefined) throw new Error('a scene without a shop');
  dispatcher.start();
  ends(() => dispatcher.stop(0));

  const submit = async (...entries: NewEntry[]) => {
    await store.spool.accept(entries);
    dispatcher.wake();
  };
  const reached = (entry: NewEntry, state: EntryState) =>
    waitFor(`${entry.id} ${state}`, async () => {
      const now = await store.spool.get(entry.id);
      return now?.state === state && now;
    });
  /** Until an attempt at it has been settled as `queued`. */
  const waits = (entry: NewEntry) =>
    waitFor(`${entry.id} to wait`, async () => {
      const now = await store.spool.get(entry.id);
      return now?.state === 'queued' && now.lastAttemptAt > 0 && now;
    });
  return {
    ...{ dir: dir.path, platform, store, shop, shops, dispatcher, metrics, ahead, files },
    ...{ settled, logged, opened, submit, reached, waits },
    /** Submits one, waits until it has come to this. */
    comesTo: async (entry: NewEntry, state: EntryState) => {
      await submit(entry);
      return reached(entry, state);
    },
    /** As an operator does: probes and canaries are sent at once. */
    tryNow: () => {
      for (const each of shops) each.tryNow();
      dispatcher.wake();
    },
    /** Probes follow one another without a pause until the test ends. */
    keepTrying: () => {
      const timer = setInterval(() => {
        for (const each of shops) each.tryNow();
        dispatcher.wake();
      }, 20);
      ends(() => clearInterval(timer));
    },
    stepsOf: async (entry: NewEntry) =>
      (await store.spool.timeline(entry.id)).map(({ step }) => step),
    rungsOf: async (entry: NewEntry) =>
      (await store.spool.timeline(entry.id)).flatMap(({ detail }) => detail?.['rung'] ?? []),
    alarm: async (name: string) => {
      const { values } = await metrics.alarms.get();
      return values.find(({ labels }) => labels.alarm === name)?.value ?? 0;
    },
    ofShop: (shopId: ShopId, entry: NewEntry): NewEntry => ({ ...entry, shopId }),
  };
}

function normalizerOf(
  files: { readonly open: (name: string) => Promise<Buffer> },
  opened: string[],
): Normalizer {
  return ({ entry, notes }) => {
    // Written by `message`.
    const wanted = entry.meta as Wanted;
    const {
      content = 'hello',
      format = 'MARKDOWN',
      attachments = [],
      email,
      cc,
      references,
      leavesFiles = false,
      memo,
    } = wanted;
    const noted = memo === undefined ? undefined : notes['channel'];
    if (memo !== undefined && noted === undefined) {
      const options = { memo: { memo }, detach: true };
      return Promise.reject(new NotYet({ code: 'sender_not_checked' }, 1, options));
    }
    return Promise.resolve({
      verdict: wanted.verdict ?? { kind: 'deliver' },
      request: {
        contact: email === undefined ? { phone: '+15550002222' } : { email, name: 'Ann' },
        conversation: { direction: 'inbound', type: entry.channel, agent_contact: '+1' },
        message: {
          ...{ content: noted === undefined ? content : JSON.stringify(noted) },
          ...{ format, remote_id: entry.remoteId },
          ...((cc ?? references) && {
            email: {
              ...(cc && { cc: cc.map((address) => ({ email: address })) }),
              ...(references && { references: [...references] }),
            },
          }),
        },
      },
      attachments: attachments.map((name): Attachment => ({
        part: name,
        placeholder: `[missing: ${name}]`,
        open: async () => {
          opened.push(name);
          const bytes = await files.open(name);
          const stream = () => Readable.from([bytes]);
          return { name, type: 'text/plain', size: bytes.length, stream };
        },
      })),
      findings: {},
      dispose: () => (leavesFiles ? Promise.reject(new Error('EBUSY')) : Promise.resolve()),
    });
  };
}

function recording(lines: string[], fields: object = {}): Logger {
  const write = (level: string) => (event: string, more?: object) =>
    void lines.push(JSON.stringify({ level, event, ...fields, ...more }));
  return {
    ...silentLogger,
    ...{ error: write('error'), warn: write('warn'), info: write('info'), debug: write('debug') },
    with: (more) => recording(lines, { ...fields, ...more }),
  };
}
