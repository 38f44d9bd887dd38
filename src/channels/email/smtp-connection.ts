import { isAscii } from 'node:buffer';
import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import type { TLSSocket } from 'node:tls';
import type { SMTPServer } from 'smtp-server';
import { SMTPConnection, type SMTPConnectionOptions } from 'smtp-server/lib/smtp-connection.js';
import { clientAddress } from '../../runtime/ip-addresses.ts';
import { SmtpParser } from './smtp-parser.ts';
import { HAS_STATUS, type RefusalReason, SmtpRefusal } from './refusals.ts';

export interface ConnectionRules {
  /** Negative replies to one client between two messages. */
  readonly maxErrors: number;
  /** Commands without effect on a message, between two messages. */
  readonly maxJunkCommands: number;
  readonly replies: ReplyBatch;
  readonly isDraining: () => boolean;
  /**
   * False if the client may not have this connection; otherwise `release` is called when it is
   * closed.
   */
  readonly admit: (remoteAddress: string) => boolean;
  readonly release: (remoteAddress: string) => void;
  readonly onRefused: (reason: RefusalReason, sessionId: string) => void;
  readonly onClosed: () => void;
}

export interface IdleLimits {
  /**
   * From the greeting, or the last reply to a message, to the next DATA, whatever other commands
   * are sent.
   */
  readonly noMessageMs: number;
  /** From the reply to STARTTLS to the end of the TLS handshake. */
  readonly handshakeMs: number;
}

/** Recipients above the limit that get a 452 each before it counts as an error. */
const MAX_OVERSHOOT = 1000;
const JUNK = new Set(['NOOP', 'RSET', 'HELO', 'EHLO', 'LHLO', 'VRFY', 'EXPN', 'HELP', 'ETRN']);
const NOT_IMPLEMENTED = new Set(['AUTH', 'VRFY', 'EXPN', 'HELP', 'ETRN', 'TURN']);
/**
 * The accepted parameters (RFC 5321 §4.1.1.11). Those of DSN (RFC 3461) are not advertised but
 * ignored: refusing the message would be worse for the sender than a missing report.
 */
const MAIL_PARAMETERS: ReadonlySet<string> = new Set(['SIZE', 'BODY', 'SMTPUTF8', 'RET', 'ENVID']);
const RCPT_PARAMETERS: ReadonlySet<string> = new Set(['NOTIFY', 'ORCPT']);
/**
 * A command up to a quoted local part, which may follow a source route, and that part (RFC 5321
 * §4.1.2), without the characters that the library refuses in every address.
 */
