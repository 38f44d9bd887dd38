import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { createInterface } from 'node:readline';
import type { Ports } from './gateway-config.ts';
import { waitFor } from './wait-for.ts';

export const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface ProcessChoices {
  readonly configFile: string;
  readonly host: string;
  readonly ports: Ports;
  readonly env?: Readonly<Record<string, string>>;
  /** A program that runs node: strace with its arguments. */
  readonly wrapper?: readonly string[];
  /** Arguments of node: another program than the built one. */
  readonly program?: readonly string[];
}

/** One line of the gateway's log. */
export type LogLine = Readonly<Record<string, unknown>> & { readonly message: string };

/** A gateway as its own process: `node dist/main.js --config FILE`. */
export class GatewayProcess {
  readonly log: LogLine[] = [];
  readonly exited: Promise<Exit>;
  readonly #child: ChildProcess;
  #exit: Exit | undefined;
  /** What is no log line: a stack trace, a report. */
  readonly #other: string[] = [];
  readonly #output: string[] = [];

  constructor({ configFile, env = {}, wrapper = [], program = [MAIN] }: ProcessChoices) {
    const [command, ...args] = [...wrapper, process.execPath];
    this.#child = spawn(command, [...args, ...program, '--config', configFile], {
      // A clean environment: what jest sets must not reach the gateway.
      env: { PATH: process.env['PATH'], ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => this.#output.push(text));
    }
    this.#readLog();
    this.exited = new Promise((resolve) => {
      this.#child.once('exit', (code, signal) => {
        this.#exit = { code, signal };
        resolve(this.#exit);
      });
    });
  }

  /** Starts one and waits until it is ready. */
  static async start(choices: ProcessChoices): Promise<GatewayProcess> {
    const gateway = new GatewayProcess(choices);
    await gateway.ready(choices);
    return gateway;
  }

  get hasEnded(): boolean {
    return this.#exit !== undefined;
  }

  get pid(): number {
    const { pid } = this.#child;
    if (pid === undefined) throw new Error('the gateway was not started');
    return pid;
  }

  /** Resolves when all doors are open. @throws when it ends before */
  async ready({ host, ports }: Pick<ProcessChoices, 'host' | 'ports'>): Promise<void> {
    await waitFor(
      'the gateway to be ready',
      async () => {
        if (this.#exit !== undefined) throw new Error(`it did not start\n${this.tail()}`);
        return isReady(`http://${host}:${ports.http}/readyz`);
      },
      20,
    );
  }

  /** SIGKILL: what a power cut or the kernel does. */
  async kill(): Promise<void> {
    if (this.#exit === undefined) this.#child.kill('SIGKILL');
    await this.exited;
  }

  /** SIGTERM, and how it ended. */
  terminate(): Promise<Exit> {
    if (this.#exit === undefined) this.#child.kill('SIGTERM');
    return this.exited;
  }

  /** Everything that it wrote, to standard output too. */
  get output(): string {
    return this.#output.join('');
  }

  /** Nobody reads its log any more. */
  closeLog(): void {
    this.#child.stderr?.destroy();
  }

  /** SIGUSR2 or another that does not end it by itself. */
  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  /** The end of what it wrote, for the message of a failure. */
  tail(): string {
    const lines = this.log.slice(-20).map((line) => JSON.stringify(line));
    return [...lines, ...this.#other.slice(-30)].join('\n');
  }

  #readLog(): void {
    const { stderr } = this.#child;
    if (stderr === null) return;
    createInterface({ input: stderr }).on('line', (line) => {
      const fields = line.startsWith('{') ? parse(line) : undefined;
      if (fields === undefined) this.#other.push(line);
      else this.log.push(fields);
    });
  }
}

async function isReady(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { headers: { connection: 'close' } });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}

function parse(line: string): LogLine | undefined {
  try {
    // The gateway writes objects with a message; anything else is told as it is.
    return JSON.parse(line) as LogLine;
  } catch {
    return undefined;
  }
}
