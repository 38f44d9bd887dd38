import type { ChatVisitor, Said, ShownLine } from '../../test/support/chat-visitors.ts';
import type { MessageRow } from '../../src/local-platform/store/rows.ts';

type Stored = Pick<
  MessageRow,
  'id' | 'role' | 'conversation_id' | 'remote_id' | 'content' | 'created_at'
>;

/** What a visitor said and was shown. */
export type Witness = Pick<ChatVisitor, 'visitorId' | 'said'> & {
  readonly tabs: readonly {
    readonly shown: readonly ShownLine[];
    readonly faults: readonly string[];
  }[];
};

/** The messages of one visitor at the platform, oldest first. */
interface Correspondence {
  readonly said: readonly Stored[];
  readonly replies: readonly Stored[];
}

/** @param stored every message of the shop, oldest first */
export function correspondenceOf(
  stored: readonly Stored[],
): (visitorId: string | undefined) => Correspondence {
  const visitorOf = new Map<string, string>();
  for (const { conversation_id: conversation, remote_id: remoteId } of stored) {
    const visitor = visitorIn(remoteId);
    if (visitor !== undefined) visitorOf.set(conversation, visitor);
  }
  const all = new Map<string, { said: Stored[]; replies: Stored[] }>();
  for (const message of stored) {
    const visitor = visitorOf.get(message.conversation_id) ?? '';
    const own = all.get(visitor) ?? { said: [], replies: [] };
    own[message.role === 'agent' ? 'replies' : 'said'].push(message);
    all.set(visitor, own);
  }
  return (visitorId) => all.get(visitorId ?? '') ?? { said: [], replies: [] };
}

const visitorIn = (remoteId: string | null): string | undefined =>
  remoteId === null ? undefined : /^chat:([^:]+):/.exec(remoteId)?.[1];

/** All violations as text; empty if there are none. */
export function violationsOf(witness: Witness, { said, replies }: Correspondence): string[] {
  const who = `visitor ${witness.visitorId ?? '?'}`;
  return [
    ...atPlatform(witness, said),
    ...witness.tabs.flatMap(({ shown, faults }, nth) => [
      ...faults.map((fault) => `tab ${nth}: ${fault}`),
      ...inTab(witness.said, replies, shown).map((fault) => `tab ${nth}: ${fault}`),
    ]),
  ].map((fault) => `${who}: ${fault}`);
}

function atPlatform({ said }: Witness, stored: readonly Stored[]): string[] {
  const faults: string[] = [];
  const nths = new Map(said.map(({ text }, nth) => [text, nth]));
  const counts = new Map<number, number>();
  const latest = new Map<string, number>();
  for (const { content, conversation_id: conversation, remote_id: remoteId } of stored) {
    const nth = nths.get(content);
    if (nth === undefined) {
      faults.push(`nobody said ${content}`);
      continue;
    }
    counts.set(nth, (counts.get(nth) ?? 0) + 1);
    const id = said[nth]?.id;
    if (id !== undefined && !remoteId?.endsWith(`:${id}`)) {
      faults.push(`${content} is at the platform as ${remoteId ?? 'nothing'}`);
    }
    const before = latest.get(conversation) ?? -1;
    if (nth < before) faults.push(`${content} is at the platform after the ${before}th`);
    latest.set(conversation, Math.max(before, nth));
  }
  for (const [nth, { text, seq }] of said.entries()) {
    const count = counts.get(nth) ?? 0;
    if (count > 1) faults.push(`${text} is at the platform ${count} times`);
    if (count === 0 && seq !== undefined) faults.push(`${text} was acknowledged and is lost`);
  }
  return faults;
}

/** Checks that a tab shows the visitor's messages and the replies, once and in order. */
function inTab(
  said: readonly Said[],
  replies: readonly Stored[],
  shown: readonly ShownLine[],
): string[] {
  const faults: string[] = [];
  for (const [index, { seq }] of shown.entries()) {
    if (seq !== index + 1) {
      faults.push(`line ${index + 1} has the number ${seq}`);
      break;
    }
  }
  const own = shown.filter(({ from }) => from === 'visitor').map(({ text }) => text);
  faults.push(
    ...difference(
      'shows of what was said',
      own,
      said.filter(({ seq }) => seq !== undefined).map(({ text }) => text),
    ),
  );
  for (const { text, seq } of said) {
    const line = shown.find((each) => each.from === 'visitor' && each.text === text);
    if (seq !== undefined && line !== undefined && line.seq !== seq) {
      faults.push(`${text} was acknowledged as ${seq} and is shown as ${line.seq}`);
    }
  }
  const answered = shown.filter(({ from }) => from === 'agent');
  const byConversation = (ids: readonly string[], of: string): string[] => {
    const wanted = replies.filter(({ conversation_id: each }) => each === of).map(({ id }) => id);
    return difference(
      'shows of the replies',
      ids.filter((id) => wanted.includes(id)),
      wanted,
    );
  };
  const ids = answered.map(({ id }) => id);
  for (const conversation of new Set(replies.map(({ conversation_id: each }) => each))) {
    faults.push(...byConversation(ids, conversation));
  }
  const known = new Set(replies.map(({ id }) => id));
  for (const { id, text } of answered) {
    if (!known.has(id)) faults.push(`shows a reply that is none of his: ${text.slice(0, 60)}`);
  }
  return faults;
}

/** Empty if both lists are equal, in the same order. */
function difference(what: string, found: readonly string[], wanted: readonly string[]): string[] {
  const at = wanted.findIndex((each, index) => found[index] !== each);
  if (at === -1 && found.length === wanted.length) return [];
  const where = at === -1 ? wanted.length : at;
  return [
    `${what} ${found.length} of ${wanted.length}; at ${where} it is ` +
      `${found[where] ?? 'nothing'} instead of ${wanted[where] ?? 'nothing'}`,
  ];
}
