import { beforeEach, expect, test } from '@jest/globals';
import { SpoolUnavailable } from '../../src/spool/errors.ts';
import { type Answer, aListedMessage, uuid } from '../support/scripted-platform.ts';
import { deliveryScene, isCreate, json, message, type Scene } from './scene.ts';

let it: Scene;
beforeEach(async () => {
  it = await deliveryScene();
});

const CALLS = ['mark', 'setMark', 'raiseMark', 'rememberConversation'] as const;

/** Of the calls that delivery makes once the platform has been sent the message, this one fails. */
function failing(nth: number): { readonly made: () => number } {
  let made = 0;
  for (const name of CALLS) {
    const call = it.store.spool[name].bind(it.store.spool) as (...args: unknown[]) => never;
    const replaced = (...args: unknown[]): Promise<never> => {
      if (it.platform.messages.length === 0) return Promise.resolve(call(...args));
      made += 1;
      if (made === nth) return Promise.reject(new SpoolUnavailable('gone'));
      return Promise.resolve(call(...args));
    };
    Object.assign(it.store.spool, { [name]: replaced });
  }
  return { made: () => made };
}

const MESSAGE = uuid('a', 7);
const answers: Readonly<Record<string, (remoteId: string) => Answer | undefined>> = {
  'a message': () => undefined,
  'an id': () => json(200, { id: MESSAGE }),
  nothing: () => json(201, ''),
};

test.each(
  Object.keys(answers).flatMap((answer) => [1, 2, 3, 4, 5, 6].map((nth) => [answer, nth] as const)),
)('after %s as the answer, call %i of the store fails: it is sent once', async (answer, nth) => {
  const entry = message({}, { lane: 'same' });
  const { remoteId } = entry;
  const listed = { ...aListedMessage(7, remoteId), conversation_id: uuid('c', 1) };
  it.platform.script = (seen) => {
    if (isCreate(seen)) return answers[answer]?.(remoteId);
    if (seen.path === `/messages/${MESSAGE}/`) return json(200, listed);
    if (!seen.path.startsWith('/messages/?')) return undefined;
    return json(200, { results: it.platform.messages.length > 0 ? [listed] : [] });
  };
  const { made } = failing(nth);
  const { conversationId } = await it.comesTo(entry, 'delivered');
  expect(it.platform.messages).toHaveLength(1);
  expect(conversationId).toBe(uuid('c', 1));
  expect(made()).toBeGreaterThan(0);
});
