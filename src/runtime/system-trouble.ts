import { accessSync, constants, readFileSync, type Stats, statSync } from 'node:fs';
import { dirname, isAbsolute, relative, resolve } from 'node:path';
import { RAISE_DESCRIPTORS, type Trouble } from '../domain/trouble.ts';
import { isSystemError, type SystemError } from './error-code.ts';

export interface TroubleContext {
  /** The data folder; advice on ownership applies to all of it. */
  readonly dataDir?: string;
  /** What the program wanted to do with the path. */
  readonly to?: 'used' | 'read' | 'written' | 'made private';
  /** Of the ports that are listened on, by the keys that set them. */
  readonly ports?: Readonly<Record<string, number>>;
}

/**
 * Explains a system error to the person who set the machine up, with what to do. Undefined for
 * other errors, including those that can occur with a correct set-up and are therefore bugs.
 */
export function systemTrouble(error: unknown, context: TroubleContext = {}): Trouble | undefined {
  if (!isSystemError(error)) return undefined;
  const { dataDir } = context;
  const path = typeof error.path === 'string' ? resolve(error.path) : undefined;
  switch (error.code) {
    case 'EMFILE':
    case 'ENFILE':
      return outOfDescriptors(error.code);
    case 'ENOSPC':
    case 'EDQUOT':
      return diskFull(path ?? dataDir);
    case 'EROFS':
      return path === undefined ? undefined : readOnly(path);
    case 'EADDRINUSE':
    case 'EADDRNOTAVAIL':
      return noPort(error, context);
    case 'EACCES':
    case 'EPERM':
      if (error.syscall === 'listen' || error.syscall === 'bind') return noPort(error, context);
      return path === undefined ? undefined : notAllowed(path, context);
    case 'ENOTDIR':
    case 'EEXIST':
    case 'ENOENT':
      // Other calls use these codes to find out whether a file exists.
      return path !== undefined && (error.syscall === 'mkdir' || error.code === 'ENOTDIR')
        ? noFolder(path)
        : undefined;
    default:
      return undefined;
  }
}

/**
 * The same for a path that has not been used yet. Undefined if this user has access or it does not
 * exist.
 */
export function accessTrouble(
  path: string,
  mode: number,
  context: TroubleContext,
): Trouble | undefined {
  try {
    accessSync(path, mode);
    return undefined;
  } catch (error) {
    return systemTrouble(error, context);
  }
}

const { R_OK, W_OK, X_OK } = constants;

/** Whether this user may use or create a data folder. Changes nothing. */
export function folderTrouble(dataDir: string): Trouble | undefined {
  const { path } = nearest(resolve(dataDir));
  // With the dot, a file at the folder's path is an error too.
  return path === resolve(dataDir)
    ? accessTrouble(`${path}/.`, R_OK | W_OK | X_OK, { dataDir })
    : accessTrouble(`${path}/.`, W_OK | X_OK, { dataDir, to: 'written' });
}

/** Either this process or the whole machine (`ENFILE`) has reached its limit. */
export function outOfDescriptors(code: 'EMFILE' | 'ENFILE'): Trouble {
  return code === 'EMFILE'
    ? {
        found: 'this process may not open more files and sockets (EMFILE)',
        todo: RAISE_DESCRIPTORS,
        mayPass: false,
      }
    : {
        found: 'this machine has reached its limit of open files and sockets (ENFILE)',
        todo: 'Find the process that has so many open (lsof), or raise the sysctl fs.file-max',
        mayPass: true,
      };
}

export function diskFull(path?: string): Trouble {
  const on = path === undefined ? '' : ` at ${path}`;
  return {
    found: `the disk is full${on}, or this user's quota is used up`,
    todo: 'Free some space, then start again',
    mayPass: true,
  };
}

function readOnly(path: string): Trouble {
  return {
    found: `${path} is on a file system that is mounted read-only`,
    todo: 'Mount it writable, or configure another dataDir (SLUICE_DATA_DIR)',
    mayPass: false,
  };
}

