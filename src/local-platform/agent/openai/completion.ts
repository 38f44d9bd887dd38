import { z } from 'zod';

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON, as the model wrote it. */
  readonly arguments: string;
}

/** The complete result of one request. */
export type Completion =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'calls'; readonly text: string; readonly calls: readonly ToolCall[] }
  /** Incomplete: longer than the model's limit or ours. */
  | { readonly kind: 'cut' }
  /** Refused by the model or by a content filter. */
  | { readonly kind: 'refused' };

const TEXT_MAX_CHARS = 40_000;
const ARGUMENTS_MAX_CHARS = 8000;
const CALLS_MAX = 16;

/** A chunk of a streamed chat completion: the parts that every endpoint sends. */
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

interface PartialCall {
  readonly index: number | undefined;
  id: string;
  name: string;
  arguments: string;
}

/** The stream ended before the answer was complete, or does not follow the protocol. */
export class BrokenStream extends Error {
  override name = 'BrokenStream';
}

/** Assembles a streamed answer. An answer over the limits becomes `cut`. */
export class CompletionBuilder {
  #text = '';
  #isRefused = false;
  #isTooLong = false;
  #finish: string | undefined;
  readonly #calls: PartialCall[] = [];

  /** Whether the answer has exceeded a limit; later chunks cannot change that. */
  get isTooLong(): boolean {
    return this.#isTooLong;
  }

  /** @throws {BrokenStream} */
  add(chunk: unknown): void {
    const parsed = chunkSchema.safeParse(chunk);
    if (!parsed.success) throw new BrokenStream('a chunk does not follow the protocol');
    const choice = parsed.data.choices?.[0];
    if (choice === undefined) return;
    this.#text += choice.delta?.content ?? '';
    if (choice.delta?.refusal) this.#isRefused = true;
    for (const piece of choice.delta?.tool_calls ?? []) this.#addPiece(piece);
    if (choice.finish_reason) this.#finish = choice.finish_reason;
    this.#isTooLong ||= this.#text.length > TEXT_MAX_CHARS;
  }

  /**
   * Called at the end of the stream. Tool calls count with any finish reason, because some endpoints
   * send `stop` after them.
   * @throws {BrokenStream} the stream ended before the answer was complete
   */
  end(): Completion {
    if (this.#isTooLong) return { kind: 'cut' };
    if (this.#finish === undefined)
      throw new BrokenStream('the stream ended before the answer was complete');
    if (this.#finish === 'content_filter' || this.#isRefused) return { kind: 'refused' };
    if (this.#finish === 'length') return { kind: 'cut' };
    if (this.#calls.length === 0) return { kind: 'text', text: this.#text };
    const calls = this.#calls.map((call, at) => ({
      id: call.id === '' ? `call_${at}` : call.id,
      name: call.name,
      arguments: call.arguments,
    }));
    return { kind: 'calls', text: this.#text, calls };
  }

  #addPiece({ index, id, function: called }: CallPiece): void {
    const call = this.#callOf(index ?? undefined, id ?? '');
    if (call === undefined) return;
    if (call.id === '') call.id = id ?? '';
    const name = called?.name ?? '';
    // Some endpoints repeat the name in every piece.
    if (name !== call.name) call.name += name;
    call.arguments += called?.arguments ?? '';
    this.#isTooLong ||= call.arguments.length > ARGUMENTS_MAX_CHARS || call.name.length > 200;
  }

  /**
   * A piece belongs to the call with its index. Some endpoints omit the index or always send 0: then
   * a new id starts a new call, and a piece without an id continues the last call.
   */
  #callOf(index: number | undefined, id: string): PartialCall | undefined {
    const known =
      index === undefined
        ? this.#calls.at(-1)
        : this.#calls.findLast((call) => call.index === index);
    if (known !== undefined && (id === '' || known.id === '' || known.id === id)) return known;
    if (this.#calls.length === CALLS_MAX) {
      this.#isTooLong = true;
      return undefined;
    }
    const call = { index, id: '', name: '', arguments: '' };
    this.#calls.push(call);
    return call;
  }
}
