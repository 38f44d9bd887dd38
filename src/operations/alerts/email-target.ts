import { type RelayOptions, relayTransport } from '../../runtime/relay-transport.ts';
import { mailMessage } from './mail-message.ts';
import type { Notice } from './notice.ts';
import { type Target, TargetFailed } from './target.ts';

export interface EmailOptions {
  /** Whom to tell. */
  readonly to: readonly string[];
  /** Bounces of alerts go here. */
  readonly from: string;
  readonly relay: RelayOptions;
}

/** An alert that a relay thinks about for longer than this is tried again. */
const PATIENCE = { connectMs: 15_000, greetingMs: 30_000, silenceMs: 60_000, totalMs: 120_000 };

/** Sends each notice as one mail to all, through an SMTP relay. */
export function createEmailTarget({ to, from, relay }: EmailOptions): Target {
  const patience = relay.patience ?? PATIENCE;
  const transport = relayTransport({ ...relay, patience });
  return {
    name: 'email',
    async send(notice: Notice, signal: AbortSignal): Promise<void> {
      const timeout = AbortSignal.timeout(patience.totalMs);
      try {
        await transport.sendMail({
          ...mailMessage(notice),
          // As objects: text would be read as a list.
          from: { name: 'Sluice', address: from },
          to: to.map((address) => ({ name: '', address })),
          signal: AbortSignal.any([signal, timeout]),
        });
      } catch (error) {
        throw failureOf(error, timeout.aborted);
      }
    },
    close: () => transport.close(),
  };
}

/** The relay's words are left out: they quote the address. */
function failureOf(error: unknown, isLate: boolean): TargetFailed {
  const fields: Readonly<Record<string, unknown>> =
    typeof error === 'object' && error !== null ? { ...error } : {};
  const { code, responseCode } = fields;
  if (typeof responseCode === 'number') {
    return new TargetFailed(responseCode >= 500 ? 'refused' : 'busy', String(responseCode));
  }
  const name = typeof code === 'string' ? code : 'unknown';
  return new TargetFailed(isLate || name === 'ETIMEDOUT' ? 'timeout' : 'unreachable', name);
}
