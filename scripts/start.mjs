// npm start: installs and builds what is missing or stale, then runs the gateway in this process.
import { build, isStale } from './build.mjs';
import { installWhenNeeded } from './install.mjs';

function buildWhenStale() {
  const code = isStale({ toStart: true }) ? build({ toStart: true }) : 0;
  if (code !== 0) process.exit(code);
}

await installWhenNeeded({ withTests: false, meanwhile: buildWhenStale });
buildWhenStale();
console.error('Starting ...');
// The program reads its arguments from index 2 on, as here.
await import('../dist/main.js');
