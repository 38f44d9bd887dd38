import type { Server as HttpServer } from 'node:http';
import { Server, type Socket } from 'socket.io';
import { z } from 'zod';
import { errorFields, type Logger } from '../../observability/logger.ts';
import type { Message } from '../../platform-api/resources.ts';
import { ApiError, invalidRequest } from '../api-error.ts';
import type { ShopOfKey } from '../authenticate.ts';
import { checked } from '../routes/input.ts';
import { type MessageRow, toMessage } from '../store/rows.ts';
import type { Store } from '../store/store.ts';

export const WEB_CHAT_PATH = '/v2026-04/web-chat/socket.io';

const PACKET_MAX_BYTES = 16 * 1024;
/** Per shop, so that one shop cannot use up the sockets of another. */
const SOCKETS_MAX = 1000;
const JOINED_MAX = 200;
const PAGE_MESSAGES = 50;
const PAGE_MAX_CHARS = 1024 * 1024;
/** A client with more unread packets is disconnected; it can reconnect and fetch what it missed. */
const UNREAD_MAX_PACKETS = 200;

type Failure = ApiError['body'];

/** The answer to `join`. */
export interface Joined {
  /** The messages after `after`, oldest first. */
  readonly messages: readonly Message[];
  /** When false, the conversation is not joined yet: join again after the last of these messages. */
  readonly complete: boolean;
}

interface ClientToServer {
  /** Nothing is checked yet: `answer` is a function only if the client requested an acknowledgement. */
  join: (what: unknown, answer?: (joined: Joined | Failure) => void) => void;
  leave: (what: unknown, answer?: (left: object) => void) => void;
}

interface ServerToClient {
  /** A new message of a joined conversation; a reply of the agent is PENDING. */
  message: (message: Message) => void;
  /** The status of a message has changed. */
  message_updated: (message: Message) => void;
}

interface SocketData {
  shop: string;
}

type ChatServer = Server<ClientToServer, ServerToClient, Record<string, never>, SocketData>;
type ChatSocket = Socket<ClientToServer, ServerToClient, Record<string, never>, SocketData>;

const uuid = z.guid().toLowerCase();
const joinSchema = z.object({ conversation_id: uuid, after: uuid.nullish() });
const leaveSchema = z.object({ conversation_id: uuid });

/**
 * The WebSocket of web chat. An authenticated client joins conversations and receives their messages
 * when they are stored, each once and in order. After a disconnect it joins with the id of its last
 * message, and receives the later ones.
 */
export class ChatSockets {
  readonly #store: Store;
  readonly #logger: Logger;
  readonly #socketsMax: number;
  readonly #server: ChatServer;
  /** The `seq` of the last sent message, by joined conversation. */
  readonly #sentUpTo = new Map<string, number>();

