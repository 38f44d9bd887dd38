/** Without generated keys nothing can be done beside a gateway that never ran. */
export class NeverStarted extends Error {
  override name = 'NeverStarted';
}
