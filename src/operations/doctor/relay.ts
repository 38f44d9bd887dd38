import { type RelayOptions, relayTransport } from '../../runtime/relay-transport.ts';
import { type CheckResult, verdicts } from './check-result.ts';
import { codeOf } from '../../runtime/error-code.ts';

/** A server through which email leaves. */
export interface RelayToCheck {
  /** The key that names it: `localPlatform.replies.relay`. */
  readonly key: string;
  readonly options: RelayOptions;
}

/** Whether a relay answers, with the encryption and the password that it is given. Sends nothing. */
export async function checkRelay(
  { key, options }: RelayToCheck,
  timeoutMs: number,
): Promise<CheckResult> {
  const patience = {
    connectMs: timeoutMs,
    greetingMs: timeoutMs,
    silenceMs: timeoutMs,
    totalMs: timeoutMs,
  };
  const transport = relayTransport({ ...options, patience });
  try {
    await transport.verify();
    return judgeRelay(key, options, undefined);
  } catch (error) {
    return judgeRelay(key, options, codeOf(error) || 'unknown');
  } finally {
    transport.close();
  }
}

/** @param code nodemailer's word for what went wrong, if anything did */
export function judgeRelay(
  key: string,
  { host, port }: Pick<RelayOptions, 'host' | 'port'>,
  code: string | undefined,
): CheckResult {
  const where = `${host}:${port}`;
  const { ok, failed } = verdicts('relay', key, `${where} takes our mail`);
  switch (code) {
    case undefined:
      return ok(`${where} answers`);
    case 'EAUTH':
      return failed(
        `${where} refuses the user name or password`,
        `correct the user and password in ${key}`,
      );
    case 'ETLS':
      return failed(
        `${where} offers no encryption that can be trusted`,
        `see that its certificate is valid, give relayCa for a private authority, or correct relayTls`,
      );
    default:
      return failed(
        `${where} does not answer as a mail server (${code})`,
        `correct ${key}, and see that this machine may reach that port`,
      );
  }
}
