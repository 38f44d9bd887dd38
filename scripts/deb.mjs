// npm run deb: builds a Debian package of the gateway with its own Node; see docs/install-debian.md.
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build, isStale } from './build.mjs';
import { filesBelow, ROOT } from './workspace.mjs';

const COMPRESSIONS = ['xz', 'zstd', 'none'];
const USAGE = `Usage: npm run deb -- [--output FOLDER] [--compression ${COMPRESSIONS.join('|')}]

Builds sluice_VERSION_ARCHITECTURE.deb for this machine's architecture. The package has the Node that
runs this script, from the npm package node-linux-ARCHITECTURE.

  --output FOLDER    where to write the file, made if it is missing; the current folder by default
  --compression HOW  xz by default; none is for tests
  --help             show this

Example:
  $ npm run deb -- --output /tmp && dpkg -i /tmp/sluice_*.deb`;

const DEBIAN = join(ROOT, 'config/deploy/debian');
const APP = 'usr/lib/sluice';
const ARCHITECTURES = { x64: 'amd64', arm64: 'arm64' };
const NODE = `${APP}/node/bin/node`;
const DRIVER = 'node_modules/better-sqlite3';
/** Types, and maps to sources: about half of the packages' files. */
const FOR_COMPILERS = /\.(?:d\.[cm]?ts|map)$/;
/** Of the driver's folder, what it needs to run. */
const DRIVER_FILES =
  /^(?:package\.json|LICENSE|lib(?:\/.*)?|build(?:\/Release(?:\/better_sqlite3\.node)?)?)$/;
const CONFFILES = { 'sluice.yaml': 0o644, 'secrets.env': 0o600 };

/** Something that the person who builds has to change first. */
class CannotBuild extends Error {}

function parse() {
  const { values } = parseArgs({
    options: {
      output: { type: 'string', default: '.' },
      compression: { type: 'string', default: 'xz' },
      help: { type: 'boolean', default: false },
    },
  });
  if (!COMPRESSIONS.includes(values.compression))
    throw new CannotBuild(`--compression is ${COMPRESSIONS.join(', ')}, not ${values.compression}`);
  return values;
}

const write = (file, content, mode = 0o644) => {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  chmodSync(file, mode);
};

