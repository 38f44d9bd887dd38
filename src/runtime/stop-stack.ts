type Stop = () => Promise<void> | void;

interface Part {
  readonly name: string;
  readonly stop: Stop;
  readonly isDoor: boolean;
}

/** Stops parts in the reverse order of their start, even if one of them fails to stop. */
export class StopStack {
  #parts: Part[] = [];

  push(name: string, stop: Stop): void {
    this.#parts.push({ name, stop, isDoor: false });
  }

  /** A part that accepts input from outside; `closeDoors` stops these. */
  pushDoor(name: string, stop: Stop): void {
    this.#parts.push({ name, stop, isDoor: true });
  }

  /** Stops all doors at the same time and leaves the rest running. Never rejects. */
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
