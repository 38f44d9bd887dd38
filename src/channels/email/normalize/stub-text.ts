/** The content of a message of which no more than the header block could be read. */
export function stubText(subject: string | undefined): string {
  const note = '(message could not be read; the original is attached)';
  return subject === undefined ? note : `${subject}\n\n${note}`;
}
