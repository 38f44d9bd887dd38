import { type Make, someEntry } from './calls.ts';

const TOKENS = 4;
const ACTIONS = ['retry', 'discard', 'login'];
const TEXTS = ['ann', 'ANN', '100%', 'a_b', 'ä'];

/** Calls of operators, with how often each is made beside the others. */
export const OPERATOR_CALLS: Readonly<Record<string, readonly [weight: number, make: Make]>> = {
  restore: [
    3,
    (dice, cast, seed) => {
      const [id, by] = [someEntry(dice, cast, seed), dice.chance(50) ? 'ann' : undefined];
      return { args: { id, by }, make: ({ operator }) => operator.restore(id, by) };
    },
  ],
  takeBack: [
    4,
    (dice, cast, seed) => {
      const id = someEntry(dice, cast, seed);
      return { args: { id }, make: ({ operator }) => operator.takeBack(id, 'ann') };
    },
  ],
  audit: [
    3,
    (dice, _cast, seed) => {
      const line = {
        ...{ who: dice.pick(TEXTS), action: dice.pick(ACTIONS), outcome: 'done' },
        // Lines of other sequences have another target.
        target: `of ${seed} ${dice.pick(TEXTS)}`,
        ...(dice.chance(50) && { address: '192.0.2.7' }),
      };
      return { args: line, make: ({ operator }) => operator.audit(line) };
    },
  ],
  auditLines: [
    3,
    (dice, _cast, seed) => {
      const filter = {
        text: `of ${seed} ${dice.chance(50) ? dice.pick(TEXTS) : ''}`,
        limit: 1 + dice.below(5),
        ...(dice.chance(50) && { actions: [dice.pick(ACTIONS)] }),
      };
      return {
        args: filter,
        make: async ({ operator }) =>
          (await operator.auditLines(filter)).map(({ no: _no, at: _at, ...line }) => line),
      };
    },
  ],
  addApiToken: [
    3,
    (dice, cast, seed) => {
      const n = dice.below(TOKENS);
      const token = {
        id: `${String(n).padStart(8, '0')}-0000-4000-8000-7${String(seed).padStart(11, '0')}`,
        ...{ hash: `${seed}/${n}`, name: `${seed}/${n}` },
        ...({ scope: 'read', madeBy: 'ann', madeAt: cast.startedAt } as const),
        ...(dice.chance(50) && { endsAt: cast.startedAt + 1 }),
      };
      return { args: token, make: ({ apiTokens }) => apiTokens.addApiToken(token) };
    },
  ],
  removeApiToken: [
    1,
    (dice, _cast, seed) => {
      const id = `${String(dice.below(TOKENS)).padStart(8, '0')}-0000-4000-8000-7${String(seed).padStart(11, '0')}`;
      return { args: id, make: ({ apiTokens }) => apiTokens.removeApiToken(id) };
    },
  ],
  apiTokens: [
    2,
    (dice, _cast, seed) => {
      const hash = `${seed}/${dice.below(TOKENS)}`;
      return {
        args: hash,
        make: async ({ apiTokens }) => [
          (await apiTokens.apiTokenOf(hash))?.id,
          (await apiTokens.apiTokens())
            .filter(({ name }) => name.startsWith(`${seed}/`))
            .map(({ usedAt, ...token }) => ({ ...token, isUsed: usedAt !== undefined })),
        ],
      };
    },
  ],
  apiTokenUsed: [
    1,
    (dice, _cast, seed) => {
      const id = `${String(dice.below(TOKENS)).padStart(8, '0')}-0000-4000-8000-7${String(seed).padStart(11, '0')}`;
      return { args: id, make: ({ apiTokens }) => apiTokens.apiTokenUsed(id) };
    },
  ],
  shopHealth: [
    2,
    (dice, { shops }) => {
      const [shopId, health] = [dice.pick(shops), { messages: { reason: dice.pick(TEXTS) } }];
      return {
        args: { shopId, health },
        make: async ({ spool }) => {
          const before = await spool.shopHealth(shopId);
          await spool.saveShopHealth(shopId, health);
          return before;
        },
      };
    },
  ],
};
