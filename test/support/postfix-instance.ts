import { readFileSync } from 'node:fs';
import { chmod, chown, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * What mail needs to come in by SMTP, wait, stay, and go out by SMTP or LMTP.
 *
 * `qmgr` wakes up each second instead of every 300: a message whose next try comes while the agent
 * of the last one still holds it ("skipped, still being delivered") goes back to `incoming`, which
 * is only looked at when mail arrives or `qmgr` wakes up.
 */
const SERVICES = `
pickup unix n - n 60 1 pickup
cleanup unix n - n - 0 cleanup
qmgr unix n - n 1 1 qmgr
tlsmgr unix - - n 1000? 1 tlsmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
verify unix - - n - 1 verify
flush unix n - n 1000? 0 flush
proxymap unix - - n - - proxymap
smtp unix - - n - - smtp
lmtp unix - - n - - lmtp
local unix - n n - - local
showq unix n - n - - showq
error unix - - n - - error
retry unix - - n - - error
discard unix - - n - - discard
anvil unix - - n - 1 anvil
scache unix - - n - 1 scache
postlog unix-dgram n - n - 1 postlogd
`;

/** What every instance here is: on loopback, in a folder of its own, without aliases or look-ups. */
const COMMON = `
compatibility_level = 3.6
mynetworks = 127.0.0.0/8
inet_interfaces = loopback-only
inet_protocols = ipv4
alias_maps =
alias_database =
smtpd_peername_lookup = no
`;

/**
 * Writes the files of a Postfix with a folder and a port of its own.
 * @param settings further lines of main.cf
 * @returns the folder for `postfix -c`, and that of its queues
 */
export async function writePostfixInstance(
  folder: string,
  port: number,
  settings: string,
): Promise<{ readonly config: string; readonly queue: string }> {
  // Its daemons run as another user.
  await chmod(folder, 0o755);
  const config = join(folder, 'etc');
  const queue = join(folder, 'queue');
  const data = join(folder, 'data');
  await Promise.all([mkdir(config), mkdir(queue), makeDataFolder(data)]);
  const own = `queue_directory = ${queue}\ndata_directory = ${data}\n`;
  await writeFile(join(config, 'main.cf'), COMMON.trimStart() + own + settings.trimStart());
  const doors = `127.0.0.1:${port} inet n - n - - smtpd\n`;
  await writeFile(join(config, 'master.cf'), doors + SERVICES.trimStart());
  return { config, queue };
}

async function makeDataFolder(folder: string): Promise<void> {
  await mkdir(folder, { mode: 0o700 });
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((each) => each.startsWith('postfix:'));
  const [, , uid, gid] = line?.split(':') ?? [];
  if (uid === undefined || gid === undefined) throw new Error('there is no user postfix');
  await chown(folder, Number(uid), Number(gid));
}
