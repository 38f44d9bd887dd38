import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Server, type Socket } from 'socket.io';
import type {
  HistoryAck,
  HistoryRequest,
  MessageEvent,
  SessionEvent,
} from '../../../src/channels/chat/events.ts';
import { ends } from '../../support/ends.ts';

type Gate = (socket: Socket, next: (error?: Error) => void) => void;

/** A server that misbehaves on demand: it loses lines, refuses requests and answers late. */
export class ScriptedServer {
  readonly url: string;
  readonly history: HistoryRequest[] = [];
  session: SessionEvent = {
    ...{ token: 'token', visitorId: 'visitor', lastSeq: 0, seenSeq: 0, verified: false },
    limits: { text: 8_000, files: 10, fileBytes: 1_000 },
  };
  /** The answer to `history`; by default every line there is. */
  answer: (request: HistoryRequest) => HistoryAck;
  readonly #io: Server;

  private constructor(io: Server, url: string, lines: readonly MessageEvent[]) {
    this.url = url;
    this.#io = io;
    this.answer = ({ before = Infinity, limit = 50 }) => {
      const older = lines.filter(({ seq }) => seq < before);
      const messages = older.slice(-limit);
      return { ok: true, messages, more: messages.length < older.length };
    };
    io.on('connection', (socket) => {
      socket.emit('session', this.session);
      socket.on('history', (request: HistoryRequest, ack: (answer: HistoryAck) => void) => {
        this.history.push(request);
        ack(this.answer(request));
      });
    });
  }

  static async start(
    gate: Gate = (_socket, next) => next(),
    lines: readonly MessageEvent[] = [],
    options: { refusesWebSockets?: boolean; swallowsWebSockets?: boolean } = {},
  ): Promise<ScriptedServer> {
    const { refusesWebSockets = false, swallowsWebSockets = false } = options;
    const http = createServer();
    const transports = refusesWebSockets ? (['polling'] as const) : undefined;
    const io = new Server(http, {
      path: '/chat',
      ...(transports && { transports: [...transports] }),
    });
    io.use(gate);
    if (swallowsWebSockets) {
      http.removeAllListeners('upgrade');
      http.on('upgrade', (_request, socket) => ends(() => socket.destroy()));
    }
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    ends(() => io.close());
    // A listening TCP server's address is never a string.
    const { port } = http.address() as AddressInfo;
    return new ScriptedServer(io, `http://127.0.0.1:${port}`, lines);
  }

  send(...lines: MessageEvent[]): void {
    for (const line of lines) this.#io.emit('message', line);
  }
}

export const aLine = (seq: number, change: Partial<MessageEvent> = {}): MessageEvent => ({
  ...{ seq, id: `id-${seq}`, from: 'agent', text: `line ${seq}`, format: 'TEXT' },
  ...{ attachments: [], at: seq * 1_000 },
  ...change,
});

export const lines = (from: number, to: number): MessageEvent[] =>
  Array.from({ length: to - from + 1 }, (_, index) => aLine(from + index));
