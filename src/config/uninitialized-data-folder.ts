/** No gateway has run with the data folder, so there are no generated keys for a command to use. */
export class UninitializedDataFolder extends Error {
  override name = 'UninitializedDataFolder';
}
