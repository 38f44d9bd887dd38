import type { Command } from 'commander';
import type { UploadedMedia } from '../../platform-api/resources.ts';
import { printable, type Terminal } from '../terminal.ts';
import { document } from '../json.ts';
import { withConnection } from './resource-command.ts';
import type { LocalFile } from './local-file.ts';

interface UploadOptions {
  readonly public?: true;
  readonly json?: true;
}

/** API §4.8 */
export function registerMedia(parent: Command, terminal: Terminal): void {
  const media = parent.command('media').description('uploads files');
  media.addHelpText('after', '\nExample:\n  $ sluice platform media upload lamp.jpg');

  withConnection(media.command('upload'))
    .description('uploads files, for the attachments of a message; prints their ids')
    .argument('<file...>', 'files on this machine')
    .option('--public', 'readable by anyone who has the link (default: by a signed link only)')
    .option('--json', 'for programs: an array of media records')
    .addHelpText(
      'after',
      '\nExample:\n  $ sluice platform media upload lamp.jpg invoice.pdf' +
        '\n  $ sluice platform media upload logo.png --public',
    )
    .action(async (paths: string[], options: UploadOptions, command: Command) => {
      const { onPlatform } = await import('./connection.ts');
      const { localFiles, upload } = await import('./local-file.ts');
      const files = await localFiles(paths);
      const permission = options.public ? 'public' : 'private';
      const done: UploadedMedia[] = [];
      try {
        await onPlatform(command, terminal, async ({ client }) => {
          for (const file of files) {
            const record = await upload(client, file, permission, terminal);
            done.push(record);
            if (!options.json) terminal.out(lines(record, file));
          }
        });
      } finally {
        // Printed even if a later upload failed, because these files are uploaded.
        if (options.json && done.length > 0) terminal.out(document(done));
      }
    });
}

function lines({ id, type, url }: UploadedMedia, { name }: LocalFile): string {
  const what = type === undefined ? '' : `  ${type}`;
  return printable(`${id}  ${name}${what}\n${url === undefined ? '' : `  ${url}\n`}`);
}
