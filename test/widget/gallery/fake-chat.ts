import { signal } from '@preact/signals-core';
import type { AttachmentInfo, SessionEvent } from '../../../src/channels/chat/events.ts';
import type { Chat, ConnectionState, Line, PendingFile } from '../../../src/widget/engine/chat.ts';

/** How a conversation stands when a picture is taken of it. */
export interface Scene {
  readonly connection?: ConnectionState;
  readonly session?: Partial<SessionEvent> | null;
  readonly lines?: readonly Line[];
  readonly older?: 'unknown' | 'some' | 'loading' | 'none';
  readonly unread?: number;
  readonly breaks?: readonly number[];
  readonly files?: readonly PendingFile[];
  readonly draft?: string;
  readonly blobs?: Readonly<Record<string, Blob>>;
}

const SESSION: SessionEvent = {
  token: 'token',
  visitorId: 'visitor',
  lastSeq: 0,
  seenSeq: 0,
  verified: false,
  limits: { text: 8_000, files: 10, fileBytes: 25 * 1024 * 1024 },
};

/** A conversation that goes by a script: what is sent arrives, is delivered, and is answered. */
export function fakeChat(scene: Scene): Chat {
  const lines = signal(scene.lines ?? []);
  const draft = signal(scene.draft ?? '');
  const files = signal(scene.files ?? []);
  const unread = signal(scene.unread ?? 0);
  const breaks = signal(scene.breaks ?? []);
  const session = scene.session === null ? undefined : { ...SESSION, ...scene.session };
  const change = (id: string, line: Partial<Line>): void => {
    lines.value = lines.value.map((each) => (each.id === id ? { ...each, ...line } : each));
  };
  return {
    connection: signal(scene.connection ?? { state: 'online' }),
    session: signal(session),
    visitorChanges: signal(0),
    isKnown: session?.verified === true || session?.name !== undefined,
    lines,
    older: signal(scene.older ?? 'none'),
    unread,
    breaks,
    files,
    draft,
    start: () => undefined,
    setDraft: (text) => (draft.value = text),
    send: () => {
      const text = draft.value.trim();
      if (text === '' && files.value.length === 0) return 'empty';
      if (text.length > SESSION.limits.text) return 'too_large';
      if (files.value.some(({ state }) => state === 'failed')) return 'failed_file';
      const id = String(Math.random());
      const at = Date.now();
      draft.value = '';
      lines.value = [
        ...lines.value,
        { id, from: 'visitor', text, format: 'TEXT', files: [], at, state: 'sending' },
      ];
      setTimeout(() => change(id, { state: 'accepted', seq: 1_000 + lines.value.length }), 400);
      setTimeout(() => change(id, { state: 'delivered' }), 1_200);
      return undefined;
    },
    retry: (id) => change(id, { state: 'queued' }),
    discard: (id) => (lines.value = lines.value.filter((line) => line.id !== id)),
    attach: () => undefined,
    retryFile: () => undefined,
    removeFile: (key) => (files.value = files.value.filter((file) => file.key !== key)),
    open: (file: AttachmentInfo) => Promise.resolve(scene.blobs?.[file.id ?? '']),
    loadOlder: () => Promise.resolve(),
    markSeen: () => (unread.value = 0),
    newConversation: () => Promise.resolve(true),
    setProfile: () => Promise.resolve(undefined),
    identify: () => undefined,
    logout: () => undefined,
    say: () => undefined,
    rate: () => Promise.resolve(true),
    stop: () => undefined,
  };
}
