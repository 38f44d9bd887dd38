import { userInfo } from 'node:os';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { consoleClient } from '../console/server/console-client.ts';
import { ends } from '../support/ends.ts';
import { type RunningGateway, startGateway, writeConfig } from '../support/running-gateway.ts';
import { sluiceHere } from '../support/sluice-command.ts';
import { tempDir } from '../support/temp-dir.ts';

let gateway: RunningGateway;
let file: string;

beforeEach(async () => {
  const dir = tempDir();
  ends(() => dir.remove());
  gateway = await startGateway({ dataDir: dir.path });
  ends(() => gateway.stop());
  file = writeConfig({ dataDir: dir.path });
});

const sluice = (...args: string[]) => sluiceHere([...args, '--config', file]);
const statusWith = async (secret: string) =>
  (
    await consoleClient(gateway.adminUrl).ask('/api/overview', {
      headers: { authorization: `Bearer ${secret}` },
    })
  ).status;
const listed = async () => JSON.parse((await sluice('token', 'list', '--json')).stdout) as unknown;

describe('token', () => {
  test('create prints the token alone; it is valid at once, and until revoke', async () => {
    const { code, stdout, stderr } = await sluice('token', 'create', 'grafana');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^sluice_[\w-]{43}\n$/);
    expect(stderr).toMatch(/^The token grafana \(read, until 20\d\d-.*is not shown again/);
    expect(stderr).not.toContain(stdout.trim());
    expect(await statusWith(stdout.trim())).toBe(200);
    const madeBy = `terminal:${userInfo().username}`;
    expect(await listed()).toMatchObject([{ name: 'grafana', scope: 'read', madeBy }]);
    const table = await sluice('token', 'list');
    expect(table.stdout).toMatch(/^name .*\ngrafana +read +terminal:/);
    const revoked = await sluice('token', 'revoke', 'grafana');
    expect(revoked).toMatchObject({ code: 0, stdout: expect.stringMatching(/^grafana: revoked/) });
    expect(await statusWith(stdout.trim())).toBe(401);
    const audit = await sluice('audit', '--json');
    expect(JSON.parse(audit.stdout)).toMatchObject([
      { action: 'token_revoke', target: 'grafana', who: madeBy },
      { action: 'token_create', target: 'grafana', outcome: expect.stringMatching(/^read, until/) },
    ]);
    expect(audit.stdout + table.stdout).not.toContain(stdout.trim());
  });

  test('create takes a scope and an end, and prints JSON for programs', async () => {
    const made = await sluice(
      ...['token', 'create', 'night', '--scope', 'operate', '--expires', 'never', '--json'],
    );
    // As docs/json.md describes it.
    const { token, ...about } = JSON.parse(made.stdout) as { token: string; id: string };
    expect(made.stderr).toBe('');
    expect(about).not.toHaveProperty('endsAt');
    expect(await statusWith(token)).toBe(200);
    expect(await listed()).toEqual([{ ...about, usedAt: expect.any(String) }]);
    await sluice('token', 'create', 'brief', '--expires', '1m');
    expect(await listed()).toMatchObject([
      { name: 'brief', scope: 'read', endsAt: expect.any(String) },
      { name: 'night', scope: 'operate' },
    ]);
    const revoked = await sluice('token', 'revoke', about.id, '--json');
    expect(JSON.parse(revoked.stdout)).toEqual({ id: about.id, name: 'night' });
  });

  test('works while no gateway runs', async () => {
    await gateway.stop();
    const { stdout } = await sluice('token', 'create', 'ci');
    expect(stdout).toMatch(/^sluice_/);
    expect((await sluice('token', 'revoke', 'ci')).code).toBe(0);
    expect((await sluice('token', 'list')).stdout).toMatch(/^There are no tokens/);
  });

  test.each([
    [['create', 'ci'], 1, /There is a token ci: revoke it first/],
    [['create', 'not a name'], 2, /up to 48 letters/],
    [['create', 'ünder'], 2, /up to 48 letters/],
    [['create', 'x', '--scope', 'admin'], 2, /Allowed choices are read, operate/],
    [['create', 'x', '--expires', 'soon'], 2, /duration such as 90d/],
    [['create', 'x', '--expires', '59s'], 2, /at least 1m/],
    [['create'], 2, /missing required argument/],
    [['revoke', 'nobody'], 1, /there is no token nobody/],
  ])('%j is refused', async (args, code, message) => {
    await sluice('token', 'create', 'ci');
    const told = await sluice('token', ...args);
    expect(told).toMatchObject({ code, stdout: '', stderr: expect.stringMatching(message) });
  });

  test('the names are completed', async () => {
    await sluice('token', 'create', 'ci');
    const words = ['--config', file, 'token', 'revoke', ''];
    expect((await sluiceHere(['complete', '--', ...words])).stdout).toBe('ci\t\n');
  });
});
