import { afterAll, describe, expect, test } from '@jest/globals';
import { allArrived, faultsOf } from '../support/arrivals.ts';
import { customerNumber, sendText } from '../support/customers.ts';
import { answered } from '../support/platform-model-server.ts';
import { buildPreload } from '../support/preload.ts';
import { sharedScene } from '../support/shared-scene.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait-for.ts';

const BACK_SECONDS = 25 * 3600;

const built = tempDir();
afterAll(() => built.remove());
const preload = buildPreload('clock-offset', built.path);
const library = 'library' in preload ? preload.library : '';
const why = 'why' in preload ? preload.why : undefined;
if (why !== undefined) console.error(`!! SKIPPED: a restart with the clock set back: ${why}`);

const scene = sharedScene({ shops: { acme: {} } });

(why === undefined ? describe : describe.skip)('a restart with the clock 25 hours back', () => {
  test('delivers what waits without waiting for the old time to come again', async () => {
    const { shops, gateway } = scene();
    const { platform } = shops.acme;
    platform.gate = () => answered(503);
    const accepted = await Promise.all(
      Array.from({ length: 20 }, (_none, n) =>
        sendText(scene(), shops.acme, customerNumber(n), `text ${n}`),
      ),
    );
    await waitFor('some to fail', () => platform.of('POST /messages/').length >= 10);
    await gateway.kill();
    platform.gate = (_received, ask) => ask();

    await scene().startGateway({
      env: { LD_PRELOAD: library, CLOCK_OFFSET_SECONDS: String(-BACK_SECONDS) },
    });
    const [line] = scene().gateway.log;
    const off = Date.now() / 1000 - Date.parse(String(line?.['timestamp'])) / 1000;
    expect(Math.round(off / 3600)).toBe(BACK_SECONDS / 3600);
    await allArrived(accepted);
    expect(faultsOf(accepted)).toEqual([]);
  });
});
