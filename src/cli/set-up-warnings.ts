import { statSync } from 'node:fs';
import type { Config } from '../config/config.ts';
import { NEEDED_FOR, neededDescriptors } from '../gateway/needed-descriptors.ts';
import {
  descriptorLimit,
  descriptorShortage,
  openFolderTrouble,
  troubleInWords,
  unusable,
} from '../runtime/set-up-trouble.ts';
import { dataFolderTrouble } from '../spool/folder-access.ts';

/**
 * Before anything of the data folder is read: what is wrong with it as a whole is told as that.
 * @throws {SetUpUnusable} this user cannot run a gateway with it
 */
export function assertUsableFolder(dataDir: string): void {
  const trouble = dataFolderTrouble(dataDir);
  if (trouble !== undefined) throw unusable(trouble, undefined);
}

/** What a gateway can start with, and whoever set it up should know. */
export function setUpWarnings(config: Config): string[] {
  const { dataDir } = config;
  const folder = openFolderTrouble(dataDir, statSync(dataDir).mode);
  const descriptors = descriptorShortage(descriptorLimit(), neededDescriptors(config), NEEDED_FOR);
  return [
    ...(folder ? [`the data folder ${dataDir}: ${folder.found}. Run: ${folder.todo}`] : []),
    ...(descriptors ? [troubleInWords(descriptors)] : []),
  ];
}
