import nodemailer, { type Transporter } from 'nodemailer';

/** How long the relay may take, in milliseconds. */
export interface RelayPatience {
  readonly connectMs: number;
  readonly greetingMs: number;
  /** Without a byte. A relay may think for ten minutes about a message's end (RFC 5321 §4.5.3.2.6). */
  readonly silenceMs: number;
  /** For the whole of it, however slowly it speaks. */
  readonly totalMs: number;
}

export const RELAY_PATIENCE: RelayPatience = {
  connectMs: 30_000,
  greetingMs: 60_000,
  silenceMs: 600_000,
  totalMs: 900_000,
};

/** Where email leaves through. */
export interface RelayOptions {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte (`smtps://`) rather than by STARTTLS. */
  readonly implicitTls: boolean;
  readonly user?: string;
  readonly password?: string;
  /**
   * `auto`: STARTTLS when it is offered, and required before a password leaves this machine; a relay
   * on the loopback interface may have any certificate. `required`: never without, and the
   * certificate is checked. `off`: no STARTTLS.
   */
  readonly tls: 'auto' | 'required' | 'off';
  /** PEM of the authorities that are trusted in place of the well-known ones. */
  readonly ca?: string;
  /** How this machine names itself in EHLO; a full name or nothing. */
  readonly name?: string;
  readonly patience?: RelayPatience;
}

/** One connection for each mail: they are few, and the trouble of one is then that of one mail. */
export function relayTransport(options: RelayOptions): Transporter {
  return nodemailer.createTransport(transportOptions(options));
}

function transportOptions(options: RelayOptions) {
  const { host, port, implicitTls, user, password, tls, ca, name } = options;
  const patience = options.patience ?? RELAY_PATIENCE;
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
      // A relay that does not want the password it was given is asked nevertheless, and says why.
      forceAuth: true,
    }),
    ...(name !== undefined && { name }),
    connectionTimeout: patience.connectMs,
    greetingTimeout: patience.greetingMs,
    socketTimeout: patience.silenceMs,
    dnsTimeout: patience.connectMs,
    maxResponseSize: 64 * 1024,
  };
}
