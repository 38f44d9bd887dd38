import express, { type Request, type Response, type Router } from 'express';
import { z } from 'zod';
import { errorFields, type Logger } from '../../observability/logger.ts';
import { everyInStep } from '../../runtime/clock.ts';
import type {
  DeskSummary,
  History,
  HistoryRange,
  Incident,
  IncidentList,
  Overview,
  StreamEvent,
} from '../contract.ts';
import { checked, Refusal } from './refusal.ts';
import type { EndedSessions, Sessions } from './sessions.ts';
import type { ApiTokens } from './api-tokens.ts';
import type { Role } from './roles.ts';
import { type Caller, callerOf } from './sign-in.ts';

const MAX_STREAMS = 50;
/**
 * Limit per session: a browser opens up to six per host, and closed ones may not be detected yet.
 */
const MAX_PER_SESSION = 12;
const OVERVIEW_EVERY_MS = 2000;
const IDS_EVERY_MS = 1000;
const MAX_IDS = 100;
const HEARTBEAT_MS = 15_000;
/** How long a stream may outlive its token. */
const TOKENS_EVERY_MS = 2000;
/** The events that people at the desk get; the others tell of what they may not request. */
const OF_THE_DESK: ReadonlySet<StreamEvent['event']> = new Set<StreamEvent['event']>([
  ...(['desk', 'tickets', 'presence', 'signed_out'] as const),
]);
/** A reader further behind is disconnected; EventSource reconnects. */
const MAX_BEHIND_BYTES = 1024 * 1024;

interface StreamParts {
  readonly overview: () => Promise<Overview>;
  readonly desk: () => DeskSummary;
  readonly sessions: Sessions;
  readonly tokens: Pick<ApiTokens, 'validIds'>;
  readonly logger: Logger;
}

interface Reader {
  readonly res: Response;
  readonly operator: string;
  readonly role: Role;
  /** Undefined for a program. */
  readonly sessionId: string | undefined;
  readonly token: Caller['token'];
  /** When the reader's session expires. */
  readonly end: NodeJS.Timeout | undefined;
  lastWriteAt: number;
}

/** `GET /api/stream`: sends changes to all open pages (HTML Living Standard §9.2). */
export class Stream {
  readonly #parts: StreamParts;
  readonly #readers = new Set<Reader>();
  /** New and changed entries since the last event. */
  readonly #ids = new Set<string>();
  /** Changed tickets since the last event, by id. */
  readonly #tickets = new Map<string, { readonly shop: string; readonly id: string }>();
  #endTimers: readonly (() => void)[] = [];
  #publishing = false;
  #checking = false;
  #stopListening: () => void = () => undefined;
  #stopped = false;

