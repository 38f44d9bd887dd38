import type { HeaderBlock } from '../../header-block.ts';

/** RFC 5322 §3.6.4, read leniently: anything in angle brackets without white space. */
const MESSAGE_ID = /<[^<>\s]+>/g;
/** A longer id cannot be a key anywhere; it is left out rather than cut. */
const MAX_ID_BYTES = 255;
const KEPT_AT_END = 19;

export interface Threading {
  readonly inReplyTo?: string;
  readonly references: readonly string[];
}

/**
 * The ids that a message answers, from the raw, unfolded headers: In-Reply-To's first id, and all
 * of References in order and without repeats, at most the first and the last 19.
 */
export function readThreading(head: HeaderBlock): Threading {
  const [inReplyTo] = messageIds(head.all('in-reply-to'));
  const references = messageIds(head.all('references'));
  const [first, ...others] = references;
  return {
    ...(inReplyTo !== undefined && { inReplyTo }),
    references: first === undefined ? [] : [first, ...others.slice(-KEPT_AT_END)],
  };
}

/** Everything that a message says it answers, without repeats. */
export function answeredIds({ inReplyTo, references }: Threading): readonly string[] {
  return [...new Set([...(inReplyTo === undefined ? [] : [inReplyTo]), ...references])];
}

/** The host part of a message-id, in lower case; empty when there is none. */
export function messageIdHost(id: string): string {
  const at = id.lastIndexOf('@');
  return at === -1 ? '' : id.slice(at + 1, -1).toLowerCase();
}

/** The ids in header values, in order and without repeats. */
export function messageIds(values: readonly string[]): readonly string[] {
  const ids = values.flatMap((value) => value.match(MESSAGE_ID) ?? []);
  return [...new Set(ids)].filter((id) => Buffer.byteLength(id) <= MAX_ID_BYTES);
}
