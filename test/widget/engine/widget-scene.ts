import { randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import type { Intake } from '../../../src/intake/intake.ts';
import type { Chat } from '../../../src/widget/engine/chat.ts';
import { asVisitorId, type VisitorId } from '../../../src/domain/ids.ts';
import {
  aShop,
  ChatGateway,
  type GatewayOptions,
  ROOMY,
  SECRET,
} from '../../channels/chat/chat-gateway.ts';
import { ends } from '../../support/ends.ts';
import { SHOP } from '../../support/entries.ts';
import { waitFor } from '../../support/wait-for.ts';
import type { Browser, Tab } from './browser.ts';
import { Relay } from './relay.ts';

/** A gateway for one test, with limits that the test does not reach. */
export async function start(options: GatewayOptions = {}): Promise<ChatGateway> {
  const gateway = await ChatGateway.start({ shops: [aShop({ limits: ROOMY })], ...options });
  ends(() => gateway.stop());
  return gateway;
}

export async function relayTo({ url }: ChatGateway): Promise<Relay> {
  const relay = await Relay.start(url);
  ends(() => relay.stop());
  return relay;
}

/** An intake that stores messages, and answers when the test allows it. */
export function slowAnswers() {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  const taken: string[] = [];
  const intake = (real: Intake): Pick<Intake, 'acceptChat'> => ({
    acceptChat: async (...args) => {
      const accepted = await real.acceptChat(...args);
      taken.push(args[1].text);
      await released;
      return accepted;
    },
  });
  ends(() => release());
  return { intake, taken, release: () => release() };
}

export const visitorOf = ({ chat }: { chat: Chat }): VisitorId =>
  asVisitorId(chat.session.value?.visitorId ?? '');

/** The visitor's lines at the gateway, by their number. */
export async function journalOf(gateway: ChatGateway, tab: Tab): Promise<string[]> {
  const lines = await gateway.store.chat.linesAfter(SHOP, visitorOf(tab), 0, 10_000);
  return lines.map(({ text }) => text);
}

/** An answer of the shop. */
export async function reply(gateway: ChatGateway, visitorId: VisitorId, text: string) {
  const stored = await gateway.store.chat.storeReply({
    ...{ shopId: SHOP, visitorId, platformMessageId: randomUUID(), text },
    ...{ format: 'TEXT', at: Date.now() },
  });
  if (stored !== undefined) gateway.server.publish(SHOP, stored);
}

export const identityOf = (subject: string): Promise<string> =>
  new SignJWT({ email: `${subject}@customer.example`, name: subject })
    .setProtectedHeader({ alg: 'HS256' })
    .setSubject(subject)
    .setAudience('demo')
    .setExpirationTime('10m')
    .sign(new TextEncoder().encode(SECRET));

export const outboxOf = (browser: Browser): string[] =>
  [...browser.storage.values.keys()].filter((key) => key.includes(':out:'));

export const sameVisitor = (...tabs: Tab[]): Promise<unknown> =>
  waitFor('one visitor', () => {
    const ids = tabs.map(({ chat }) => chat.session.value?.visitorId);
    return ids[0] !== undefined && new Set(ids).size === 1;
  });
