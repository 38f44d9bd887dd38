import { setTimeout as delay } from 'node:timers/promises';
import type { ChatVisitor } from '../../test/support/chat-visitors.ts';
import { markerOf } from '../crash/ledger.ts';

/** The probabilities of a visitor's actions, per step between two pauses. */
const HABITS = { newConversation: 0.1, moreTabs: 0.05, reload: 0.05 };
const MOST_TABS = 3;

export interface Person {
  /** Part of every message that they send. */
  readonly name: string;
  readonly visitor: ChatVisitor;
  /** In [0, 1), the same for the same seed. */
  readonly random: () => number;
  /** Whether they open a second tab at once. */
  readonly likesTabs: boolean;
}

export interface Evening {
  readonly meanPauseMs: number;
  /** No new step begins after this. */
  readonly stopped: AbortSignal;
}

/** One person's chat: messages with pauses, more tabs, reloads, new conversations. */
export async function converse(person: Person, evening: Evening): Promise<void> {
  const { name, visitor, random } = person;
  visitor.openTab();
  await untilKnown(visitor, evening.stopped);
  if (person.likesTabs) visitor.openTab();
  for (let nth = 0; !evening.stopped.aborted; nth += 1) {
    // Mostly waits for acknowledgements: people do not have ten messages in flight.
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
    // A reload: the tab's content is lost, its storage is kept.
    visitor.tabs[0]?.close();
    visitor.openTab();
  }
}

/** Waits for the visitor id: a second tab opened before it would be another visitor. */
async function untilKnown(visitor: ChatVisitor, stopped: AbortSignal): Promise<void> {
  while (visitor.visitorId === undefined && !stopped.aborted) await delay(20);
}
