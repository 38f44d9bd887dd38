import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, expect, test } from '@jest/globals';
import { sluice } from '../support/sluice-command.ts';
import { ends } from '../support/ends.ts';
import { freePorts, INBOX, ownLoopbackAddress } from '../support/gateway-config.ts';
import { GatewayProcess } from '../support/gateway-process.ts';
import { writeConfig } from '../support/running-gateway.ts';
import { ScriptedPlatform } from '../support/scripted-platform.ts';
import { entriesOf } from '../support/spool-beside.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait-for.ts';

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

let dataDir: string;
let file: string;
let platform: ScriptedPlatform;
beforeEach(async () => {
  const dir = tempDir();
  ends(() => dir.remove());
  dataDir = dir.path;
  platform = new ScriptedPlatform();
  ends(() => platform.stop());
  const platformUrl = await platform.start();
  const host = ownLoopbackAddress();
  const ports = await freePorts(host);
  file = writeConfig({ dataDir, platformUrl, host, ports });
  const gateway = await GatewayProcess.start({ configFile: file, host, ports });
  ends(() => gateway.kill());
});

function mbox(messages: number, bodyLines: number): string {
  const path = join(dataDir, 'box.mbox');
  const body = 'A line of a long letter to the shop.\n'.repeat(bodyLines);
  const all = Array.from(
    { length: messages },
    (_, n) =>
      `From p${n}@customer.example Sat Nov 21 10:00:00 2026\nFrom: <p${n}@customer.example>\n` +
      `To: ${INBOX}\nSubject: ${n}\nMessage-ID: <${n}@customer.example>\n\nLetter ${n}\n${body}\n`,
  );
  writeFileSync(path, all.join(''));
  return path;
}

const inState = async (state: string): Promise<number> =>
  (await entriesOf(dataDir)).filter((entry) => entry.state === state).length;

test('a retry by filter is taken up by the running gateway, without a port', async () => {
  platform.script = ({ method, path }) =>
    method === 'POST' && path.startsWith('/messages/') ? { status: 422 } : undefined;
  const box = mbox(3, 1);
  expect(await sluice(['ingest', box, '--config', file])).toMatchObject({ code: 0 });
  await waitFor('three dead entries', async () => (await inState('dead')) === 3, 100);
  platform.script = () => undefined;
  const { code, stdout } = await sluice(['queue', 'retry', '--all', '--yes', '--config', file]);
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: expect.stringMatching(/^ +3 {2}retried now/),
  });
  await waitFor('three deliveries', async () => (await inState('delivered')) === 3, 100);
});

test('an ingest that is killed goes on when it is run again: nothing is lost, nothing comes twice', async () => {
  const box = mbox(1000, 100);
  const child = spawn(process.execPath, [MAIN, 'ingest', box, '--config', file], {
    stdio: 'ignore',
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  ends(() => child.kill('SIGKILL'));
  await waitFor('some of them', () => platform.seen.length > 50, 20);
  child.kill('SIGKILL');
  await ended;
  const again = await sluice(['ingest', box, '--json', '--config', file]);
  expect(again.code).toBe(0);
  // The report is what the command promises to programs.
  const report = JSON.parse(again.stdout) as { accepted: number; duplicates: number };
  expect(report.accepted + report.duplicates).toBe(1000);
  expect(report.duplicates).toBeGreaterThan(20);
  await waitFor('every letter', async () => (await inState('delivered')) === 1000, 1000);
  const letters = platform.messages.map(({ message }) => /Letter \d+/.exec(message.content)?.[0]);
  expect(new Set(letters).size).toBe(1000);
  expect(letters).toHaveLength(1000);
});
