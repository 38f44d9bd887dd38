import { afterAll, beforeAll } from '@jest/globals';
import { type SceneChoices, ShopsScene } from './shops-scene.ts';

const STARTED_WITHIN_MS = 60_000;

/** One scene for all tests of a file. @returns it, once the tests run */
export function sharedScene<Name extends string>(
  choices: SceneChoices<Name>,
): () => ShopsScene<Name> {
  let scene: ShopsScene<Name> | undefined;
  beforeAll(async () => {
    scene = await ShopsScene.start(choices);
  }, STARTED_WITHIN_MS);
  afterAll(() => scene?.stop());
  return () => {
    if (scene === undefined) throw new Error('the scene was not started');
    return scene;
  };
}