function noPort({ code, port, address }: SystemError, { ports = {} }: TroubleContext): Trouble {
  const at = typeof port === 'number' ? `port ${port}` : 'the port';
  const key = Object.keys(ports).find((name) => ports[name] === port);
  if (code === 'EADDRINUSE') {
    return {
      found: `${at} is in use by another program`,
      todo: `Stop that program, or ${key === undefined ? 'configure another port' : `set ${key} to another port`}`,
      mayPass: true,
    };
  }
  if (code === 'EADDRNOTAVAIL') {
    const host = typeof address === 'string' ? address : 'the configured one';
    return {
      found: `this machine has no address ${host} to listen on`,
      todo: 'Configure one of its addresses, or :: for all of them',
      mayPass: false,
    };
  }
  return {
    found: `this user may not listen on ${at}: ports below 1024 need a privilege`,
    todo:
      'Grant CAP_NET_BIND_SERVICE (AmbientCapabilities= in the systemd unit), or configure a ' +
      'higher port and forward this one to it',
    mayPass: false,
  };
}

/** A folder of the path does not exist and cannot be created, usually because a file has its name. */
function noFolder(path: string): Trouble {
  const at = nearest(path);
  const mayPass = false;
  if (at.stats?.isDirectory() === false) {
    const todo = 'Move it away, or configure another dataDir (SLUICE_DATA_DIR)';
    return { found: `${at.path} is a file where a folder is needed`, todo, mayPass };
  }
  const todo = 'Configure another dataDir (SLUICE_DATA_DIR)';
  return { found: `the folder ${path} cannot be created in ${at.path}`, todo, mayPass };
}

function notAllowed(path: string, { dataDir, to = 'used' }: TroubleContext): Trouble {
  const at = refusing(path);
  const me = process.getuid?.() ?? -1;
  const whose = at.stats === undefined ? 'another user' : namedUser(at.stats.uid);
  const mode = at.stats === undefined ? '' : `, mode ${octal(at.stats.mode)}`;
  const found = `${at.path} cannot be ${at.isOnTheWay ? 'entered' : to} by ${namedUser(me)}: it belongs to ${whose}${mode}`;
  const isOurs = dataDir !== undefined && isWithin(at.path, dataDir);
  return { found, todo: howToAllow(), mayPass: false };

  function howToAllow(): string {
    if (at.stats?.uid === me) return `Restore its permissions: chmod u+rwX ${at.path}`;
    if (isOurs) return `Run this as ${whose}, or as root run: chown -R ${me} ${dataDir}`;
    if (dataDir === undefined)
      return `Run this as ${whose}, or as root run: chown ${me} ${at.path}`;
    const elsewhere = 'configure another dataDir (SLUICE_DATA_DIR)';
    return at.isOnTheWay
      ? `Run this as ${whose}, or ${elsewhere}`
      : `As root run: install -d -m 0700 -o ${me} ${dataDir}; or ${elsewhere}`;
  }
}

/**
 * The first component of the path that denies access to this user, otherwise the last that exists.
 */
function refusing(path: string): Found & { readonly isOnTheWay: boolean } {
  const above: string[] = [];
  for (let at = path; ; at = dirname(at)) {
    above.unshift(at);
    if (at === dirname(at)) break;
  }
  for (const folder of above) {
    const stats = statOf(folder);
    if (stats?.isDirectory() !== true) break;
    try {
      accessSync(folder, X_OK);
    } catch {
      return { path: folder, stats, isOnTheWay: true };
    }
  }
  return { ...nearest(path), isOnTheWay: false };
}

export const octal = (mode: number): string => `0${(mode & 0o777).toString(8)}`;

interface Found {
  readonly path: string;
  readonly stats: Stats | undefined;
}

/** The path itself, or the nearest parent folder that exists. */
function nearest(path: string): Found {
  for (let at = path; ; at = dirname(at)) {
    const stats = statOf(at);
    if (stats !== undefined || at === dirname(at)) return { path: at, stats };
  }
}

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function isWithin(path: string, folder: string): boolean {
  const way = relative(resolve(folder), path);
  return !isAbsolute(way) && way.split(/[\\/]/)[0] !== '..';
}

/** `user 1000 (ann)`, or the number alone if no name is known, as in a container. */
function namedUser(uid: number): string {
  try {
    const [name] =
      readFileSync('/etc/passwd', 'utf8')
        .split('\n')
        .map((line) => line.split(':'))
        .find(([, , number]) => number === String(uid)) ?? [];
    if (name !== undefined) return `user ${uid} (${name})`;
  } catch {
    // This system has no such file.
  }
  return `user ${uid}`;
}
