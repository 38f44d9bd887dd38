import { isAscii } from 'node:buffer';
import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import type { TLSSocket } from 'node:tls';
import type { SMTPServer } from 'smtp-server';
import { SMTPConnection, type SMTPConnectionOptions } from './smtp-internals.ts';
import { SmtpParser } from './smtp-parser.ts';
import { HAS_STATUS, type RefusalReason, SmtpRefusal } from './refusals.ts';

export interface ConnectionRules {
  /** Negative replies to commands of one client between two messages. */
  readonly maxErrors: number;
  /** Commands that do not lead to a message, between two messages. */
  readonly maxJunkCommands: number;
  readonly replies: ReplyBatch;
  readonly isDraining: () => boolean;
  /** False when the client may not have this connection; else `release` is called when it has closed. */
  readonly admit: (remoteAddress: string) => boolean;
  readonly release: (remoteAddress: string) => void;
  readonly onRefused: (reason: RefusalReason, sessionId: string) => void;
  readonly onClosed: () => void;
}

/** Recipients past the limit that are answered 452 one by one before it is an error. */
const MAX_OVERSHOOT = 1000;
const JUNK = new Set(['NOOP', 'RSET', 'HELO', 'EHLO', 'LHLO', 'VRFY', 'EXPN', 'HELP', 'ETRN']);
const NOT_IMPLEMENTED = new Set(['AUTH', 'VRFY', 'EXPN', 'HELP', 'ETRN', 'TURN']);
/**
 * The accepted parameters (RFC 5321 §4.1.1.11). Those of DSN (RFC 3461) are not offered but ignored:
 * to refuse the message would be worse for the sender than a report that never comes.
 */
const MAIL_PARAMETERS: ReadonlySet<string> = new Set(['SIZE', 'BODY', 'SMTPUTF8', 'RET', 'ENVID']);
const RCPT_PARAMETERS: ReadonlySet<string> = new Set(['NOTIFY', 'ORCPT']);

/**
 * One SMTP session: smtp-server's, with what that lacks. Greets without its 100 ms delay
 * (docs/decisions/0002-no-greeting-delay.md), counts errors and junk commands, knows the limits on
 * connections, and answers with enhanced status codes (RFC 3463) of our own.
 *
 * What it overrides of the library, and why: smtp-internals.ts.
 */
export class SmtpConnection extends SMTPConnection {
  readonly #rules: ConnectionRules;
  #admittedAs: string | undefined;
  #errors = 0;
  #junk = 0;
  #overshoot = 0;
  /** How long the message in progress has come too slowly. */
  #messageStalledMs: ((now: number) => number) | undefined;
  #errorsBefore = 0;
  /** When it was connected, or the last message was answered. */
  #noMessageSince = performance.now();
  #rcpts: string[] = [];

  constructor(
    server: SMTPServer,
    socket: Socket | TLSSocket,
    rules: ConnectionRules,
    options?: SMTPConnectionOptions | null,
  ) {
    super(server, socket, options);
    this.#rules = rules;
  }