const QUOTED_LOCAL_PART =
  /^([a-z ]+: *<(?:@[^\s":]*:)?)("(?:[^"\\\p{Cc}\u200b\u2060\ufeff]|\\[^\p{Cc}\u200b\u2060\ufeff])*")@/iu;
/** In its place while the library reads the command, which it splits at blanks and at `@`. */
const STAND_IN = 'quoted';

/**
 * One SMTP session, based on smtp-server's. It greets without the library's delay of 100 ms
 * (docs/decisions/0002-no-greeting-delay.md), counts errors and junk commands, applies the
 * connection limits, and sends its own enhanced status codes (RFC 3463).
 *
 * All uses of smtp-server beyond its documented interface are in this class, its parser
 * (smtp-parser.ts) and its listener (door-smtp.ts). The version is pinned;
 * test/channels/email/library-shape.test.ts fails if one of these members changes.
 *
 * | member | why |
 * | --- | --- |
 * | `SMTPServer.connect`, `connections`, `_onError` | create sessions of our own class |
 * | `SMTPServer._pendingSockets` | sockets before their PROXY header, to close them at the end |
 * | `SMTPServer.updateSecureContext` | a renewed certificate without a restart |
 * | `SMTPConnection.init`, `_setListeners`, `connectionReady`, `_ready` | a greeting without the library's delay of 100 ms, limits on connections, early talkers |
 * | `_onCommand`, `_unrecognizedCommands`, `_whenWritable` | limits on errors and junk commands |
 * | `_parseAddressCommand`, `handler_MAIL`, `handler_RCPT` | unknown parameters (555), SMTPUTF8 (553), quoted local parts |
 * | `send`, `_getEnhancedStatusCode` | our own enhanced status codes; the replies of one turn in one packet |
 * | `upgrade`, `_upgrading` | held replies are written before TLS takes the socket |
 * | `close`, `_onClose`, `_closing`, `_closed`, `_socket` | to end a session, and to know that it has ended |
 * | `_createParser`, `_parser`, `_server` | our parser instead of the library's |
 * | `SMTPStream._feedDataStream`, `startDataMode`, `_endDataMode`, `_countDataBytes`, `_dataStream`, `dataBytes` | a faster search for the end of DATA |
 * | `SMTPStream._remainder`, `oncommand` | a client that talks before the greeting; commands |
 */
export class SmtpConnection extends SMTPConnection {
  readonly #rules: ConnectionRules;
  #admittedAs: string | undefined;
  #errors = 0;
  #junk = 0;
  #overshoot = 0;
  /** How long the message in progress has been too slow. */
  #messageStalledMs: ((now: number) => number) | undefined;
  #errorsBefore = 0;
  /** When the client connected, or the last message was answered. */
  #noMessageSince = performance.now();
  #handshakeSince = 0;
  #rcpts: string[] = [];

  constructor(
    server: SMTPServer,
    socket: Socket | TLSSocket,
    rules: ConnectionRules,
    options?: SMTPConnectionOptions | null,
  ) {
    super(server, socket, options);
    this.#rules = rules;
    // The library knows only one of the forms in which a PROXY header can write a mapped address.
    const given = options?.remoteAddress ?? socket.remoteAddress ?? '';
    const address = clientAddress(given);
    if (address !== given) this.remoteAddress = address;
  }

  /** The size of the current message after dot-unstuffing. */
  get messageBytes(): number {
    return this._parser === false ? 0 : this._parser.dataBytes;
  }

  override init(): void {
    this._setListeners(() => {
      if (this.#rules.isDraining()) {
        this.refuse('shutting_down');
        return;
      }
      if (!this.#rules.admit(this.remoteAddress)) {
        this.cutOff('too_many_connections');
        return;
      }
      this.#admittedAs = this.remoteAddress;
      // By the second turn, the event loop has read any data that arrived before the greeting.
      setImmediate(() => setImmediate(() => this.#greet()));
    });
  }

  /** Sends 421 with the reason and closes the connection, in any state. */
  refuse(reason: RefusalReason): void {
    this.#sendRefusal(reason, () => this.close());
  }

  /** The same without waiting for the client to close its side, since connections are short. */
  cutOff(reason: RefusalReason): void {
    // Nothing can be sent during a TLS handshake.
    if (this._upgrading) this.#rules.onRefused(reason, this.id);
    else this.refuse(reason);
    this.#release();
    if (this._upgrading) this.destroy();
    else this._socket.destroySoon();
  }

  /** The recipients of this transaction: one for each RCPT that was answered with 250. */
  get rcpts(): readonly string[] {
    return this.#rcpts;
  }

  transactionStarted(): void {
    this.#rcpts = [];
  }

  rcptAccepted(address: string): void {
    this.#rcpts.push(address);
  }

  /** How long the session has been idle; 0 while a message arrives fast enough. */
  stalledMs(now: number): number {
    return this.#messageStalledMs?.(now) ?? now - this.#noMessageSince;
  }

  /** Whether no message is in progress and none has been for too long, or a TLS handshake lasts. */
  isIdle(now: number, { noMessageMs, handshakeMs }: IdleLimits): boolean {
    if (this._upgrading && now - this.#handshakeSince > handshakeMs) return true;
    return this.#messageStalledMs === undefined && now - this.#noMessageSince > noMessageMs;
  }

  get isClosing(): boolean {
    return this._closing || this._closed;
  }

  /** Between DATA and its reply, the session is not closed for being idle. */
  messageStarted(stalledMs: (now: number) => number): void {
    this.#messageStalledMs = stalledMs;
    this.#errorsBefore = this.#errors;
  }

  messageDone(accepted: boolean): void {
    this.#messageStalledMs = undefined;
    this.#noMessageSince = performance.now();
    if (accepted) {
      this.#errors = 0;
      this.#junk = 0;
      this.#overshoot = 0;
    }
    if (this.#rules.isDraining()) this.refuse('shutting_down');
  }

  /** Ends the session unless a message is in progress. */
  drain(): void {
    if (this.#messageStalledMs === undefined && !this.isClosing) this.refuse('shutting_down');
  }

  destroy(): void {
    this._socket.destroy();
  }

  override _createParser(): SmtpParser {
    const { maxCommandLength } = this._server.options;
    const parser = new SmtpParser({ maxCommandLength });
    parser.oncommand = (command, done) => this._onCommand(command, done);
    parser.on('error', () => this.refuse('line_too_long'));
    return parser;
  }

  override _onCommand(command: Buffer, done: () => void = () => undefined): void {
    if (this._upgrading) {
      super._onCommand(command, done);
      return;
    }
    const verb = verbOf(command);
    if (JUNK.has(verb)) this.#junk += 1;
    const reason = this.#whyNoCommand();
    if (reason !== undefined) {
      this.refuse(reason);
      return;
    }
    // Its payload follows without a reply (RFC 3030 §2) and would be read as commands.
    if (verb === 'BDAT') {
      this.refuse('not_implemented');
      return;
    }
    // The library would end the session at the tenth unknown command; here it counts as an error.
    this._unrecognizedCommands = 0;
    if (NOT_IMPLEMENTED.has(verb)) {
      const { responseCode, message } = new SmtpRefusal('not_implemented');
      this.send(responseCode, message);
      this._whenWritable(done);
      return;
    }
    super._onCommand(command, done);
  }

  override handler_MAIL(command: Buffer, callback: () => void): void {
    const parsed = this._parseAddressCommand('mail from', command);
    const isUtf8 = argumentsOf(parsed).includes('SMTPUTF8');
    const reason = whyNotAddress(command, parsed, MAIL_PARAMETERS, isUtf8);
    if (reason === undefined) super.handler_MAIL(command, callback);
    else this.#sendRefusal(reason, callback);
  }

  override handler_RCPT(command: Buffer, callback: () => void): void {
    const parsed = this._parseAddressCommand('rcpt to', command);
    const { smtpUtf8 } = this.session.envelope;
    const reason = whyNotAddress(command, parsed, RCPT_PARAMETERS, smtpUtf8 === true);
    if (reason === undefined) super.handler_RCPT(command, callback);
    else this.#sendRefusal(reason, callback);
  }

  override _parseAddressCommand(name: string, command: Buffer | string): ParsedCommand {
    const text = command.toString();
    const [matched, before = '', local = ''] = QUOTED_LOCAL_PART.exec(text) ?? [];
    if (matched === undefined) return super._parseAddressCommand(name, command);
    const plain = `${before}${STAND_IN}@${text.slice(matched.length)}`;
    const parsed = super._parseAddressCommand(name, Buffer.from(plain));
    return parsed && { ...parsed, address: local + parsed.address.slice(STAND_IN.length) };
  }

  override send(code: number, data?: string | string[] | null, context?: string | false): void {
    // A refused message is one error, even in LMTP, where each recipient has a reply.
    const isInMessage = this.#messageStalledMs !== undefined;
    if (code >= 500 || code === 450) {
      this.#errors = (isInMessage ? this.#errorsBefore : this.#errors) + 1;
    }
    if (code === 452) this.#overshoot += 1;
    this.#rules.replies.hold(this._socket);
    super.send(code, data, typeof data === 'string' && HAS_STATUS.test(data) ? false : context);
  }

  /** TLS takes over the socket's handle, so held replies must be written first. */
  override upgrade(done: () => void, secured?: () => void): void {
    this.#rules.replies.flush(this._socket);
    this.#handshakeSince = performance.now();
    super.upgrade(done, secured);
  }

  override _getEnhancedStatusCode(code: number, context?: string | false): string {
    // The library's 421 for a command means a misbehaving client; its 421 for a timeout does not.
    return code === 421 && typeof context === 'string'
      ? '4.7.0'
      : super._getEnhancedStatusCode(code, context);
  }

  override _onClose(): void {
    super._onClose();
    this.#rules.onClosed();
    this.#release();
  }

  #sendRefusal(reason: RefusalReason, sent: () => void): void {
    const { responseCode, message } = new SmtpRefusal(reason);
    this.#rules.onRefused(reason, this.id);
    this.send(responseCode, message);
    sent();
  }

  #release(): void {
    if (this.#admittedAs === undefined) return;
    this.#rules.release(this.#admittedAs);
    this.#admittedAs = undefined;
  }

  #whyNoCommand(): RefusalReason | undefined {
    if (!this._ready) return 'early_talker';
    if (this.#rules.isDraining()) return 'shutting_down';
    if (this.#errors >= this.#rules.maxErrors) return 'too_many_errors';
    if (this.#junk > this.#rules.maxJunkCommands) return 'too_many_commands';
    return this.#overshoot > MAX_OVERSHOOT ? 'too_many_errors' : undefined;
  }

  #greet(): void {
    if (this._closing || this._closed || this._parser === false) return;
    if (this._parser instanceof SmtpParser && this._parser.hasPartialLine) {
      this.refuse('early_talker');
      return;
    }
    this.connectionReady();
  }
}

type ParsedCommand = ReturnType<SMTPConnection['_parseAddressCommand']>;

/** The parameter names in upper case; none for a command that the library itself refuses. */
function argumentsOf(parsed: ParsedCommand): readonly string[] {
  return parsed === false || !parsed.args ? [] : Object.keys(parsed.args);
}

function whyNotAddress(
  command: Buffer,
  parsed: ParsedCommand,
  known: ReadonlySet<string>,
  isUtf8: boolean,
): RefusalReason | undefined {
  if (!argumentsOf(parsed).every((name) => known.has(name))) return 'unknown_parameter';
  // RFC 6531 §3.4; checked in the raw command, because the library converts domains to Unicode.
  return parsed !== false && !isUtf8 && !isAscii(command) ? 'needs_smtputf8' : undefined;
}

function verbOf(command: Buffer): string {
  const [verb = ''] = command.toString('latin1', 0, 16).toUpperCase().split(/\s/, 1);
  return verb;
}

/**
 * Writes the replies of one turn of the event loop together, at its end. A client that pipelines
 * gets its replies in one packet (RFC 2920 §3.2), and a client on the same machine is woken once
 * for many sessions, since waking it for each reply costs more than creating the reply.
 */
export class ReplyBatch {
  #corked = new Set<Socket>();

  /** Call before a write: the socket keeps the data until the turn ends. */
  hold(socket: Socket): void {
    if (this.#corked.has(socket)) return;
    if (this.#corked.size === 0) {
      setImmediate(() => this.#flushAll());
    }
    socket.cork();
    this.#corked.add(socket);
  }

  /** Writes immediately what the socket keeps. */
  flush(socket: Socket): void {
    if (this.#corked.delete(socket)) socket.uncork();
  }

  #flushAll(): void {
    const sockets = this.#corked;
    this.#corked = new Set();
    for (const socket of sockets) socket.uncork();
  }
}
