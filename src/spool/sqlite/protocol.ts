import type { OperationName } from './operations.ts';

/** What travels between the gateway's thread and the database's. */
export interface WorkerOptions {
  readonly file: string;
  /** `owner`: the one process that serves it; it also copies the log back, in a thread beside. */
  readonly role: 'owner' | 'guest';
  /** `StoreFailure.shared` of the store that the database belongs to. */
  readonly failed: SharedArrayBuffer;
}

export interface Call {
  readonly id: number;
  readonly name: OperationName;
  readonly args: readonly unknown[];
}

export type ToWorker = { readonly calls: readonly Call[] } | { readonly close: true };

/**
 * `full`: no space, try again when there is some. `bug`: this call is at fault, nothing of it was
 * stored. A failure of the store itself is not a result but `fatal`.
 */
export type CallResult =
  | { readonly id: number; readonly ok: true; readonly value: unknown }
  | {
      readonly id: number;
      readonly ok: false;
      readonly kind: 'full' | 'bug';
      readonly message: string;
    };

export type FromWorker =
  | { readonly ready: true }
  | { readonly unusable: string; readonly mayPass: boolean }
  | {
      readonly results: readonly CallResult[];
      /** How long the commit took, in seconds. */
      readonly seconds: number;
    }
  | { readonly fatal: string }
  | { readonly closed: true };
