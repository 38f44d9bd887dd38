type Stop = () => Promise<void> | void;

/** Stops what was started, in the reverse order of start, each however the others fare. */
export class StopStack {
  #stops: { name: string; stop: Stop }[] = [];

  push(name: string, stop: Stop): void {
    this.#stops.push({ name, stop });
  }

  /** Calls back for each stop that fails; never rejects. A second call does nothing. */
  async unwind(onError: (name: string, error: unknown) => void): Promise<void> {
    const stops = this.#stops.reverse();
    this.#stops = [];
    for (const { name, stop } of stops) {
      try {
        await stop();
      } catch (error) {
        onError(name, error);
      }
    }
  }
}