  /** @param socketsMax of each shop */
  constructor(store: Store, shopOfKey: ShopOfKey, logger: Logger, socketsMax = SOCKETS_MAX) {
    this.#store = store;
    this.#logger = logger;
    this.#socketsMax = socketsMax;
    this.#server = new Server({
      path: WEB_CHAT_PATH,
      serveClient: false,
      maxHttpBufferSize: PACKET_MAX_BYTES,
      perMessageDeflate: false,
    });
    this.#server.use((socket, next) => {
      try {
        socket.data.shop = this.#admit(socket, shopOfKey);
        next();
      } catch (error) {
        next(Object.assign(new Error('refused'), { data: this.#failure(error) }));
      }
    });
    this.#server.on('connection', (socket) => this.#serve(socket));
    this.#server.of('/').adapter.on('delete-room', (id: string) => this.#sentUpTo.delete(id));
  }

  attach(server: HttpServer): void {
    this.#server.attach(server);
  }

  /** Sends the new messages of a conversation. Never throws, because they are stored already. */
  stored(conversationId: string): void {
    this.#guarded(() => this.#sendNew(conversationId));
  }

  /** Sends a message's changed status. Never throws. */
  updated(row: MessageRow): void {
    if (!this.#sentUpTo.has(row.conversation_id)) return;
    this.#guarded(() => {
      this.#sendNew(row.conversation_id);
      this.#send('message_updated', row);
    });
  }

  /** Disconnects all clients. The owner closes the HTTP server. */
  stop(): void {
    this.#server.disconnectSockets(true);
    this.#server.engine.close();
  }

  #admit(socket: ChatSocket, shopOfKey: ShopOfKey): string {
    const { auth, headers } = socket.handshake;
    const apiKey: unknown = auth['apiKey'];
    const shopId: unknown = auth['shopId'] ?? headers['x-shop-id'];
    const shop = shopOfKey(
      typeof apiKey === 'string' ? `Bearer ${apiKey}` : headers.authorization,
      typeof shopId === 'string' ? shopId : undefined,
    );
    const sockets = [...this.#server.of('/').sockets.values()];
    if (sockets.filter(({ data }) => data.shop === shop).length >= this.#socketsMax) {
      throw new ApiError(429, `too many sockets: at most ${this.#socketsMax} per shop are allowed`);
    }
    return shop;
  }

  #serve(socket: ChatSocket): void {
    socket.on('join', (what, answer) => {
      this.#answer(answer, () => this.#join(socket, checked(joinSchema, what)));
    });
    socket.on('leave', (what, answer) => {
      this.#answer(answer, () => {
        void socket.leave(checked(leaveSchema, what).conversation_id);
        return {};
      });
    });
  }

  #answer<T>(answer: ((result: T | Failure) => void) | undefined, handle: () => T): void {
    let result: T | Failure;
    try {
      result = handle();
    } catch (error) {
      result = this.#failure(error);
    }
    if (typeof answer === 'function') answer(result);
  }

  /** Synchronous, so that no message is missed or sent twice between reading and joining. */
  #join(socket: ChatSocket, what: z.infer<typeof joinSchema>): Joined {
    const id = what.conversation_id;
    this.#assertChat(socket, id);
    const last = this.#store.messages.before(
      { conversation_id: id, seq: Number.MAX_SAFE_INTEGER },
      1,
    )[0];
    const end = last?.seq ?? 0;
    const from = what.after ? this.#seqOf(socket.data.shop, id, what.after) : end;
    const page = cut(this.#after(id, from));
    const complete = (page.at(-1)?.seq ?? from) >= end;
    if (complete) {
      this.#sendNew(id);
      void socket.join(id);
      this.#sentUpTo.set(id, end);
    }
    return { messages: page.map(toMessage), complete };
  }

  #sendNew(conversationId: string): void {
    const from = this.#sentUpTo.get(conversationId);
    if (from === undefined) return;
    for (const row of this.#after(conversationId, from)) {
      this.#send('message', row);
      this.#sentUpTo.set(conversationId, row.seq);
    }
  }

  /** Reads one message at a time, because each may have two megabytes and the caller may stop early. */
  *#after(conversationId: string, seq: number): Generator<MessageRow> {
    for (let from: number | undefined = seq; from !== undefined;) {
      const [row]: MessageRow[] = this.#store.messages.after(conversationId, from, 1);
      if (row !== undefined) yield row;
      from = row?.seq;
    }
  }

  #guarded(send: () => void): void {
    try {
      send();
    } catch (error) {
      this.#logger.error('platform.socket_failed', errorFields(error));
    }
  }

  #assertChat(socket: ChatSocket, id: string): void {
    const conversation = this.#store.conversations.byId(socket.data.shop, id);
    if (conversation === undefined) {
      throw new ApiError(404, 'there is no such conversation', { conversation_id: 'not found' });
    }
    if (conversation.type !== 'web_chat') {
      throw invalidRequest({
        conversation_id: 'expected a conversation of type web_chat',
      });
    }
    // `>`, because each socket is also in a room of its own.
    if (!socket.rooms.has(id) && socket.rooms.size > JOINED_MAX) {
      throw new ApiError(
        429,
        `too many conversations: at most ${JOINED_MAX} per socket are allowed`,
      );
    }
  }

  #seqOf(shop: string, conversationId: string, messageId: string): number {
    const row = this.#store.messages.byId(shop, messageId);
    if (row?.conversation_id === conversationId) return row.seq;
    throw new ApiError(404, 'there is no such message', { after: 'not of this conversation' });
  }

  #send(event: 'message' | 'message_updated', row: MessageRow): void {
    const room = this.#server.of('/').adapter.rooms.get(row.conversation_id);
    for (const id of [...(room ?? [])]) {
      const socket = this.#server.of('/').sockets.get(id);
      if (unreadOf(socket) > UNREAD_MAX_PACKETS) socket?.disconnect(true);
      else socket?.emit(event, toMessage(row));
    }
  }

  #failure(error: unknown): Failure {
    if (error instanceof ApiError) return error.body;
    this.#logger.error('platform.socket_failed', errorFields(error));
    return new ApiError(500, 'something went wrong here').body;
  }
}

/** The number of packets that the client has not read yet. */
function unreadOf(socket: ChatSocket | undefined): number {
  // Public in engine.io, but private in its type declarations.
  const connection = socket?.conn as unknown as { writeBuffer?: readonly unknown[] } | undefined;
  return connection?.writeBuffer?.length ?? 0;
}

/** The messages that fit into one answer, but at least one. */
function cut(rows: Iterable<MessageRow>): MessageRow[] {
  const page: MessageRow[] = [];
  let chars = 0;
  for (const row of rows) {
    chars += row.content.length + row.text.length;
    if (page.length > 0 && chars > PAGE_MAX_CHARS) break;
    page.push(row);
    if (page.length === PAGE_MESSAGES) break;
  }
  return page;
}