  /** Bytes of the current message, after the dots were taken out. */
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
      // By the second turn the event loop has read what had arrived before the greeting.
      setImmediate(() => setImmediate(() => this.#greet()));
    });
  }

  /** Answers 421 with the reason and closes the connection, whatever the client was doing. */
  refuse(reason: RefusalReason): void {
    const { responseCode, message } = new SmtpRefusal(reason);
    this.#rules.onRefused(reason, this.id);
    this.send(responseCode, message);
    this.close();
  }

  /**
   * The same, but does not wait for the client to close its side: when connections are short it must
   * not keep one.
   */
  cutOff(reason: RefusalReason): void {
    // During a TLS handshake nothing can be sent.
    if (this._upgrading) this.#rules.onRefused(reason, this.id);
    else this.refuse(reason);
    this.#release();
    if (this._upgrading) this.destroy();
    else this._socket.destroySoon();
  }

  /** The recipients of this transaction: one for each RCPT that was answered 250. */
  get rcpts(): readonly string[] {
    return this.#rcpts;
  }

  transactionStarted(): void {
    this.#rcpts = [];
  }

  rcptAccepted(address: string): void {
    this.#rcpts.push(address);
  }

  /** How long the session has been idle; 0 while a message comes at a good pace. */
  stalledMs(now: number): number {
    return this.#messageStalledMs?.(now) ?? now - this.#noMessageSince;
  }

  /** No message is in progress, and none has been for `forMs`. */
  hasBeenWithoutMessage(now: number, forMs: number): boolean {
    return this.#messageStalledMs === undefined && now - this.#noMessageSince > forMs;
  }

  get isClosing(): boolean {
    return this._closing || this._closed;
  }

  /** Between DATA and its reply the session is not ended for being idle. */
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
    const parameters = argumentsOf(parsed);
    // RFC 6531 §3.4; in the command as it came, for the library shows domains in Unicode.
    const reason =
      whyNotParameters(parameters, MAIL_PARAMETERS) ??
      (parsed !== false && !parameters.includes('SMTPUTF8') && !isAscii(command)
        ? 'needs_smtputf8'
        : undefined);
    if (reason === undefined) super.handler_MAIL(command, callback);
    else this.#refuseCommand(reason, callback);
  }

  override handler_RCPT(command: Buffer, callback: () => void): void {
    const parsed = this._parseAddressCommand('rcpt to', command);
    const reason =
      whyNotParameters(argumentsOf(parsed), RCPT_PARAMETERS) ??
      (parsed !== false && !this.session.envelope.smtpUtf8 && !isAscii(command)
        ? 'needs_smtputf8'
        : undefined);
    if (reason === undefined) super.handler_RCPT(command, callback);
    else this.#refuseCommand(reason, callback);
  }

  override send(code: number, data?: string | string[] | null, context?: string | false): void {
    // A refused message is one error, also in LMTP, where each recipient has a reply.
    const isInMessage = this.#messageStalledMs !== undefined;
    if (code >= 500 || code === 450) {
      this.#errors = (isInMessage ? this.#errorsBefore : this.#errors) + 1;
    }
    if (code === 452) this.#overshoot += 1;
    this.#rules.replies.hold(this._socket);
    super.send(code, data, typeof data === 'string' && HAS_STATUS.test(data) ? false : context);
  }

  /** TLS takes over the socket's handle: replies that are held back must be written before. */
  override upgrade(done: () => void, secured?: () => void): void {
    this.#rules.replies.flush(this._socket);
    super.upgrade(done, secured);
  }

  override _getEnhancedStatusCode(code: number, context?: string | false): string {
    // The library's 421 for a command is for a misbehaving client; the one for silence is not.
    return code === 421 && typeof context === 'string'
      ? '4.7.0'
      : super._getEnhancedStatusCode(code, context);
  }

  override _onClose(): void {
    super._onClose();
    this.#rules.onClosed();
    this.#release();
  }

  #refuseCommand(reason: RefusalReason, callback: () => void): void {
    const { responseCode, message } = new SmtpRefusal(reason);
    this.#rules.onRefused(reason, this.id);
    this.send(responseCode, message);
    callback();
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

/** The names of the parameters in capitals; none of a command that the library refuses itself. */
function argumentsOf(parsed: ParsedCommand): readonly string[] {
  return parsed === false || !parsed.args ? [] : Object.keys(parsed.args);
}

function whyNotParameters(
  given: readonly string[],
  known: ReadonlySet<string>,
): 'unknown_parameter' | undefined {
  return given.every((name) => known.has(name)) ? undefined : 'unknown_parameter';
}

function verbOf(command: Buffer): string {
  const start = command.toString('latin1', 0, 16).toUpperCase();
  const space = start.indexOf(' ');
  return space === -1 ? start.trim() : start.slice(0, space);
}

/**
 * Writes the replies of one turn of the event loop together, at its end. A client that pipelines
 * gets its replies in one packet (RFC 2920 §3.2), and a client on the same machine is woken once for
 * many sessions: to wake it for each reply costs more than to make the reply.
 */
export class ReplyBatch {
  #corked = new Set<Socket>();

  /** Call before a write: the socket keeps it until the turn ends. */
  hold(socket: Socket): void {
    if (this.#corked.has(socket)) return;
    if (this.#corked.size === 0) {
      setImmediate(() => {
        this.#flushAll();
      });
    }
    socket.cork();
    this.#corked.add(socket);
  }

  /** Writes at once what the socket keeps. */
  flush(socket: Socket): void {
    if (this.#corked.delete(socket)) socket.uncork();
  }

  #flushAll(): void {
    const sockets = this.#corked;
    this.#corked = new Set();
    for (const socket of sockets) socket.uncork();
  }
}
