import type { OperationName } from '../../src/spool/sqlite/operations.ts';
import type { PlatformAnswer } from './platform-answers.ts';
import type { Scenario } from './scenario.ts';
import type { CallFate, SimulatedDisk } from './store.ts';

/** Injects a fault or changes the inputs of a run. */
export interface Meddling {
  readonly scenario?: (scenario: Scenario) => Scenario;
  /** Changes the arguments of store calls. */
  readonly call?: (name: OperationName, args: unknown[]) => unknown[];
  /** The fate of the nth store call, `atMs` after the start; undefined: as in the scenario. */
  readonly fate?: (name: OperationName, nth: number, atMs: number) => CallFate | undefined;
  /** Replaces the answer to the nth request. */
  readonly request?: (nth: number, atMs: number) => PlatformAnswer | undefined;
  /** On a full disk new messages are stored and delivery's writes fail. */
  readonly eatsBallast?: true;
  /** Messages that were not stored are acknowledged. */
  readonly acknowledgesUnstored?: true;
  /** Injects faults into the process's code for one run; returns a function that removes them. */
  readonly begin?: (disk: SimulatedDisk) => () => void;
}
