/** The advice for a limit of open files and sockets that is too low. */
export const RAISE_DESCRIPTORS =
  'Raise its limit: LimitNOFILE=65536 in the systemd unit, or ulimit -n 65536 before the start';

/** Why a file, folder, port or limit outside the program cannot be used. */
export interface Trouble {
  readonly found: string;
  /** What the operator can do about it. */
  readonly todo: string;
  /** The problem can end without a change of the set-up, so a later start may succeed. */
  readonly mayPass: boolean;
}