  constructor(parts: StreamParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#endTimers = [
      everyInStep(OVERVIEW_EVERY_MS, () => {
        this.#publishDesk();
        void this.#publishOverview();
      }),
      everyInStep(IDS_EVERY_MS, () => this.#publishIds()),
      everyInStep(TOKENS_EVERY_MS, () => void this.#checkTokens()),
    ];
    this.#stopListening = this.#parts.sessions.onEnd((ended) => this.#signOut(ended));
  }

  /** Closes all streams and refuses new ones. */
  stop(): void {
    this.#stopped = true;
    for (const end of this.#endTimers) end();
    this.#stopListening();
    for (const reader of this.#readers) this.#close(reader);
  }

  /** Called for every message; returns at once without readers. */
  entryChanged(id: string): void {
    if (this.#readers.size > 0 && this.#ids.size < MAX_IDS) this.#ids.add(id);
  }

  ticketChanged(shop: string, id: string): void {
    if (this.#readers.size > 0 && this.#tickets.size < MAX_IDS) this.#tickets.set(id, { shop, id });
  }

  publish(event: StreamEvent): void {
    const text = frame(event);
    for (const reader of this.#readers) {
      if (isFor(reader, event.event)) this.#write(reader, text);
    }
  }

  /** @throws {Refusal} too many streams are open */
  async open(req: Request, res: Response, caller: Caller): Promise<void> {
    const { operator, role, session, token } = caller;
    const own = [...this.#readers].filter(
      (reader) => reader.operator === operator && reader.sessionId === session?.id,
    );
    if (this.#stopped || this.#readers.size >= MAX_STREAMS || own.length >= MAX_PER_SESSION) {
      throw new Refusal('unavailable', 'Too many streams are open', { retryAfter: 10 });
    }
    res.status(200).set({
      'Content-Type': 'text/event-stream; charset=utf-8',
      // Disables response buffering in proxies, which would delay events.
      'X-Accel-Buffering': 'no',
    });
    if (req.method === 'HEAD') {
      res.end();
      return;
    }
    res.flushHeaders();
    req.socket.setNoDelay(true);
    const reader: Reader = {
      res,
      operator,
      role,
      sessionId: session?.id,
      token,
      end: session && this.#endOf(session),
      lastWriteAt: Date.now(),
    };
    this.#readers.add(reader);
    res.on('close', () => this.#forget(reader));
    res.on('error', () => this.#forget(reader));
    this.#write(reader, 'retry: 2000\n\n');
    try {
      this.#write(reader, frame({ event: 'desk', data: this.#parts.desk() }));
      if (!isFor(reader, 'overview')) return;
      this.#write(reader, frame({ event: 'overview', data: await this.#parts.overview() }));
    } catch (error) {
      // The next interval sends an overview.
      this.#parts.logger.warn('console.failed', errorFields(error));
    }
  }

  #endOf({ id, endsAt }: NonNullable<Caller['session']>): NodeJS.Timeout {
    return setTimeout(
      () => this.#signOut({ session: id }),
      Math.max(0, endsAt - Date.now()),
    ).unref();
  }

  #signOut(ended: EndedSessions): void {
    for (const reader of this.#readers) {
      const isAffected =
        'session' in ended
          ? reader.sessionId === ended.session
          : [reader.operator, reader.token?.madeBy].includes(ended.operator);
      if (isAffected) this.#dismiss(reader);
    }
  }

  /** Tokens are revoked at other gateways and by commands, too, so the store is asked. */
  async #checkTokens(): Promise<void> {
    if (![...this.#readers].some(({ token }) => token !== undefined)) return;
    // The store may answer later than the next time.
    if (this.#checking) return;
    this.#checking = true;
    try {
      const valid = await this.#parts.tokens.validIds();
      for (const reader of this.#readers) {
        if (reader.token !== undefined && !valid.has(reader.token.id)) this.#dismiss(reader);
      }
    } catch (error) {
      this.#parts.logger.warn('console.failed', errorFields(error));
    } finally {
      this.#checking = false;
    }
  }

  #dismiss(reader: Reader): void {
    this.#write(reader, frame({ event: 'signed_out', data: {} }));
    this.#close(reader);
  }

  async #publishOverview(): Promise<void> {
    if (this.#publishing || this.#readers.size === 0) return;
    this.#publishing = true;
    try {
      this.publish({ event: 'overview', data: await this.#parts.overview() });
    } catch (error) {
      this.#parts.logger.warn('console.failed', errorFields(error));
      const now = Date.now();
      for (const reader of this.#readers) {
        if (now - reader.lastWriteAt > HEARTBEAT_MS) this.#write(reader, ': still here\n\n');
      }
    } finally {
      this.#publishing = false;
    }
  }

  #publishDesk(): void {
    if (this.#readers.size === 0) return;
    try {
      this.publish({ event: 'desk', data: this.#parts.desk() });
    } catch (error) {
      this.#parts.logger.warn('console.failed', errorFields(error));
    }
  }

  #publishIds(): void {
    if (this.#ids.size > 0) {
      const ids = [...this.#ids];
      this.#ids.clear();
      this.publish({ event: 'entries', data: { ids } });
    }
    if (this.#tickets.size > 0) {
      const tickets = [...this.#tickets.values()];
      this.#tickets.clear();
      this.publish({ event: 'tickets', data: { tickets } });
    }
  }

  #write(reader: Reader, text: string): void {
    const { res } = reader;
    if (res.writableEnded || res.destroyed) return;
    if (res.writableLength > MAX_BEHIND_BYTES) {
      this.#forget(reader);
      res.destroy();
      return;
    }
    reader.lastWriteAt = Date.now();
    res.write(text);
  }

  #close(reader: Reader): void {
    this.#forget(reader);
    reader.res.end();
  }

  #forget(reader: Reader): void {
    clearTimeout(reader.end);
    this.#readers.delete(reader);
  }
}

const isFor = ({ role }: Reader, event: StreamEvent['event']): boolean =>
  role === 'operator' || OF_THE_DESK.has(event);

const frame = ({ event, data }: StreamEvent): string =>
  `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

interface LiveRouteParts {
  readonly overview: () => Promise<Overview>;
  readonly history: (range: HistoryRange) => History;
  readonly incidents: () => readonly Incident[];
  readonly stream: Stream;
}

export const historyQuerySchema = z.strictObject({
  range: z.enum(['hour', 'day']).default('hour'),
});

/** `GET /overview`, `/history`, `/incidents`, `/stream` */
export function liveRoutes({ overview, history, incidents, stream }: LiveRouteParts): Router {
  const router = express.Router();
  router.get('/overview', async (_req, res) => {
    res.json(await overview());
  });
  router.get('/history', (req, res) => {
    res.json(history(checked(historyQuerySchema, req.query).range));
  });
  router.get('/incidents', (_req, res) => {
    res.json({ incidents: incidents().toReversed() } satisfies IncidentList);
  });
  router.get('/stream', (req, res) => stream.open(req, res, callerOf(res)));
  return router;
}
