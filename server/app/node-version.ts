/** Returns a message if `version` is older than `required`, such as `>=24.18.0`. Undefined: it is recent enough. */
export function oldNodeMessage(version: string, required: string): string | undefined {
  const numbersOf = (text: string) => text.replace(/^\D+/, '').split('.').map(Number);
  const [major = 0, minor = 0, patch = 0] = numbersOf(version);
  const [minMajor = 0, minMinor = 0, minPatch = 0] = numbersOf(required);
  const difference = major - minMajor || minor - minMinor || patch - minPatch;
  return difference >= 0 ? undefined : `Node.js ${version} is too old: the gateway needs ${required}.`;
}
