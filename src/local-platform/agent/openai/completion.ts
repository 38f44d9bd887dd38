import { z } from 'zod';

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON, as the model wrote it. */
  readonly arguments: string;
}

/** What one request came to, whole. */
export type Completion =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'calls'; readonly text: string; readonly calls: readonly ToolCall[] }
  /** It ended in the middle: too long for the model, or for us. */
  | { readonly kind: 'cut' }
  /** The model, or a filter behind it, does not want to answer. */
  | { readonly kind: 'refused' };

const TEXT_MAX_CHARS = 40_000;
const ARGUMENTS_MAX_CHARS = 8000;
const CALLS_MAX = 16;

/** A chunk of a streamed chat completion; the lenient part of it that every endpoint sends. */
const chunkSchema = z.object({
  choices: z
    .array(
      z.object({
        delta: z
          .object({
            content: z.string().nullish(),
            refusal: z.string().nullish(),
            tool_calls: z
              .array(
                z.object({
                  index: z.number().nullish(),
                  id: z.string().nullish(),
                  function: z
                    .object({ name: z.string().nullish(), arguments: z.string().nullish() })
                    .nullish(),
                }),
              )
              .nullish(),
          })
          .nullish(),
        finish_reason: z.string().nullish(),
      }),
    )
    .nullish(),
});
type Delta = NonNullable<NonNullable<z.output<typeof chunkSchema>['choices']>[number]['delta']>;
type CallPiece = NonNullable<Delta['tool_calls']>[number];

interface Slot {
  readonly index: number | undefined;
  id: string;
  name: string;
  arguments: string;
}

/** The stream ended before the answer did, or does not speak the protocol. */
export class BrokenStream extends Error {
  override name = 'BrokenStream';
}

/** Puts a streamed answer together. Bounded: what grows over its limits is `cut`. */
export class CompletionBuilder {
  #text = '';
  #isRefused = false;
  #isTooLong = false;
  #finish: string | undefined;
  readonly #slots: Slot[] = [];

  /** Nothing that comes after this one can change that the answer is of no use. */
  get isTooLong(): boolean {
    return this.#isTooLong;
  }

  /** @throws {BrokenStream} */
  add(chunk: unknown): void {
    const parsed = chunkSchema.safeParse(chunk);
    if (!parsed.success) throw new BrokenStream('a chunk of another protocol');
    const choice = parsed.data.choices?.[0];
    if (choice === undefined) return;
    this.#text += choice.delta?.content ?? '';
    if (choice.delta?.refusal) this.#isRefused = true;
    for (const piece of choice.delta?.tool_calls ?? []) this.#addPiece(piece);
    if (choice.finish_reason) this.#finish = choice.finish_reason;
    this.#isTooLong ||= this.#text.length > TEXT_MAX_CHARS;
  }

  /**
   * When the stream has ended. Tool calls count whatever the finish reason: some endpoints say
   * `stop` after them.
   * @throws {BrokenStream} it ended before the answer did
   */
  end(): Completion {
    if (this.#isTooLong) return { kind: 'cut' };
    if (this.#finish === undefined) throw new BrokenStream('the stream ended in the middle');
    if (this.#finish === 'content_filter' || this.#isRefused) return { kind: 'refused' };
    if (this.#finish === 'length') return { kind: 'cut' };
    if (this.#slots.length === 0) return { kind: 'text', text: this.#text };
    const calls = this.#slots.map((slot, at) => ({
      id: slot.id === '' ? `call_${at}` : slot.id,
      name: slot.name,
      arguments: slot.arguments,
    }));
    return { kind: 'calls', text: this.#text, calls };
  }

  #addPiece({ index, id, function: called }: CallPiece): void {
    const slot = this.#slotOf(index ?? undefined, id ?? '');
    if (slot === undefined) return;
    if (slot.id === '') slot.id = id ?? '';
    const name = called?.name ?? '';
    // Some repeat the name in every piece.
    if (name !== slot.name) slot.name += name;
    slot.arguments += called?.arguments ?? '';
    this.#isTooLong ||= slot.arguments.length > ARGUMENTS_MAX_CHARS || slot.name.length > 200;
  }

  /**
   * A piece belongs to the call of its index. Some endpoints leave the index out, or give 0 to all:
   * then a new id begins a new call, and a piece without one goes on with the last.
   */
  #slotOf(index: number | undefined, id: string): Slot | undefined {
    const known =
      index === undefined
        ? this.#slots.at(-1)
        : this.#slots.findLast((slot) => slot.index === index);
    if (known !== undefined && (id === '' || known.id === '' || known.id === id)) return known;
    if (this.#slots.length === CALLS_MAX) {
      this.#isTooLong = true;
      return undefined;
    }
    const slot = { index, id: '', name: '', arguments: '' };
    this.#slots.push(slot);
    return slot;
  }
}
