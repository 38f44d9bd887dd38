import nodemailer, { type Transporter } from 'nodemailer';
import { codeOf } from './error-code.ts';

/** The timeouts of a relay, in milliseconds. */
export interface RelayTimeouts {
  readonly connectMs: number;
  readonly greetingMs: number;
  /**
   * Without a byte. A relay may take ten minutes after the end of a message (RFC 5321 §4.5.3.2.6).
   */
  readonly silenceMs: number;
  /** For the whole exchange, even if the relay keeps sending. */
  readonly totalMs: number;
}

export const RELAY_TIMEOUTS: RelayTimeouts = {
  connectMs: 30_000,
  greetingMs: 60_000,
  silenceMs: 600_000,
  totalMs: 900_000,
};

/** The SMTP server through which email is sent. */
export interface RelayOptions {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte (`smtps://`) instead of STARTTLS. */
  readonly implicitTls: boolean;
  readonly user?: string;
  readonly password?: string;
  /**
   * `auto`: STARTTLS if it is offered, and required before a password is sent to another machine; a
   * relay on the loopback interface may have any certificate. `required`: always TLS with a valid
   * certificate. `off`: no STARTTLS.
   */
  readonly tls: 'auto' | 'required' | 'off';
  /** PEM of the certificate authorities that are trusted instead of the well-known ones. */
  readonly ca?: string;
  /** The name in EHLO: a fully qualified name, or none. */
  readonly name?: string;
  readonly timeouts?: RelayTimeouts;
}

/** One connection per mail: there are few, and a connection error then affects a single mail. */
export function relayTransport(options: RelayOptions): Transporter {
  return nodemailer.createTransport(transportOptions(options));
}

/** nodemailer's error for an unsent email, whose type declaration covers its callbacks only. */
interface RelayError {
  /** Of nodemailer or the system, or ''. */
  readonly code: string;
  /** SMTP's reply code. */
  readonly responseCode: number | undefined;
  /** The SMTP command that failed, or ''. */
  readonly command: string;
}

export function relayError(error: unknown): RelayError {
  const fields: Readonly<Record<string, unknown>> =
    typeof error === 'object' && error !== null ? { ...error } : {};
  const { responseCode, command } = fields;
  return {
    code: codeOf(error),
    responseCode: typeof responseCode === 'number' ? responseCode : undefined,
    command: typeof command === 'string' ? command : '',
  };
}

function transportOptions(options: RelayOptions) {
  const { host, port, implicitTls, user, password, tls, ca, name } = options;
  const timeouts = options.timeouts ?? RELAY_TIMEOUTS;
  const isOnThisMachine = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/i.test(host);
  const needsTls = tls === 'required' || (tls === 'auto' && user !== undefined && !isOnThisMachine);
  return {
    host,
    port,
    secure: implicitTls,
    requireTLS: !implicitTls && needsTls,
    ignoreTLS: tls === 'off',
    tls: {
      minVersion: 'TLSv1.2' as const,
      rejectUnauthorized: tls === 'required' || !isOnThisMachine,
      ...(ca !== undefined && { ca }),
    },
    ...(user !== undefined && {
      auth: { user, pass: password ?? '' },
      // Authenticate even if the relay does not advertise it, so that its error says why.
      forceAuth: true,
    }),
    ...(name !== undefined && { name }),
    connectionTimeout: timeouts.connectMs,
    greetingTimeout: timeouts.greetingMs,
    socketTimeout: timeouts.silenceMs,
    dnsTimeout: timeouts.connectMs,
    maxResponseSize: 64 * 1024,
  };
}
