/** What whoever runs the program does about a limit of open files and sockets that is too low. */
export const RAISE_DESCRIPTORS =
  'Raise its limit: LimitNOFILE=65536 in the systemd unit, or ulimit -n 65536 before the start';

/** Why something outside the program (a file, a folder, a port, a limit) cannot be used as it is. */
export interface Trouble {
  readonly found: string;
  /** What whoever runs the program can do about it. */
  readonly todo: string;
  /** It can end without a change of the set-up: to start again later makes sense. */
  readonly mayPass: boolean;
}
