// npm start: installs and builds what is missing or stale, then runs the gateway in this process.
import { build, isStale } from './build.mjs';
import { installWhenNeeded } from './workspace.mjs';

installWhenNeeded();
if (isStale()) {
  console.error('Building ...');
  const code = build();
  if (code !== 0) process.exit(code);
}
// The program reads its arguments from index 2 on, as here.
await import('../dist/main.js');
