/** Did a WebAssembly engine break down? Its memory is then in an unknown state. */
export function isTrap(error: unknown): boolean {
  return error instanceof Error && error.name === 'RuntimeError';
}
