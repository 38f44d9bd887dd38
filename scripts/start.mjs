// npm start: installs and builds what is missing or stale, then runs the gateway in this process.
import { build, isStale } from './build.mjs';
import { installWhenNeeded } from './workspace.mjs';

await installWhenNeeded({ withTests: false });
if (isStale()) {
  const code = build();
  if (code !== 0) process.exit(code);
}
console.error('Starting ...');
// The program reads its arguments from index 2 on, as here.
await import('../dist/main.js');
