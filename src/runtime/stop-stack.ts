type Stop = () => Promise<void> | void;

interface Part {
  readonly name: string;
  readonly stop: Stop;
  readonly isDoor: boolean;
}

/** Stops what was started, in the reverse order of start, each however the others fare. */
export class StopStack {
  #parts: Part[] = [];

  push(name: string, stop: Stop): void {
    this.#parts.push({ name, stop, isDoor: false });
  }

  /** What takes something in from outside: one of those that `closeDoors` stops. */
  pushDoor(name: string, stop: Stop): void {
    this.#parts.push({ name, stop, isDoor: true });
  }

  /** All doors at the same time; the rest goes on. Never rejects. */
  async closeDoors(onError: (name: string, error: unknown) => void): Promise<void> {
    const doors = this.#parts.filter(({ isDoor }) => isDoor);
    this.#parts = this.#parts.filter(({ isDoor }) => !isDoor);
    await Promise.all(doors.map((door) => stopped(door, onError)));
  }

  /** Calls back for each stop that fails; never rejects. A second call does nothing. */
  async unwind(onError: (name: string, error: unknown) => void): Promise<void> {
    const parts = this.#parts.reverse();
    this.#parts = [];
    for (const part of parts) await stopped(part, onError);
  }
}

async function stopped(
  { name, stop }: Part,
  onError: (name: string, error: unknown) => void,
): Promise<void> {
  try {
    await stop();
  } catch (error) {
    onError(name, error);
  }
}
