/** What went wrong, in one of few words: codes of Node and its libraries, and no message. */
export function errorType(error: unknown): string {
  if (!(error instanceof Error)) return 'other';
  if (error.name === 'AbortError' || error.name === 'TimeoutError') return error.name;
  return 'code' in error && typeof error.code === 'string' && /^[A-Z][A-Z0-9_]{2,40}$/.test(error.code)
    ? error.code
    : 'other';
}
