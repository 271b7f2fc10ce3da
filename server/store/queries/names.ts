/** Those with a text in their names: looked for in the program, so that every engine finds the same. */
export function having<Named extends { name: string }>(text: string, all: readonly Named[]): Named[] {
  const wanted = text.toLowerCase();
  return all.filter(({ name }) => name.toLowerCase().includes(wanted));
}
