import type { Trouble } from '../domain/trouble.ts';
import { octal } from './system-trouble.ts';

/** Of the group and of everybody. */
const OTHERS = 0o077;

export const isOpenToOthers = (mode: number): boolean => (mode & OTHERS) !== 0;

/** A data folder holds keys and what customers wrote. Undefined: its owner alone may look into it. */
export function openFolderTrouble(dir: string, mode: number): Trouble | undefined {
  if (!isOpenToOthers(mode)) return undefined;
  return {
    found: `others may look into it (mode ${octal(mode)})`,
    todo: `chmod 700 ${dir}`,
    mayPass: false,
  };
}
