/**
 * The line in a message's content that replaces an attachment which the platform does not get.
 * @param what identifies it: file name, type, or the provider's id
 */
export function missingAttachment(
  how: 'delivered' | 'retrieved',
  ...what: readonly string[]
): string {
  return `[attachment could not be ${how}: ${what.join(', ')}]`;
}
