import { spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import type { MessageEvent, SessionEvent } from '../../src/channels/chat/events.ts';
import { ends } from '../support/ends.ts';
import { CHAT_KEY } from '../support/gateway-config.ts';
import { waitFor } from '../support/wait-for.ts';
import { echoAgent, scene } from './scene.ts';

/** Debian's, where its packages are; another Python of the path may not have them. */
const PYTHON = '/usr/bin/python3';
const PROGRAM = fileURLToPath(new URL('../fixtures/chat-client.py', import.meta.url));
const isThere = spawnSync(PYTHON, ['-c', 'import socketio, aiohttp']).status === 0;
if (!isThere) {
  console.error('!! python3-socketio or python3-aiohttp is missing: its tests are SKIPPED');
}

/** What the program said: see there. */
type Line = readonly [kind: string, ...rest: unknown[]];

class PythonClient {
  readonly lines: Line[] = [];
  readonly #child;

  constructor(url: string, transport: 'websocket' | 'polling') {
    this.#child = spawn(PYTHON, [PROGRAM, url, transport], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    createInterface({ input: this.#child.stdout }).on('line', (line) => {
      // Every line of the program is one of these.
      this.lines.push(JSON.parse(line) as Line);
    });
    ends(() => this.#child.kill());
  }

  /** Resolves with the first line of one of these kinds that comes after. */
  async ask(command: readonly unknown[], ...kinds: string[]): Promise<Line> {
    const before = this.lines.length;
    this.#child.stdin.write(`${JSON.stringify(command)}\n`);
    return waitFor(
      `an answer to ${String(command[0])}`,
      () => this.lines.slice(before).find(([kind]) => kind === 'error' || kinds.includes(kind)),
      20,
    );
  }

  async connect(auth: object): Promise<SessionEvent> {
    const before = this.lines.length;
    const [kind, why] = await this.ask(['connect', { key: CHAT_KEY, ...auth }], 'connected');
    if (kind !== 'connected') throw new Error(String(why));
    const isSession = ([is, event]: Line): boolean => is === 'event' && event === 'session';
    const [, , session] = await waitFor(
      'the session',
      () => this.lines.slice(before).find(isSession),
      20,
    );
    return session as SessionEvent;
  }

  async send(text: string): Promise<unknown> {
    const [, answer] = await this.ask(['emit', 'message', { id: randomUUID(), text }], 'ack');
    return answer;
  }

  /** The lines of the record as they came, from the nth line of the program on. */
  record(from = 0): MessageEvent[] {
    return this.lines
      .slice(from)
      .filter(([kind, event]) => kind === 'event' && event === 'message')
      .map(([, , payload]) => payload as MessageEvent);
  }

  heard(count: number, from = 0): Promise<boolean> {
    const isThere = (): boolean => this.record(from).length >= count;
    return waitFor(`${count} lines`, isThere, 20);
  }
}

const tests = isThere ? test.each : test.skip.each;

tests(['websocket', 'polling'] as const)(
  'python3-socketio holds a conversation, and is sent what it missed (%s)',
  async (transport) => {
    const { platform, gateway, chat } = await scene({ agent: echoAgent });
    const python = new PythonClient(gateway.httpUrl, transport);
    const session = await python.connect({});
    expect(session).toMatchObject({ lastSeq: 0, verified: false });
    expect(await python.send('one')).toEqual({ ok: true, seq: 1 });
    await python.heard(2);
    expect(python.record()).toMatchObject([
      { seq: 1, from: 'visitor', text: 'one' },
      { seq: 2, from: 'agent', text: 'You said: one' },
    ]);
    expect(platform.messages.map(({ content }) => content)).toEqual(['one']);

    await python.ask(['disconnect'], 'disconnected');
    const tab = await chat({ token: session.token });
    expect(await tab.send('two')).toEqual({ ok: true, seq: 3 });
    await waitFor('the second reply', () => tab.texts.length === 4);

    const before = python.lines.length;
    const again = await python.connect({ token: session.token, lastSeq: 2 });
    expect(again).toMatchObject({ visitorId: session.visitorId, lastSeq: 4 });
    await python.heard(2, before);
    expect(await python.send('three')).toEqual({ ok: true, seq: 5 });
    await python.heard(4, before);
    expect(python.record(before).map(({ seq, text }) => [seq, text])).toEqual([
      [3, 'two'],
      [4, 'You said: two'],
      [5, 'three'],
      [6, 'You said: three'],
    ]);
    await waitFor('the other tab', () => tab.texts.length === 6);
  },
);

(isThere ? test : test.skip)('python3-socketio is told why it is refused', async () => {
  const { gateway } = await scene();
  const python = new PythonClient(gateway.httpUrl, 'websocket');
  const [, why] = await python.ask(['connect', { key: 'nobody' }], 'refused');
  expect(why).toMatchObject({ data: { code: 'unknown_key' } });
});
