import { TextNotSent } from '../../src/channels/sms/providers/text-not-sent.ts';

/** How sending a text failed. @throws if it did not */
export async function textFailureOf(sending: Promise<unknown>): Promise<TextNotSent> {
  const error: unknown = await sending.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof TextNotSent) return error;
  throw new Error('it did not fail as expected', { cause: error });
}
