/** Returns the `error.type` attribute of an error: an error code of Node.js or its libraries, never a message. */
export function errorType(error: unknown): string {
  if (!(error instanceof Error)) return 'other';
  if (error.name === 'AbortError' || error.name === 'TimeoutError') return error.name;
  return 'code' in error && typeof error.code === 'string' && /^[A-Z][A-Z0-9_]{2,40}$/.test(error.code)
    ? error.code
    : 'other';
}
