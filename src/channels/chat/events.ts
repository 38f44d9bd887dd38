/**
 * What travels over the chat socket, in both directions. The widget imports this file too: nothing
 * in here may need Node, or a library (the schemas are in `event-schemas.ts`).
 */

export const CHAT_PATH = '/chat';
export const UPLOAD_PATH = '/chat/uploads';

/** Characters of one message. */
export const MAX_TEXT = 8_000;
/** Files of one message, and files that may wait to be used. */
export const MAX_FILES = 10;
export const MAX_FILE_BYTES = 25 * 1024 * 1024;
/** Lines of one `history` answer. */
export const MAX_HISTORY = 100;

/** Why a handshake failed: `data.code` of the `connect_error`. */
export type HandshakeCode = 'unknown_key' | 'origin' | 'bad_identity' | 'rate_limited' | 'busy';

/** Why an event was not taken. */
export type ErrorWord =
  | 'too_large'
  | 'rate_limited'
  | 'invalid'
  | 'unauthorized'
  | 'busy'
  | 'unknown_upload';

export interface Failure {
  readonly ok: false;
  readonly error: ErrorWord;
  /** Seconds. */
  readonly retryAfter?: number;
}

/** `auth` of the handshake. */
export interface HandshakeAuth {
  readonly key: string;
  /**
   * The visitor token of the newest `session`, of whichever tab: the one before it stands for nobody
   * once the visitor has been identified (`busy` for a minute, then a new visitor).
   */
  readonly token?: string;
  /** A JWT that the shop's own server made. */
  readonly identity?: string;
  /** The last line this client has; everything after it is sent. */
  readonly lastSeq?: number;
}

export interface SessionEvent {
  /** Renewed on every connect: store it over the old one. */
  readonly token: string;
  readonly visitorId: string;
  readonly lastSeq: number;
  /** The last line that the visitor has looked at, on any device. */
  readonly seenSeq: number;
  readonly name?: string;
  readonly email?: string;
  readonly verified: boolean;
  readonly limits: { readonly text: number; readonly files: number; readonly fileBytes: number };
}

export interface AttachmentInfo {
  /** Of the visitor's own files: `GET /chat/uploads/<id>` answers the bytes while they are kept. */
  readonly id?: string;
  readonly name: string;
  readonly type: string;
  readonly size: number;
  readonly url?: string;
}

export interface MessageEvent {
  readonly seq: number;
  readonly id: string;
  readonly from: 'visitor' | 'agent';
  readonly text: string;
  readonly format: 'TEXT' | 'MARKDOWN' | 'HTML';
  readonly attachments: readonly AttachmentInfo[];
  /** Milliseconds since the epoch. */
  readonly at: number;
}

export interface StatusEvent {
  readonly id: string;
  readonly state: 'accepted' | 'delivered' | 'failed';
}

export interface MessageRequest {
  /** A UUID of the client's own: the same one again is the same message. */
  readonly id: string;
  readonly text: string;
  readonly uploads?: readonly string[] | undefined;
}
export type MessageAck = { readonly ok: true; readonly seq: number } | Failure;

export interface HistoryRequest {
  readonly before?: number | undefined;
  readonly limit?: number | undefined;
}
export type HistoryAck =
  | { readonly ok: true; readonly messages: readonly MessageEvent[]; readonly more: boolean }
  | Failure;

export interface SeenRequest {
  readonly seq: number;
}

export interface ProfileRequest {
  readonly name?: string | undefined;
  readonly email?: string | undefined;
}

export type PlainAck = { readonly ok: true } | Failure;

/** `Socket<ServerToClientEvents, ClientToServerEvents>` of socket.io-client. */
export interface ServerToClientEvents {
  session: (session: SessionEvent) => void;
  message: (message: MessageEvent) => void;
  status: (status: StatusEvent) => void;
}

export interface ClientToServerEvents {
  message: (message: MessageRequest, ack?: (answer: MessageAck) => void) => void;
  history: (request: HistoryRequest, ack?: (answer: HistoryAck) => void) => void;
  seen: (request: SeenRequest, ack?: (answer: PlainAck) => void) => void;
  profile: (request: ProfileRequest, ack?: (answer: PlainAck) => void) => void;
  new_conversation: (ack?: (answer: PlainAck) => void) => void;
}