/** The files of the npm package, and the packages that it needs to run. */
function addApp(root) {
  const app = join(root, APP);
  mkdirSync(app, { recursive: true });
  const packed = execFileSync('npm', ['pack', '--silent', '--pack-destination', root], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  const tarball = join(root, packed.trim().split('\n').at(-1));
  execFileSync('tar', ['xzf', tarball, '--strip-components=1', '-C', app]);
  rmSync(tarball);
  // React is a peer of the widget's component, and nothing of the gateway's.
  const args = ['ls', '--omit=dev', '--omit=peer', '--all', '--parseable', '--workspaces=false'];
  const { status, stdout: listed } = spawnSync('npm', args, { cwd: ROOT, encoding: 'utf8' });
  if (status !== 0) throw new CannotBuild('packages are missing: npm ci');
  for (const folder of listed.split('\n').slice(1).filter(Boolean)) {
    const name = relative(ROOT, folder);
    const isNeeded = (file) => {
      const inside = relative(folder, file);
      // Packages within are listed on their own.
      if (inside.split('/').includes('node_modules') || FOR_COMPILERS.test(inside)) return false;
      return name !== DRIVER || inside === '' || DRIVER_FILES.test(inside);
    };
    cpSync(folder, join(app, name), { recursive: true, filter: isNeeded });
  }
}

/** This script's own version, because the database's driver is built for it. */
function addNode(root) {
  const name = `node-linux-${process.arch}`;
  const version = process.versions.node;
  const folder = mkdtempSync(join(tmpdir(), 'sluice-node-'));
  try {
    const args = ['pack', `${name}@${version}`, '--silent', '--pack-destination', folder];
    const { status, stdout } = spawnSync('npm', args, { cwd: folder, encoding: 'utf8' });
    if (status !== 0) {
      throw new CannotBuild(
        `npm has no package ${name}@${version}, or cannot reach it: run this with a version that it has`,
      );
    }
    const tarball = join(folder, stdout.trim().split('\n').at(-1));
    const files = ['package/bin/node', 'package/LICENSE'];
    execFileSync('tar', ['xzf', tarball, '-C', folder, ...files]);
    const node = join(root, NODE);
    mkdirSync(dirname(node), { recursive: true });
    copyFileSync(join(folder, 'package/bin/node'), node);
    chmodSync(node, 0o755);
    copyFileSync(join(folder, 'package/LICENSE'), join(root, APP, 'node/LICENSE'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function addSystem(root) {
  const program = `#!/bin/sh\nexec /${NODE} /${APP}/dist/main.js "$@"\n`;
  write(join(root, 'usr/bin/sluice'), program, 0o755);
  const unit = readFileSync(join(ROOT, 'config/deploy/systemd/sluice.service'), 'utf8')
    .replace(/^#.*\n/, '')
    .replace('/usr/bin/node /opt/sluice/dist/main.js', '/usr/bin/sluice');
  write(join(root, 'usr/lib/systemd/system/sluice.service'), unit);
  const etc = join(root, 'etc/sluice');
  write(join(etc, 'sluice.yaml'), readFileSync(join(ROOT, 'config/example.yaml')));
  write(join(etc, 'secrets.env'), readFileSync(join(DEBIAN, 'secrets.env')));
  for (const [file, mode] of Object.entries(CONFFILES)) chmodSync(join(etc, file), mode);
  const doc = join(root, 'usr/share/doc/sluice');
  // Debian Policy §12.5: packages bring their licences; those in bundles are beside the bundles.
  const licence = readFileSync(join(ROOT, 'LICENSE'), 'utf8');
  const others = `The licence of its Node is /${APP}/node/LICENSE. Those of the packages in it are in /${APP}/node_modules and in the\nfiles *licenses.md below /${APP}/dist.\n`;
  write(join(doc, 'copyright'), `${licence}\n${others}`);
  const changelog = gzipSync(readFileSync(join(ROOT, 'CHANGELOG.md')), { level: 9 });
  write(join(doc, 'changelog.gz'), changelog);
}

/**
 * The Debian packages, with their earliest versions, whose symbols Node and the driver are linked to (Debian
 * Policy §8.6). They depend on where the driver was built: a fixed version would let apt install what cannot start.
 */
function sharedLibraries(root) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-shlibs-'));
  try {
    // dpkg-shlibdeps reads it in the current folder.
    write(join(folder, 'debian/control'), 'Source: sluice\n\nPackage: sluice\nArchitecture: any\n');
    const binaries = [NODE, `${APP}/${DRIVER}/build/Release/better_sqlite3.node`];
    const args = ['-O', '--warnings=0', ...binaries.map((file) => join(root, file))];
    const { status, stdout, stderr } = spawnSync('dpkg-shlibdeps', args, {
      cwd: folder,
      encoding: 'utf8',
    });
    const depends = /^shlibs:Depends=(.+)$/m.exec(stdout)?.[1];
    if (status !== 0 || depends === undefined)
      throw new CannotBuild(`dpkg-shlibdeps does not name the libraries:\n${stderr}`);
    return depends;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function addControl(root, { version, description }) {
  const files = filesBelow(root).filter((file) => !file.startsWith('DEBIAN/'));
  const bytes = files.reduce((sum, file) => sum + lstatSync(join(root, file)).size, 0);
  const control = {
    Package: 'sluice',
    Version: version,
    Architecture: ARCHITECTURES[process.arch],
    Maintainer: process.env['DEBEMAIL'] ?? 'nobody <nobody@localhost>',
    'Installed-Size': Math.ceil(bytes / 1024),
    Depends: `adduser, ${sharedLibraries(root)}`,
    Section: 'mail',
    Priority: 'optional',
    Description: description,
  };
  const lines = Object.entries(control).map(([field, value]) => `${field}: ${value}\n`);
  const debian = join(root, 'DEBIAN');
  write(join(debian, 'control'), lines.join(''));
  write(
    join(debian, 'conffiles'),
    Object.keys(CONFFILES)
      .map((file) => `/etc/sluice/${file}\n`)
      .join(''),
  );
  for (const script of ['postinst', 'prerm', 'postrm'])
    write(join(debian, script), readFileSync(join(DEBIAN, script)), 0o755);
  const sums = files
    .filter((file) => !file.startsWith('etc/'))
    .map((file) => {
      const sum = createHash('md5')
        .update(readFileSync(join(root, file)))
        .digest('hex');
      return `${sum}  ${file}\n`;
    });
  write(join(debian, 'md5sums'), sums.join(''));
}

function buildPackage({ output, compression }) {
  const architecture = ARCHITECTURES[process.arch];
  if (architecture === undefined) throw new CannotBuild(`there is no package for ${process.arch}`);
  for (const tool of ['dpkg-deb', 'dpkg-shlibdeps']) {
    if (spawnSync(tool, ['--version']).status !== 0)
      throw new CannotBuild(`${tool} is missing: apt-get install dpkg-dev`);
  }
  if (!existsSync(join(ROOT, DRIVER))) throw new CannotBuild('packages are missing: npm ci');
  if (isStale() && build() !== 0) throw new CannotBuild('the build failed');
  const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const root = mkdtempSync(join(tmpdir(), 'sluice-deb-'));
  try {
    // The folder becomes / of the package.
    chmodSync(root, 0o755);
    addApp(root);
    addNode(root);
    addSystem(root);
    addControl(root, manifest);
    execFileSync('chmod', ['-R', 'u=rwX,go=rX', join(root, 'usr')]);
    mkdirSync(output, { recursive: true });
    const file = join(output, `sluice_${manifest.version}_${architecture}.deb`);
    const args = ['--root-owner-group', `-Z${compression}`, '--build', root, file];
    execFileSync('dpkg-deb', args, { stdio: ['ignore', 'ignore', 'inherit'] });
    console.log(file);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

try {
  const options = parse();
  if (options.help) console.log(USAGE);
  else buildPackage(options);
} catch (error) {
  if (!(error instanceof CannotBuild) && !error?.code?.startsWith('ERR_PARSE_ARGS_')) throw error;
  console.error(`${error.message}\n\n${USAGE}`);
  process.exitCode = 1;
}
