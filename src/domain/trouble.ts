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

/**
 * A folder, file, port or limit that the program needs cannot be used. This is not a bug; the
 * message says why and what to do.
 */
export class SetUpUnusable extends Error {
  override name = 'SetUpUnusable';
  /** The problem can end without a change of the set-up, so a later start may succeed. */
  readonly mayPass: boolean;

  constructor(message: string, options: ErrorOptions & { readonly mayPass?: boolean } = {}) {
    super(message, options);
    this.mayPass = options.mayPass ?? false;
  }
}

/** Without a final full stop, because a path at the end may be copied. */
export const troubleInWords = ({ found, todo }: Trouble): string => `${found}. ${todo}`;

export const unusable = (trouble: Trouble, cause: unknown, Kind = SetUpUnusable): SetUpUnusable =>
  new Kind(troubleInWords(trouble), { cause, mayPass: trouble.mayPass });
