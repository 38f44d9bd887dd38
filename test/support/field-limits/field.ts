/** One field that a stranger fills, and how it comes to the gateway. */
export interface Field {
  readonly door: 'smtp' | 'texts' | 'chat' | 'http' | 'admin' | 'platform';
  readonly name: string;
  /** The longest that is let in, in bytes. */
  readonly maxBytes: number;
  /** What is before and after the filler, so that the parser of the field gets to it. */
  readonly frames: readonly (readonly [before: string, after: string])[];
  /** Resolves when the gateway has answered, whatever it answered. */
  readonly send: (value: string) => Promise<void>;
}
