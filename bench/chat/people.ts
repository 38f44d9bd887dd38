import { setTimeout as delay } from 'node:timers/promises';
import type { ChatVisitor } from '../../test/support/chat-visitors.ts';
import { markerOf } from '../crash/ledger.ts';

/** What people do with a chat, per step between two pauses. */
const HABITS = { newConversation: 0.1, moreTabs: 0.05, reload: 0.05 };
const MOST_TABS = 3;

export interface Person {
  /** Stands in everything he says. */
  readonly name: string;
  readonly visitor: ChatVisitor;
  /** In [0, 1), the same for the same seed. */
  readonly random: () => number;
  /** Opens a second tab at once. */
  readonly likesTabs: boolean;
}

export interface Evening {
  readonly meanPauseMs: number;
  /** Nothing is begun after this. */
  readonly stopped: AbortSignal;
}

/** One person's chat: messages with pauses, more tabs, reloads, new conversations. */
export async function converse(person: Person, evening: Evening): Promise<void> {
  const { name, visitor, random } = person;
  visitor.openTab();
  await untilKnown(visitor, evening.stopped);
  if (person.likesTabs) visitor.openTab();
  for (let nth = 0; !evening.stopped.aborted; nth += 1) {
    // Nobody has ten unanswered questions on the way.
    if (visitor.isSettled || random() < 0.3) {
      visitor.say(`Where is my order? ${markerOf(name, nth)}`);
    }
    await changeSomething(visitor, random);
    const ms = Math.min(-Math.log(1 - random()), 4) * evening.meanPauseMs;
    await delay(ms, undefined, { signal: evening.stopped }).catch(() => undefined);
  }
}

async function changeSomething(visitor: ChatVisitor, random: () => number): Promise<void> {
  const chance = random();
  const { newConversation, moreTabs, reload } = HABITS;
  if (chance < newConversation) {
    await visitor.newConversation();
  } else if (chance < newConversation + moreTabs) {
    if (visitor.tabs.length < MOST_TABS) visitor.openTab();
    else visitor.tabs[0]?.close();
  } else if (chance < newConversation + moreTabs + reload) {
    // Everything that it showed is gone; what the storage keeps is not.
    visitor.tabs[0]?.close();
    visitor.openTab();
  }
}

/** Until then a second tab would be a second visitor. */
async function untilKnown(visitor: ChatVisitor, stopped: AbortSignal): Promise<void> {
  while (visitor.visitorId === undefined && !stopped.aborted) await delay(20);
}
