import { afterAll } from '@jest/globals';
import type { ChatClient } from '../support/chat-client.ts';
import { type GatewaySetting, sendEmail } from '../support/gateway-setting.ts';
import { buildPreload } from '../support/preload.ts';
import { sendSms, sidOf } from '../support/sms-sender.ts';
import { tempDir } from '../support/temp-dir.ts';

const LARGE = `${'x'.repeat(998)}\r\n`.repeat(100);

const built = tempDir();
afterAll(() => built.remove());
const preload = buildPreload('failing-fsync', built.path);
export const library = 'library' in preload ? preload.library : '';
export const why = 'why' in preload ? preload.why : undefined;
if (why !== undefined) {
  console.error(`!! SKIPPED: that a failing fsync acknowledges nothing: ${why}`);
}

interface Send {
  readonly setting: GatewaySetting;
  readonly visitor: ChatClient;
  readonly name: string;
}

interface Channel {
  readonly channel: string;
  /** Resolves with the answer, whatever it is. */
  readonly send: (message: Send) => Promise<string>;
  /** The clear answer of the protocol to a message that could not be stored. */
  readonly refusal: RegExp;
  readonly accepted: RegExp;
}

const smtp = (body: (name: string) => string) => ({
  send: async ({ setting, name }: Send) =>
    sendEmail(await setting.greeted(), name.replaceAll(' ', '-'), body(name)),
  // 421 if the renewal of a lease was the first to fail, so that the doors are closing already.
  refusal: /^(?:451 4\.3\.0|421 4\.3\.2) /,
  accepted: /^250 2\.0\.0 /,
});

export const EMAIL: Channel = { channel: 'email', ...smtp((name) => name) };
export const LARGE_EMAIL: Channel = {
  channel: 'large email',
  ...smtp((name) => `${name}\r\n${LARGE}`),
};
export const SMS: Channel = {
  channel: 'SMS',
  send: async ({ setting, name }) => {
    const answer = await sendSms(setting.httpUrl, { MessageSid: sidOf(name), Body: name });
    return `${answer.status} ${answer.body}`;
  },
  refusal: /^503 /,
  accepted: /^200 .*<Response\/>/,
};
export const CHAT: Channel = {
  channel: 'chat',
  send: async ({ visitor, name }) =>
    // Without a connection the client would keep it for the next one.
    visitor.socket.connected
      ? JSON.stringify(await visitor.send(name, { id: idOf(name) }))
      : 'closed',
  refusal: /^\{"ok":false,"error":"busy"\}$/,
  accepted: /^\{"ok":true,"seq":\d+\}$/,
};

/** A message id that is the same for the same name. */
const idOf = (name: string): string =>
  sidOf(name)
    .slice(2)
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
