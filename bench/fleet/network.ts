import { execFileSync } from 'node:child_process';
import { SwitchedProxy } from '../../test/support/switched-proxy.ts';
import type { Workbench } from '../support/workbench.ts';

/** What a gateway meets on a line that is cut: no answer at all, or a reset of every connection. */
export type Cut = 'silent' | 'reset';

/** Where one gateway finds the database or the platform. */
export interface Line {
  readonly host: string;
  readonly port: number;
}

/** Lines that can be cut one by one. */
export interface Network {
  readonly how: string;
  /** @param target listens there, at an address that belongs to one gateway alone */
  line(target: Line): Promise<Line>;
  cut(line: Line, way: Cut): void;
  /** Returns how many packets or chunks the cut held up: none means that nobody noticed it. */
  heal(line: Line): number;
}

/** Rules of the kernel where that is possible, otherwise proxies in this process. */
export function openNetwork(bench: Workbench): Network {
  try {
    return new Rules();
  } catch {
    return new Proxies(bench);
  }
}

/** iptables in a chain of its own, which is removed however this process ends, except by SIGKILL. */
class Rules implements Network {
  readonly how = 'iptables';
  readonly #chain = `SLUICE_${process.pid}`;

  constructor() {
    this.#run('-N', this.#chain);
    process.once('exit', () => this.#remove());
    this.#run('-I', 'INPUT', '-j', this.#chain);
  }

  line(target: Line): Promise<Line> {
    return Promise.resolve(target);
  }

  cut(line: Line, way: Cut): void {
    const answer = way === 'silent' ? ['DROP'] : ['REJECT', '--reject-with', 'tcp-reset'];
    this.#run('-A', this.#chain, ...there(line), '-j', ...answer);
    this.#run('-A', this.#chain, ...back(line), '-j', 'DROP');
  }

  heal(line: Line): number {
    const listed = this.#run('-vxnL', this.#chain).split('\n');
    const own = listed.filter(
      (rule) =>
        rule.includes(` ${line.host} `) && / [ds]pt:(\d+)/.exec(rule)?.[1] === `${line.port}`,
    );
    const rules = this.#run('-S', this.#chain).split('\n');
    for (const rule of rules.filter((each) => isAbout(each, line))) {
      this.#run('-D', ...rule.split(' ').slice(1));
    }
    return own.reduce((sum, rule) => sum + Number.parseInt(rule.trim(), 10), 0);
  }

  #remove(): void {
    for (const step of [
      ['-D', 'INPUT', '-j', this.#chain],
      ['-F', this.#chain],
      ['-X', this.#chain],
    ]) {
      try {
        this.#run(...step);
      } catch {
        // The chain has not come that far.
      }
    }
  }

  #run(...args: readonly string[]): string {
    return execFileSync('iptables', ['-w', ...args], { encoding: 'utf8', stdio: 'pipe' });
  }
}

const there = ({ host, port }: Line): string[] => ['-p', 'tcp', '-d', host, '--dport', `${port}`];
const back = ({ host, port }: Line): string[] => ['-p', 'tcp', '-s', host, '--sport', `${port}`];
const isAbout = (rule: string, { host, port }: Line): boolean =>
  rule.includes(` ${host}/32 `) && rule.includes(`port ${port} `);

class Proxies implements Network {
  readonly how = 'proxies, since iptables cannot be used here';
  readonly #bench: Workbench;
  readonly #proxies = new Map<number, SwitchedProxy>();

  constructor(bench: Workbench) {
    this.#bench = bench;
  }

  async line({ host, port }: Line): Promise<Line> {
    const proxy = await SwitchedProxy.start(`http://${host}:${port}`);
    this.#bench.onEnd('line', () => proxy.stop());
    const { hostname, port: own } = new URL(proxy.url);
    this.#proxies.set(Number(own), proxy);
    return { host: hostname, port: Number(own) };
  }

  cut({ port }: Line, way: Cut): void {
    const proxy = this.#proxies.get(port);
    if (way === 'silent') proxy?.silence();
    else proxy?.down();
  }

  heal({ port }: Line): number {
    return this.#proxies.get(port)?.up() ?? 0;
  }
}
