import type { Trouble } from '../domain/trouble.ts';

/**
 * What the program stands on cannot be used as it is: a folder, a file, a port, a limit. No bug; the
 * message says why and what to do.
 */
export class SetUpUnusable extends Error {
  override name = 'SetUpUnusable';
  /** It can end without a change of the set-up: to start again later makes sense. */
  readonly mayPass: boolean;

  constructor(message: string, options: ErrorOptions & { readonly mayPass?: boolean } = {}) {
    super(message, options);
    this.mayPass = options.mayPass ?? false;
  }
}

/** Without a full stop at the end, where a path may stand that people copy. */
export const troubleInWords = ({ found, todo }: Trouble): string => `${found}. ${todo}`;

export const unusable = (trouble: Trouble, cause: unknown): SetUpUnusable =>
  new SetUpUnusable(troubleInWords(trouble), { cause, mayPass: trouble.mayPass });
