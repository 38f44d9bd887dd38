/** Why something outside the program (a file, a folder, a port, a limit) cannot be used as it is. */
export interface Trouble {
  readonly found: string;
  /** What whoever runs the program can do about it. */
  readonly todo: string;
  /** It can end without a change of the set-up: to start again later makes sense. */
  readonly mayPass: boolean;
}
